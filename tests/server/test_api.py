"""LibreTranslate's API and what this server adds, against the translator itself."""

import json
import socket
import threading
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from urllib.request import Request, urlopen

import pytest
from conftest import PAIRS

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from real_server import running
from starlette.testclient import TestClient

from translator.as_json import looking_as_dict
from translator.checkpoint import load_checkpoint
from translator.documents import translate_lines
from translator.errors import UserError
from translator.export import export_model
from translator.inference import Translator
from translator.looking import Looking
from translator.server.app import create_app
from translator.server.keys import Keys
from translator.server.limits import Limits
from translator.server.messages import Detection, Settings, TraceAnswer, TranslateAnswer
from translator.tracing import trace

TEXT = PAIRS[0][0]


@pytest.fixture(scope="module")
def limits() -> Limits:
    return Limits(characters=500, texts=20, alternatives=3)


@pytest.fixture(scope="module")
def url(translator, limits) -> Iterator[str]:
    with running(create_app(translator, limits)) as address:
        yield address


@pytest.fixture(scope="module")
def client(translator, limits) -> Iterator[TestClient]:
    with TestClient(create_app(translator, limits), raise_server_exceptions=False) as client:
        yield client


def ask(client, path="/translate", **fields):
    return client.post(path, json={"source": "en", "target": "ko", **fields})


def as_described(kind, found):
    """Whether plain values have all that the API's description says, and nothing else."""
    return kind.model_validate(found).model_dump(by_alias=True, exclude_none=True) == found


def expected(translator, text, style="formal"):
    return "\n".join(line.text for line in translate_lines(translator, text.split("\n"), style))


def test_a_text_and_a_list(client, translator):
    answer = ask(client, q=TEXT, format="text")
    assert answer.status_code == 200
    assert answer.json() == {"translatedText": expected(translator, TEXT), "warnings": []}
    texts = [TEXT, "", "Thank you.\n\nMy name is Anna. It is raining."]
    answer = ask(client, q=texts).json()
    assert answer["translatedText"] == [expected(translator, text) for text in texts]
    assert answer["translatedText"][2].count("\n") == 2
    assert len(answer["warnings"]) == 3
    assert ask(client, q=[]).json() == {"translatedText": [], "warnings": []}


def test_the_level_chooses_the_korean(client, translator):
    found = {level: ask(client, q=TEXT, level=level).json() for level in ("formal", "polite")}
    for level, answer in found.items():
        assert answer["translatedText"] == expected(translator, TEXT, level)
    assert found["formal"] != found["polite"]


def test_a_question_without_a_level_gets_the_one_of_the_server(translator):
    formal, polite = (expected(translator, TEXT, level) for level in ("formal", "polite"))
    with TestClient(create_app(translator, level="polite")) as client:
        assert client.get("/frontend/settings").json()["defaultLevel"] == "polite"
        for fields in ({}, {"level": ""}, {"level": None}, {"level": "polite"}):
            assert ask(client, q=TEXT, **fields).json()["translatedText"] == polite
        assert ask(client, q=TEXT, level="formal").json()["translatedText"] == formal
        [looked] = ask(client, q=TEXT, attention=True).json()["attention"]
        assert looked["source"][0] == "<polite>"
        traced = client.post("/trace", json={"q": TEXT}).json()
        assert (traced["level"], traced["translation"]) == ("polite", polite)
        traced = client.post("/trace", json={"q": TEXT, "level": "formal"}).json()
        assert (traced["level"], traced["translation"]) == ("formal", formal)


def test_the_level_of_the_server_can_be_chosen_on_the_page(translator):
    with TestClient(create_app(translator, level="any")) as client:
        settings = client.get("/frontend/settings").json()
    assert settings["defaultLevel"] == "any"
    assert settings["levels"] == ["formal", "polite", "casual", "plain", "any"]


def test_alternatives_come_from_beam_search(client, translator):
    answer = ask(client, q=TEXT, alternatives=2).json()
    options = replace(translator.config.decoding, beam_size=3, n_best=3)
    [best] = translator.translate([TEXT], options=options)
    assert answer["translatedText"] == best.text
    assert answer["alternatives"] == [other.text for other in best.alternatives]
    many = ask(client, q=[TEXT, "Thank you."], alternatives=1).json()
    assert [len(found) for found in many["alternatives"]] == [1, 1]
    assert "alternatives" not in ask(client, q=TEXT).json()


