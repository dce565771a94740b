"""`translator serve` as a process: it tells where it is, answers, and ends at Ctrl-C."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from conftest import PAIRS

from translator.cli import main

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")


@pytest.mark.fault("B95")
def test_a_server_from_start_to_end(trained):
    command = [sys.executable, "-m", "translator", "serve", "--port", "0", "--model", str(trained)]
    with subprocess.Popen(
        [*command, "--char-limit", "30"], stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            line = server.stderr.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
            assert address, line
            body = json.dumps({"q": PAIRS[0][0], "level": "formal"}).encode()
            with urlopen(Request(f"{address[0]}/translate", body)) as answer:
                assert json.load(answer)["translatedText"]
            with urlopen(f"{address[0]}/frontend/settings") as answer:
                assert json.load(answer)["charLimit"] == 30
            server.send_signal(signal.SIGINT)
            assert server.wait(20) in {0, 130}
            assert "Traceback" not in server.stderr.read()
        finally:
            server.kill()


def test_level_and_search_are_the_ones_asked_for(trained, translator):
    command = [sys.executable, "-m", "translator", "serve", "--port", "0", "--model", str(trained)]
    options = ["--style", "polite", "--beam-size", "2", "--set", "decoding.min_tokens=12"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())[0]
            body = json.dumps({"q": "Thank you."}).encode()
            with urlopen(Request(f"{address}/translate", body)) as answer:
                found = json.load(answer)["translatedText"]
            with urlopen(f"{address}/frontend/settings") as answer:
                assert json.load(answer)["defaultLevel"] == "polite"
            search = replace(translator.config.decoding, beam_size=2, min_tokens=12)
            [wanted] = translator.translate(["Thank you."], "polite", options=search)
            assert found == wanted.text != "고마워요."
            server.send_signal(signal.SIGINT)
            assert server.wait(20) in {0, 130}
        finally:
            server.kill()


def test_a_precision_that_this_processor_lacks_is_told_at_the_start(trained, capsys, monkeypatch):
    monkeypatch.setattr("translator.engine.has_fast_int8", lambda _: False)
    command = ["serve", "--port", "0", "--model", str(trained)]
    assert main([*command, "--set", "decoding.precision=int8"]) == 2
    assert "this processor has no instructions for int8; write fp32" in capsys.readouterr().err


def status_and_headers(address, **headers):
    body = json.dumps({"q": PAIRS[0][0], "api_key": headers.pop("key", "")}).encode()
    try:
        with urlopen(Request(f"{address}/translate", body, headers)) as answer:
            return answer.status, answer.headers
    except HTTPError as error:
        error.close()
        return error.code, error.headers


def test_a_key_from_the_environment_and_a_web_site_that_may_ask(trained):
    command = [sys.executable, "-m", "translator", "serve", "--port", "0", "--model", str(trained)]
    options = ["--threads", "1", "--max-waiting", "3", "--allow-origin", "https://Example.org/"]
    environment = os.environ | {"TRANSLATOR_API_KEY": " secret "}
    with subprocess.Popen(
        [*command, *options], stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())[0]
            assert status_and_headers(address)[0] == 403
            status, headers = status_and_headers(
                address, key="secret", Origin="https://example.org"
            )
            assert status == 200
            assert headers["Access-Control-Allow-Origin"] == "https://example.org"
            status, headers = status_and_headers(
                address, key="secret", Origin="https://example.com"
            )
            assert status == 403 and headers["Access-Control-Allow-Origin"] is None
            server.send_signal(signal.SIGINT)
            assert server.wait(20) in {0, 130}
            assert "Traceback" not in server.stderr.read()
        finally:
            server.kill()


def test_an_empty_key_in_the_environment_opens_nothing(trained, capsys, monkeypatch):
    monkeypatch.setenv("TRANSLATOR_API_KEY", "")
    assert main(["serve", "--port", "0", "--model", str(trained)]) == 2
    err = capsys.readouterr().err
    assert "TRANSLATOR_API_KEY: empty" in err and err.count("\n") == 1


SLOW = json.dumps({"q": "I am. " * 100, "alternatives": 9, "attention": True}).encode()


def ask_slowly(address, statuses):
    try:
        with urlopen(Request(f"{address}/translate", SLOW), timeout=60) as answer:
            statuses.append(answer.status)
    except HTTPError as error:
        statuses.append(error.code)
        assert "error" in json.load(error)
    except OSError:
        statuses.append(0)  # the connection was closed


@pytest.mark.parametrize("n_signals", [1, 2])
def test_ctrl_c_while_requests_run(trained, n_signals):
    command = [sys.executable, "-m", "translator", "serve", "--port", "0", "--model", str(trained)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())[0]
            statuses = []
            clients = [
                threading.Thread(target=ask_slowly, args=(address, statuses)) for _ in range(4)
            ]
            for client in clients:
                client.start()
            time.sleep(1)
            for _ in range(n_signals):
                server.send_signal(signal.SIGINT)
                time.sleep(0.2)
            # the second may come when nothing is left to catch it: then it ends the process itself
            assert server.wait(30) in {130, -signal.SIGINT}
            for client in clients:
                client.join()
            assert set(statuses) <= {200, 503, 0} and len(statuses) == 4
            if n_signals == 1:
                assert 0 not in statuses
            assert "Traceback" not in server.stderr.read()
        finally:
            server.kill()


def test_a_port_that_is_taken(trained, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["serve", "--port", str(port), "--model", str(trained)]) == 2
    err = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1, port {port}" in err and err.count("\n") == 1
    assert "choose another with --port" in err


@pytest.mark.parametrize(
    "options, message",
    [
        (["--port", "70000"], "ports are 0 to 65535"),
        (["--host", "127.0.0..1"], "no name of a host"),
        (["--allow-origin", "evil"], "expected a web site such as https://example.org"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
        (["--api-key-file", "nothing.txt"], "nothing.txt: cannot be read"),
        (["--port", "0", "--device", "tpu"], "device: 'tpu' is not on this machine"),
        (["--port", "0", "--set", "train.lr=1"], "only decoding.… has an effect here"),
        (["--set", "decoding.n_best=2"], "decoding.n_best=2: each request says how many it wants"),
        (["--set", "decoding.too_long=cut"], "a server always splits; leave it out"),
    ],
)
def test_mistakes_are_one_line(trained, capsys, options, message):
    assert main(["serve", "--model", str(trained), *options]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_a_file_without_a_key_would_lock_everybody_out(trained, tmp_path, capsys):
    file = tmp_path / "keys.txt"
    file.write_text("# none yet\n", encoding="utf-8")
    assert main(["serve", "--model", str(trained), "--api-key-file", str(file)]) == 2
    assert "no key in it" in capsys.readouterr().err


def test_without_the_extra_its_name_is_told(trained, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("translator.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert main(["serve", "--model", str(trained)]) == 2
    assert "pip install -c constraints.txt -e '.[serve]'" in capsys.readouterr().err
