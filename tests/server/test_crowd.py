"""Many at once, and people of ill will; `benchmarks/serving.py` measures the former."""

import http.client
import json
import re
import socket
import threading
import time
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from conftest import PAIRS

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

import hostile
from real_server import running

from translator.documents import translate_lines
from translator.server.app import create_app
from translator.server.limits import Limits

N_CLIENTS, N_HOSTILE = 32, 300


def ask(url, **fields):
    with urlopen(Request(f"{url}/translate", json.dumps(fields).encode()), timeout=30) as answer:
        return json.load(answer)["translatedText"]


def test_each_of_a_crowd_gets_what_it_would_get_alone(translator):
    texts = [pair[0] for pair in PAIRS]
    wanted = {
        (text, level): translate_lines(translator, [text], level)[0].text
        for text in texts
        for level in ("formal", "polite")
    }
    wrong = []

    def client(url, number):
        for turn in range(6):
            text = texts[(number + turn) % len(texts)]
            level = ("formal", "polite")[(number + turn) % 2]
            try:
                found = ask(url, q=text, level=level)
            except OSError as error:
                found = repr(error)
            if found != wanted[text, level]:
                wrong.append((text, level, found))

    with running(create_app(translator)) as url:
        threads = [threading.Thread(target=client, args=(url, n)) for n in range(N_CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_who_comes_when_the_line_is_full_is_told_so(translator, monkeypatch):
    gate = threading.Event()
    inner = translator.translate

    def slow(*args, **options):
        assert gate.wait(30)
        return inner(*args, **options)

    monkeypatch.setattr(translator, "translate", slow)
    answers = []

    def client(url, level):
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        connection.request("POST", "/translate", json.dumps({"q": "Hello.", "level": level}))
        answer = connection.getresponse()
        answers.append((answer.status, answer.getheader("Retry-After"), json.load(answer)))
        if answer.status == 503:
            gate.set()
        connection.close()

    with running(create_app(translator, Limits(waiting=2))) as url:
        # each level is a batch of its own: one is at work, two wait, the rest is refused
        threads = [
            threading.Thread(target=client, args=(url, level))
            for level in ("formal", "polite", "casual", "plain", "any")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    refused = [answer for answer in answers if answer[0] == 503]
    assert len(answers) == 5 and refused
    assert {status for status, _, _ in answers} == {200, 503}
    assert all(retry == "1" and "busy" in body["error"] for _, retry, body in refused)


def test_nobody_works_for_a_client_who_left(translator, monkeypatch):
    gate, began, worked = threading.Event(), threading.Event(), []
    inner = translator.translate

    def slow(texts, *args, **options):
        worked.extend(texts)
        began.set()
        assert gate.wait(30)
        return inner(texts, *args, **options)

    monkeypatch.setattr(translator, "translate", slow)
    with running(create_app(translator)) as url:
        first = threading.Thread(target=ask, args=(url,), kwargs={"q": "First.", "level": "any"})
        first.start()
        assert began.wait(30)  # the thread is busy, who comes now waits
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        connection.request("POST", "/translate", json.dumps({"q": "Gone."}))
        time.sleep(0.5)
        connection.close()
        time.sleep(0.5)
        gate.set()
        first.join()
        ask(url, q="Last.")
    assert worked == ["First.", "Last."]


@pytest.mark.fault("B95")
def test_hostile_requests_break_nothing(translator, caplog):
    statuses: dict[str, int] = {}
    with running(create_app(translator, Limits(characters=500, seconds_to_send=0.3))) as url:
        host, port = urlsplit(url).hostname, urlsplit(url).port
        alone = ask(url, q=PAIRS[0][0])
        for request in hostile.requests(N_HOSTILE):
            with socket.create_connection((host, port), timeout=1) as connection:
                answer = exchange(connection, request)
            status = re.match(rb"HTTP/1\.[01] (\d\d\d)", answer)
            name = status[1].decode() if status else "closed"
            statuses[name] = statuses.get(name, 0) + 1
            assert not name.startswith("5"), (request[:300], answer[:300])
            assert b"Traceback" not in answer and b"<script>alert" not in head(answer)
            assert b"root:" not in answer
        assert ask(url, q=PAIRS[0][0]) == alone
        with urlopen(f"{url}/health") as answer:
            assert json.load(answer) == {"status": "ok"}
    assert sum(statuses.values()) == N_HOSTILE
    assert {"200", "400", "404", "405", "413"} <= set(statuses)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def exchange(connection, request):
    """What comes back until the server closes, or waits for what never comes."""
    answer = b""
    connection.settimeout(1)
    try:
        connection.sendall(request)
        while part := connection.recv(65536):
            answer += part
    except OSError:  # it need not listen to the end
        pass
    return answer


def head(answer):
    return answer.partition(b"\r\n\r\n")[0]