def test_a_form_is_as_good_as_json(client, translator):
    answer = client.post("/translate", data={"q": TEXT, "source": "en", "target": "ko"})
    assert answer.json()["translatedText"] == expected(translator, TEXT)
    answer = client.post(
        "/translate", data={"q": [TEXT, "Thank you."], "alternatives": "", "attention": "true"}
    ).json()
    assert len(answer["translatedText"]) == 2 and len(answer["attention"]) == 2
    names = ("source", "target", "format", "level", "attention", "alternatives", "api_key")
    answer = client.post("/translate", data={"q": TEXT} | dict.fromkeys(names, ""))
    assert answer.json()["translatedText"] == expected(translator, TEXT)
    curl = {"content-type": "application/x-www-form-urlencoded"}  # as `curl -d` sends JSON
    notepad = "\ufeff" + json.dumps({"q": TEXT})
    assert client.post("/translate", content=notepad.encode()).status_code == 200
    answer = client.post("/translate", content=json.dumps({"q": TEXT}), headers=curl)
    assert answer.json()["translatedText"] == expected(translator, TEXT)


@pytest.mark.fault("B46")
def test_attention_is_where_the_model_looked(client, translator):
    answer = ask(client, q=f"{TEXT} Thank you.", attention=True, alternatives=2).json()
    plain = ask(client, q=f"{TEXT} Thank you.", alternatives=2).json()
    assert answer["translatedText"] == plain["translatedText"]
    first, second = answer["attention"]
    assert (first["text"], second["text"]) == (TEXT, "Thank you.")
    options = replace(translator.config.decoding, beam_size=3, n_best=3)
    [translation] = translator.translate([TEXT], options=options)
    wanted = looking_as_dict(Looking(translator, TEXT, translation, "formal"))
    assert first == {"text": TEXT, "translation": translation.text} | wanted
    for kind in ("encoder", "decoder", "cross"):
        for layer in first[kind]:
            for head in layer:
                assert [sum(row) for row in head] == pytest.approx([1] * len(head), abs=1e-3)


def test_html_keeps_its_tags_and_text_stays_text(client, translator):
    html = f'<p class="a&b">{TEXT}</p><br/>\n<script>I < 1</script><!-- x --> <B>Thank you.</B>'
    answer = ask(client, q=html, format="html").json()["translatedText"]
    ours, thanks = expected(translator, TEXT), expected(translator, "Thank you.")
    assert answer == (
        f'<p class="a&b">{ours}</p><br/>\n<script>I < 1</script><!-- x --> <B>{thanks}</B>'
    )
    assert ask(client, q="a", format="html", attention=True).status_code == 400


def test_auto_detects(client):
    answer = ask(client, q=TEXT, source="auto").json()
    assert answer["detectedLanguage"] == {"language": "en", "confidence": 100.0}
    assert ask(client, q="저는 학생입니다.", source="auto").status_code == 400
    assert ask(client, q="Привет мир", source="auto").status_code == 400
    assert ask(client, q="1 + 1", source="auto").status_code == 200
    detect = client.post("/detect", json={"q": "저는 a"}).json()
    assert detect == [{"language": "ko", "confidence": 66.7}]
    assert ask(client, q="東京 は a", source="auto").status_code == 400  # a quarter of the letters
    assert client.post("/detect", data={"q": "1 2"}).json()[0]["confidence"] == 0


def test_what_tags_say_is_not_detected(client):
    korean = '<div class="greeting" title="a word of welcome">안녕하세요</div>'
    assert ask(client, q=korean, source="auto", format="html").status_code == 400
    assert ask(client, q=korean, source="auto").status_code == 200  # as text it is mostly Latin
    english = '<p title="한국어로 된 긴 설명입니다">Hello.</p><script>"안녕하세요"</script>'
    answer = ask(client, q=english, source="auto", format="html").json()
    assert answer["detectedLanguage"] == {"language": "en", "confidence": 100.0}


def test_answers_are_as_the_description_says(client):
    everything = {"attention": True, "alternatives": 1, "source": "auto"}
    for q in (TEXT, [TEXT, "", "Thank you. It is raining."], []):
        for fields in ({}, everything):
            assert as_described(TranslateAnswer, ask(client, q=q, **fields).json())
    assert as_described(TraceAnswer, client.post("/trace", json={"q": TEXT}).json())
    for q in (TEXT, "저는 a", ""):
        [found] = client.post("/detect", json={"q": q}).json()
        assert as_described(Detection, found)
    assert as_described(Settings, client.get("/frontend/settings").json())
    paths = client.get("/openapi.json").json()["paths"]
    models = {"/translate": "TranslateAnswer", "/trace": "TraceAnswer", "/detect": "Detection"}
    for path, model in models.items():
        assert f"/{model}" in json.dumps(paths[path]["post"]["responses"]["200"])


