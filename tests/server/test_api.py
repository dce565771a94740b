"""LibreTranslate's API and what this server adds, against the translator itself."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from urllib.request import Request, urlopen

import pytest
from conftest import PAIRS

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from real_server import running
from starlette.testclient import TestClient

from translator.documents import translate_lines
from translator.looking import Looking
from translator.plain import looking_as_dict
from translator.server.app import create_app
from translator.server.keys import Keys
from translator.server.limits import Limits
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
    assert client.post("/detect", data={"q": "1 2"}).json()[0]["confidence"] == 0


def test_trace_is_the_trace(client, translator):
    answer = client.post("/trace", json={"q": TEXT, "level": "polite"}).json()
    assert answer["translation"] == trace(translator, TEXT, "polite").translation
    assert answer["steps"][0]["read"] == ["<s>"]
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
    nfd = "Où est la gare?"
    assert ask(client, q=nfd).status_code == 200


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


def test_other_web_sites_ask_only_when_allowed(client, translator):
    origin = {"Origin": "https://example.org"}
    answer = client.post("/translate", json={"q": TEXT}, headers=origin)
    assert "access-control-allow-origin" not in answer.headers
    with TestClient(create_app(translator, origins=["https://example.org"])) as allowed:
        answer = allowed.post("/translate", json={"q": TEXT}, headers=origin)
        assert answer.headers["access-control-allow-origin"] == "https://example.org"


def test_the_published_client_translates(translator, limits):
    libretranslatepy = pytest.importorskip("libretranslatepy")
    with running(create_app(translator, limits, Keys(["secret"]))) as url:
        api = libretranslatepy.LibreTranslateAPI(url, api_key="secret")
        assert api.translate(TEXT, "en", "ko") == expected(translator, TEXT)
        assert api.detect(TEXT) == [{"language": "en", "confidence": 100.0}]
        assert api.languages()[0]["code"] == "en"