def test_trace_is_the_trace(client, translator):
    answer = client.post("/trace", json={"q": TEXT, "level": "polite"}).json()
    assert answer["translation"] == trace(translator, TEXT, "polite").translation
    assert answer["steps"][0]["read"] == ["<s>"]
    [part] = ask(client, q=TEXT, level="polite", attention=True).json()["attention"]
    for name in ("source", "read", "written"):
        assert answer[name] == part[name]
        assert answer[f"{name}_words"] == part[f"{name}_words"]
    assert client.post("/trace", json={"q": "\n"}).status_code == 400
    assert client.post("/trace", json={"q": "word " * 90}).status_code == 413
    assert "2 sentences" in client.post("/trace", json={"q": "Go. Run."}).json()["error"]


def test_what_pages_and_clients_ask_first(client, limits):
    languages = client.get("/languages").json()
    assert [(language["code"], language["targets"]) for language in languages] == [
        ("en", ["ko"]),
        ("ko", []),
    ]
    assert client.get("/health").json() == {"status": "ok"}
    assert client.head("/health").status_code == client.head("/").status_code == 200
    settings = client.get("/frontend/settings").json()
    assert settings["charLimit"] == limits.characters and settings["keyRequired"] is False
    assert settings["levels"] == ["formal", "polite", "casual", "plain"]
    assert settings["attention"] is True and settings["defaultLevel"] == "formal"
    schema = client.get("/openapi.json").json()
    fields = schema["paths"]["/translate"]["post"]["requestBody"]["content"]["application/json"]
    assert {"q", "source", "target", "format", "alternatives", "level", "attention"} <= set(
        fields["schema"]["properties"]
    )
    docs = client.get("/docs")
    assert docs.status_code == 200 and "//" not in docs.text.replace("://", "")
    page = client.get("/")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert "script-src" not in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"


@pytest.mark.fault("B95")
@pytest.mark.parametrize(
    "status, fields",
    [
        (400, {}),
        (400, {"q": None}),
        (400, {"q": 5}),
        (400, {"q": {"a": 1}}),
        (400, {"q": [1, "a"]}),
        (400, {"q": "a", "source": "fr"}),
        (400, {"q": "a", "target": "en"}),
        (400, {"q": "a", "format": "pdf"}),
        (400, {"q": "a", "level": "rude"}),
        (400, {"q": "a", "level": ["formal"]}),
        (400, {"q": "a", "alternatives": -1}),
        (400, {"q": "a", "alternatives": 4}),
        (400, {"q": "a", "alternatives": 1.5}),
        (400, {"q": "a", "attention": "perhaps"}),
        (413, {"q": "a" * 501}),
        (413, {"q": ["a" * 300, "b" * 300]}),
        (413, {"q": ["a"] * 21}),
        (413, {"q": "a" * 1_000_000}),
    ],
)
def test_bad_questions_are_answered_in_json(client, status, fields):
    answer = client.post("/translate", content=json.dumps(fields))
    assert answer.status_code == status
    error = answer.json()["error"]
    assert set(answer.json()) == {"error"} and 0 < len(error) < 200
    assert "Traceback" not in error and "a" * 50 not in error


def test_of_a_text_that_is_none_both_kinds_are_named(client):
    for q in (5, None, [1, "a"], {"a": 1}):
        answer = client.post("/translate", json={"q": q})
        assert answer.json() == {"error": "q: expected a text or a list of texts"}


@pytest.mark.fault("B95")
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1]", b'"q"', b"null", b"\xff\xfe", b"[" * 5000, b"{'q': 'a'}", b"1" * 5000],
)
def test_bodies_that_are_no_json(client, body):
    for kind in ("application/json", "text/plain", ""):
        answer = client.post("/translate", content=body, headers={"content-type": kind})
        assert answer.status_code == 400 and answer.json()["error"]


def test_other_routes_and_methods_answer_in_json(client):
    assert client.get("/translate").status_code == 405
    assert client.get("/translate").json() == {"error": "Method Not Allowed"}
    for path in (
        "/nothing",
        "/%00",
        "/..%2f..%2fetc/passwd",
        "/page/%c3%28",
        "/page/%00",
        "/page/../app.py",
        "/" + "a" * 5000,
    ):
        answer = client.get(path)
        assert answer.status_code == 404 and answer.json() == {"error": "Not Found"}
    multipart = client.post("/translate", files={"file": b"a"})
    assert multipart.status_code == 400 and "urlencoded" in multipart.json()["error"]


@pytest.mark.fault("B95")
def test_text_is_text(client, translator):
    for text in ("<script>x</script>", "&lt;b&gt;", 'a"b', "I am\u0000 a student."):
        assert ask(client, q=text).json()["translatedText"] == expected(translator, text)
    for more in ({"format": "html"}, {"attention": True}, {"alternatives": 1}, {"source": "auto"}):
        half = json.dumps({"q": "<a b='\ud800'>I am \udc00</a>", **more})
        answer = client.post("/translate", content=half)
        assert answer.status_code == 200
    composed = "Où est la gare?"
    apart = unicodedata.normalize("NFD", composed)
    assert apart != composed
    assert ask(client, q=apart).json() == ask(client, q=composed).json()


@pytest.mark.fault("B95")
def test_parallel_requests_get_their_own_answers(url, translator):
    texts = [pair[0] for pair in PAIRS for _ in range(3)]
    wanted = [expected(translator, text) for text in texts]
    found = [None] * len(texts)

    def one(i):
        body = json.dumps({"q": texts[i], "source": "en", "target": "ko"}).encode()
        with urlopen(Request(f"{url}/translate", body, {"Content-Type": "application/json"})) as r:
            found[i] = json.load(r)["translatedText"]

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == wanted


def test_keys(translator, tmp_path):
    file = tmp_path / "keys.txt"
    file.write_text("열쇠\n# keys\n\nsecret one\n", encoding="utf-8-sig")  # as Notepad does
    with TestClient(create_app(translator, keys=Keys.from_file(file))) as client:
        for key in (None, "", "secret", "secret one ", "\u0000"):
            answer = ask(client, q=TEXT, api_key=key)
            assert answer.status_code == 403 and "api_key" in answer.json()["error"]
        for key in ("secret one", "열쇠"):
            assert ask(client, q=TEXT, api_key=key).status_code == 200
        assert client.post("/trace", json={"q": TEXT}).status_code == 403
        assert client.post("/detect", json={"q": TEXT}).status_code == 403
        assert client.get("/frontend/settings").json()["keyRequired"] is True
        assert client.get("/health").status_code == 200


def test_a_fault_of_the_server_is_told_without_its_traceback(translator, monkeypatch, caplog):
    def broken(*_, **__):
        raise ZeroDivisionError("a secret of the server")

    monkeypatch.setattr(translator, "translate", broken)
    with TestClient(create_app(translator)) as client:
        answer = ask(client, q=TEXT)
    assert answer.status_code == 500
    assert answer.json() == {"error": "an internal error; the server's log has it"}
    assert "Traceback" in caplog.text and "a secret of the server" in caplog.text


def test_what_the_translator_refuses_is_told_in_its_own_words(translator):
    with TestClient(create_app(translator, Limits(alternatives=200))) as client:
        answer = ask(client, q=TEXT, alternatives=150)
        assert answer.status_code == 400 and "beam_size" in answer.json()["error"]
        assert ask(client, q=TEXT).status_code == 200


def test_an_exported_model_translates_and_shows_no_attention(trained, translator, tmp_path):
    pytest.importorskip("ctranslate2", reason="the extra 'export' is not installed")
    path = tmp_path / "exported"
    export_model(load_checkpoint(trained / "best.pt"), path, "float32", [TEXT])
    with TestClient(create_app(Translator.from_pretrained(path))) as client:
        assert client.get("/frontend/settings").json()["attention"] is False
        assert ask(client, q=TEXT).json()["translatedText"] == expected(translator, TEXT)
        for answer in (
            ask(client, q=TEXT, attention=True),
            client.post("/trace", json={"q": TEXT}),
        ):
            assert answer.status_code == 400
            assert "exported model" in answer.json()["error"]


def test_other_web_sites_ask_only_when_allowed(client, translator):
    origin = {"Origin": "https://example.org"}
    answer = client.post("/translate", json={"q": TEXT}, headers=origin)
    assert "access-control-allow-origin" not in answer.headers
    with TestClient(create_app(translator, origins=["https://example.org"])) as allowed:
        answer = allowed.post("/translate", json={"q": TEXT}, headers=origin)
        assert answer.headers["access-control-allow-origin"] == "https://example.org"


def test_a_browser_does_not_ask_for_a_strange_site(client, translator):
    """Its script could not read the answer, but could keep the model busy."""
    strange = {"Origin": "https://example.org", "Sec-Fetch-Site": "cross-site"}
    answer = client.post("/translate", json={"q": TEXT}, headers=strange)
    assert answer.status_code == 403 and "--allow-origin" in answer.json()["error"]
    for refused in (
        {"Origin": "http://testserver:8000", "Sec-Fetch-Site": "same-site"},
        {"Origin": "https://example.org"},  # to an address that is not secure no more is sent
        {"Origin": "http://testserver:8000"},
        {"Origin": "null"},
    ):
        assert client.post("/translate", json={"q": TEXT}, headers=refused).status_code == 403
    for own in (
        {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://testserver"},
        {"Sec-Fetch-Site": "none"},
        {},
    ):
        assert client.post("/translate", json={"q": TEXT}, headers=own).status_code == 200
    assert client.get("/languages", headers=strange).status_code == 200
    for origins in (["https://example.org"], ["*"]):
        with TestClient(create_app(translator, origins=origins)) as allowed:
            answer = allowed.post("/translate", json={"q": TEXT}, headers=strange)
            assert answer.status_code == 200


@pytest.mark.parametrize("given", ["https://Example.org/", "null", "moz-extension://4f-a"])
def test_origins_are_what_browsers_send(translator, given):
    sent = {"Origin": given.lower().rstrip("/"), "Sec-Fetch-Site": "cross-site"}
    with TestClient(create_app(translator, origins=[given])) as allowed:
        assert allowed.post("/translate", json={"q": TEXT}, headers=sent).status_code == 200
    with pytest.raises(UserError, match="expected a web site such as"):
        create_app(translator, origins=["ftp://example.org"])


def test_the_description_has_the_limits_of_this_server(translator):
    limits = Limits(characters=77, texts=5, alternatives=2, seconds_to_send=60)
    with TestClient(create_app(translator, limits)) as client:
        answers = client.get("/openapi.json").json()["paths"]["/translate"]["post"]["responses"]
        assert "more than 2 alternatives" in answers["400"]["description"]
        assert "within 60 seconds" in answers["408"]["description"]
        assert "more than 77 characters or 5 texts" in answers["413"]["description"]
        assert client.post("/translate", json={"q": "Hi", "alternatives": 3}).status_code == 400


def test_korean_in_parts_is_korean(client):
    """As macOS writes it: each letter of a syllable for itself."""
    text = unicodedata.normalize("NFD", "안녕하세요")
    assert client.post("/detect", json={"q": text}).json()[0]["language"] == "ko"


def test_a_silent_connection_is_closed(translator):
    """Nothing comes, half a head, or nothing more after an answer; a slow body may come."""
    limits = Limits(seconds_to_send=0.3)
    body = b'{"q": "Hi", "source": "en", "target": "ko"}'
    head = b"POST /detect HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: %d\r\n\r\n" % len(body)
    with running(create_app(translator), limits) as address:
        place = ("127.0.0.1", int(address.rsplit(":", 1)[1]))
        for sent in (b"", head[:40]):
            with socket.create_connection(place, timeout=20) as silent:
                silent.sendall(sent)
                assert silent.recv(1) == b""
        with socket.create_connection(place, timeout=20) as slow:
            slow.sendall(head + body[:5])
            time.sleep(0.6)
            slow.sendall(body[5:])
            answer = slow.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200")
            while b"confidence" not in answer:
                answer += slow.recv(4096)
            begun = time.monotonic()
            assert slow.recv(1) == b"", "kept open for the next one, which does not come"
            assert time.monotonic() - begun < 3, "uvicorn's own patience is longer"
        early = b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
        with socket.create_connection(place, timeout=20) as half:
            half.sendall(early)  # answered although its body does not come
            received = half.recv(4096)
            half.sendall(b"1")  # ends uvicorn's patience
            while chunk := half.recv(4096):
                received += chunk
            assert received.startswith(b"HTTP/1.1 200")


def test_the_published_client_translates(translator, limits):
    libretranslatepy = pytest.importorskip("libretranslatepy")
    with running(create_app(translator, limits, Keys(["secret"]))) as url:
        api = libretranslatepy.LibreTranslateAPI(url, api_key="secret")
        assert api.translate(TEXT, "en", "ko") == expected(translator, TEXT)
        assert api.detect(TEXT) == [{"language": "en", "confidence": 100.0}]
        assert api.languages()[0]["code"] == "en"
