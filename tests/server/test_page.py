"""The page in a real browser: it shows what the server answered, and nothing else."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count, pairwise, product
from statistics import fmean
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Browser, BrowserContext, Error, Page, Route, expect, sync_playwright
from real_server import running

from translator.decoding import Hypothesis
from translator.inference import Translator
from translator.server.app import create_app
from translator.translation import suspicions

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SENTENCE = "I am a student."
SENTENCES = "I am a student. I met a friend yesterday."
VISITS = count()  # another address each time, so that a new hash does not spare the loading
LIT_FROM = 0.05  # as in links.js
FAILED = "Failed to load resource"  # the browser's own note about a request that fails on purpose

Map = list[list[float]]


@pytest.fixture(scope="module")
def page_url(translator: Translator) -> Iterator[str]:
    with running(create_app(translator)) as url:
        yield f"{url}/"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"no browser found: install one of {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def expected() -> list[str]:
    """What the console may say in this test: a test that provokes failures adds to it."""
    return []


Opener = Callable[..., Page]


class Ears:
    """Hears what the console says and whom the page asks."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []

    def listen(self, page: Page) -> None:
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"uncaught: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))

    def check(self, expected: list[str], page_url: str) -> None:
        """A silent console and no request to anyone else."""
        said, asked = self.said, self.asked
        self.said, self.asked = [], []
        assert [line for line in said if not any(text in line for text in expected)] == []
        assert {urlsplit(url).netloc for url in asked} <= {urlsplit(page_url).netloc}


def go(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator("#version")).not_to_be_empty()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[tuple[Page, Ears]]:
    """One tab for most tests: a new one for each would take most of their time."""
    context = browser.new_context(locale="en-US")
    context.set_default_timeout(5000)
    page, ears = context.new_page(), Ears()
    ears.listen(page)
    yield page, ears
    context.close()


@pytest.fixture
def page(tab: tuple[Page, Ears], page_url: str, expected: list[str]) -> Iterator[Page]:
    page, ears = tab
    go(page, f"{page_url}?{next(VISITS)}")
    yield page
    page.unroute_all(behavior="ignoreErrors")
    page.emulate_media(color_scheme=None)
    page.evaluate("localStorage.clear()")
    ears.check(expected, page_url)


@pytest.fixture
def opened(browser: Browser, page_url: str, expected: list[str]) -> Iterator[Opener]:
    """Opens the page in browsers of its own: with other settings, or without a past."""
    ears = Ears()
    contexts: list[BrowserContext] = []

    def visit(fragment: str = "", init: str = "", **options: Any) -> Page:
        context = browser.new_context(**{"locale": "en-US", **options})
        contexts.append(context)
        context.set_default_timeout(5000)
        page = context.new_page()
        ears.listen(page)
        if init:
            page.add_init_script(init)
        go(page, page_url + fragment)
        return page

    yield visit
    for context in contexts:
        context.close()
    ears.check(expected, page_url)


class Answers(NamedTuple):
    """What the server answered while the page translated."""

    translation: Any
    trace: Any


def during(page: Page, act: Callable[[], object]) -> Answers:
    with (
        page.expect_response("**/trace") as traced,
        page.expect_response("**/translate") as translated,
    ):
        act()
    answers = Answers(translated.value.json(), traced.value.json())
    page.wait_for_selector("#steps button")
    return answers


def translate(page: Page, text: str = SENTENCE) -> Answers:
    page.fill("#text", text)
    return during(page, lambda: page.click("#go"))


def average(maps: list[Map]) -> Map:
    return [[fmean(cells) for cells in zip(*rows, strict=True)] for rows in zip(*maps, strict=True)]


def chosen(weights: list[list[Map]], layer: str, head: str) -> Map:
    layers = weights if layer == "mean" else [weights[int(layer)]]
    return average(
        [m for heads in layers for m in (heads if head == "mean" else [heads[int(head)]])]
    )


def of_words(weights: Map, rows: list[Any], columns: list[Any]) -> Map:
    """Adds the columns of a word's pieces and averages its rows."""
    return [
        [
            fmean(sum(weights[r][c] for c in column["pieces"]) for r in row["pieces"])
            for column in columns
        ]
        for row in rows
    ]


def links(part: Any) -> Map:
    weights = chosen(part["cross"], "mean", "mean")
    return of_words(weights, part["written_words"], part["source_words"])


def lit(page: Page, side: str) -> dict[int, float]:
    """The words that shine, with the weights that they show."""
    found = page.locator(f'#links [data-side="{side}"].lit').evaluate_all(
        "words => words.map(word => [word.dataset.index, word.dataset.weight])"
    )
    return {int(at): float(weight) for at, weight in found}


def strongest(page: Page, side: str) -> list[int]:
    return page.locator(f'#links [data-side="{side}"].strongest').evaluate_all(
        "words => words.map(word => Number(word.dataset.index))"
    )


DRAWN = """() => [...document.querySelectorAll("#maps table")].map(table => {
    const rows = [...table.tBodies[0].rows];
    const each = look => rows.map(row => [...row.cells].slice(1).map(look));
    return {
        columns: [...table.tHead.querySelectorAll("th")].map(th => th.textContent),
        rows: rows.map(row => row.cells[0].textContent),
        values: each(cell => cell.matches(".blocked") ? 0 : Number(cell.dataset.value)),
        texts: each(cell => cell.textContent),
        names: each(cell => cell.getAttribute("aria-label")),
    };
})"""
CHOOSE = f"""choices => choices.map(([layer, head]) => {{
    for (const [id, value] of [["layer", layer], ["head", head]]) {{
        const select = document.getElementById(id);
        select.value = value;
        select.dispatchEvent(new Event("change"));
    }}
    return ({DRAWN})();
}})"""


def drawn(page: Page) -> list[Any]:
    """Every map on the page: its labels, its numbers and what they are called."""
    return page.evaluate(DRAWN)


def close(actual: Map, wanted: Map) -> bool:
    return actual == [pytest.approx(row, abs=1e-9) for row in wanted]


# Translating


def test_the_button_shows_what_the_server_answered(page: Page) -> None:
    expect(page.locator("#text")).to_have_value(SENTENCE)
    expect(page.locator("#inside")).to_be_hidden()
    with page.expect_request("**/translate") as asked:
        answers = translate(page)
    assert asked.value.post_data_json == {
        "q": SENTENCE,
        "source": "en",
        "target": "ko",
        "format": "text",
        "alternatives": 3,
        "level": "formal",
        "attention": True,
    }
    expect(page.locator("#result")).to_have_text(answers.translation["translatedText"])
    expect(page.locator("#result")).to_have_attribute("lang", "ko")
    expect(page.locator("#alternatives li")).to_have_text(answers.translation["alternatives"])
    expect(page.locator("#cautions")).to_be_hidden()


def test_warnings_are_shown(page: Page) -> None:
    def warn(route: Route) -> None:
        answer = route.fetch().json()
        route.fulfill(json={**answer, "warnings": ["one", "<b>two</b>"]})

    page.route("**/translate", warn)
    translate(page)
    expect(page.locator("#warnings li")).to_have_text(["one", "<b>two</b>"])


def test_warnings_are_korean_on_the_korean_page(page: Page, expected: list[str]) -> None:
    expected.append(FAILED)  # what is cut cannot be traced
    oddities = [
        Hypothesis(ids=[5] * 99, score=0.0, finished=False),
        Hypothesis(ids=[], score=0.0, finished=True),
    ]
    more = [warning for oddity in oddities for warning in suspicions(3, oddity)]
    assert len(more) == 4
    wanted: list[str] = []

    def warn(route: Route) -> None:
        answer = route.fetch().json()
        wanted[:] = [*answer["warnings"], *more, "a split leg"]
        route.fulfill(json={**answer, "warnings": wanted})

    page.route("**/translate", warn)
    page.fill("#text", f"I am a student, and {'a' * 1000}, and it is 3:30, 2024-05-17.")
    page.click("#go")
    warnings = page.locator("#warnings li")
    expect(warnings.last).to_have_text("a split leg")
    assert {"parts", "carried", "only"} <= {word for text in wanted for word in text.split()}
    expect(warnings).to_have_text(wanted)
    page.click("#language")
    *known, unknown = warnings.all()
    for warning, english in zip(known, wanted, strict=False):
        korean = warning.inner_text()
        assert re.search(HANGUL, korean)
        assert not re.search(r"[a-z$]", korean)
        assert sorted(re.findall(r"\d+", korean)) == sorted(re.findall(r"\d+", english))
        expect(warning).to_have_attribute("lang", "ko")
    expect(unknown).to_have_text("a split leg")
    expect(unknown).to_have_attribute("lang", "en")
    page.click("#language")
    expect(warnings).to_have_text(wanted)


def test_enter_translates_and_shift_enter_begins_a_line(page: Page) -> None:
    page.fill("#text", "Good")
    page.press("#text", "End")
    page.press("#text", "Shift+Enter")
    page.type("#text", "morning.")
    expect(page.locator("#text")).to_have_value("Good\nmorning.")
    for key in ["Enter", "Control+Enter"]:
        with page.expect_request("**/translate") as asked:
            during(page, lambda key=key: page.press("#text", key))
        assert asked.value.post_data_json["q"] == "Good\nmorning."
        expect(page.locator("#text")).to_have_value("Good\nmorning.")


def test_without_text_nothing_is_asked(page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.fill("#text", "  ")
    page.click("#go")
    expect(page.locator("#alert")).not_to_be_empty()
    assert requests == []


TOUCH_ALL = """() => {
    for (const control of document.querySelectorAll("#inside input, #inside select")) {
        if (control.type === "radio") control.checked = true;
        control.dispatchEvent(new Event("change"));
    }
    for (const button of document.querySelectorAll("#inside button")) button.click();
}"""


def test_a_blank_text_leaves_nothing_of_the_last_answer(page: Page) -> None:
    translate(page)
    page.fill("#text", " ")
    page.click("#go")
    expect(page.locator("#alert")).not_to_be_empty()
    expect(page.locator("#result")).to_be_empty()
    expect(page.locator("#inside")).to_be_hidden()
    page.evaluate(TOUCH_ALL)
    page.click("#language")
    expect(page.locator("#inside")).to_be_hidden()


def test_while_an_answer_is_awaited_the_last_one_is_out_of_reach(page: Page) -> None:
    answers = translate(page, SENTENCES)
    page.click("[data-step=play]")
    held: list[Route] = []
    page.route("**/translate", lambda route: held.append(route), times=1)  # noqa: PLW0108
    inert = "document.getElementById('inside').inert"
    assert not page.evaluate(inert)
    with page.expect_request("**/translate"):
        page.click("#go")
    assert page.evaluate(inert)
    expect(page.locator("[data-step=play]")).to_have_text("Play")
    page.evaluate(TOUCH_ALL)
    during(page, lambda: held[0].fulfill(json=answers.translation))
    assert not page.evaluate(inert)
    expect(page.locator("#links article")).to_have_count(len(answers.translation["attention"]))


def test_characters_are_counted_as_the_server_counts_them(page: Page, page_url: str) -> None:
    limit = page.request.get(page_url + "frontend/settings").json()["charLimit"]
    count = page.locator("#count")
    for text, n in [("12345", 5), ("🍕", 1), ("학생", 2)]:
        page.fill("#text", text)
        expect(count).to_have_text(f"{n} / {limit} characters")
        expect(count).not_to_have_class(re.compile("over"))


def test_a_text_that_is_too_long_is_refused_and_not_cut(
    page: Page, page_url: str, expected: list[str]
) -> None:
    expected.append(FAILED)
    limit = page.request.get(page_url + "frontend/settings").json()["charLimit"]
    text = "a" * (limit + 1)
    page.fill("#text", "")
    page.keyboard.insert_text(text)  # as pasting does, it heeds a maxlength
    expect(page.locator("#text")).to_have_value(text)
    expect(page.locator("#count")).to_have_class(re.compile("over"))
    page.click("#go")
    expect(page.get_by_role("alert").filter(has_text=f"{limit + 1} characters")).to_be_visible()
    expect(page.locator("#text")).to_have_value(text)


def test_another_level_translates_again(page: Page, page_url: str) -> None:
    settings = page.request.get(page_url + "frontend/settings").json()
    radios = page.locator("[name=level]")
    assert [radio.get_attribute("value") for radio in radios.all()] == settings["levels"]
    expect(page.locator(f"[value={settings['defaultLevel']}]")).to_be_checked()
    translate(page)
    for level in ["polite", settings["defaultLevel"]]:
        with (
            page.expect_request("**/translate") as asked,
            page.expect_request("**/trace") as traced,
        ):
            answers = during(page, lambda level=level: page.check(f"[value={level}]"))
        assert asked.value.post_data_json["level"] == level
        assert traced.value.post_data_json == {"q": SENTENCE, "level": level}
        expect(page.locator("#result")).to_have_text(answers.translation["translatedText"])
        expect(page.locator(f"[value={level}]")).to_be_focused()


@pytest.mark.parametrize("level", ["polite", "any"])
def test_the_page_starts_with_the_level_of_the_server(page: Page, level: str) -> None:
    def at_another(route: Route) -> None:
        settings = route.fetch().json()
        levels = list(dict.fromkeys([*settings["levels"], level]))
        route.fulfill(json={**settings, "levels": levels, "defaultLevel": level})

    page.route("**/frontend/settings", at_another)
    page.reload()
    expect(page.locator(f"[value={level}]")).to_be_checked()
    with page.expect_request("**/translate") as asked:
        translate(page)
    assert asked.value.post_data_json["level"] == level


def test_a_key_is_asked_for_only_where_the_server_wants_one(page: Page) -> None:
    expect(page.locator("#key")).to_be_hidden()

    def with_key(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "keyRequired": True})

    page.route("**/frontend/settings", with_key)
    page.reload()
    page.fill("#key", "secret")
    with page.expect_request("**/translate") as asked, page.expect_request("**/trace") as traced:
        translate(page)
    assert asked.value.post_data_json["api_key"] == "secret"
    assert traced.value.post_data_json["api_key"] == "secret"
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])")
    assert "secret" not in kept


def test_an_exported_model_is_not_asked_for_attention(page: Page) -> None:
    note = page.locator("#no-attention")
    expect(note).to_be_hidden()

    def exported(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "attention": False})

    page.route("**/frontend/settings", exported)
    page.reload()
    expect(note).to_be_visible()
    with page.expect_response("**/translate") as answered:
        page.click("#go")
    assert answered.value.request.post_data_json["attention"] is False
    expect(page.locator("#result")).to_have_text(answered.value.json()["translatedText"])
    expect(page.locator("#inside")).to_be_hidden()


# Words that looked at each other


def by_mouse(page: Page, side: str, at: int) -> None:
    page.hover(f'#links [data-side="{side}"][data-index="{at}"]')


def by_keyboard(page: Page, side: str, at: int) -> None:
    page.locator(f'#links [data-side="{side}"]').first.focus()
    page.keyboard.press("Home")
    for _ in range(at):
        page.keyboard.press("ArrowRight")
    expect(page.locator(f'[data-side="{side}"][data-index="{at}"]')).to_be_focused()


@pytest.mark.parametrize("point", [by_mouse, by_keyboard])
def test_a_korean_word_lights_what_it_looked_at(page: Page, point: Callable[..., None]) -> None:
    [part] = translate(page).translation["attention"]
    for at, weights in enumerate(links(part)):
        point(page, "target", at)
        wanted = {s: w for s, w in enumerate(weights) if w >= LIT_FROM}
        assert lit(page, "source") == pytest.approx(wanted)
        assert lit(page, "target") == {}
        assert strongest(page, "source") == [max(range(len(weights)), key=weights.__getitem__)]
        [marked] = page.locator("#maps tr.marked").all()
        assert marked.get_attribute("data-index") == str(at)
        assert marked.locator("th").inner_text() == part["written_words"][at]["text"]
        assert part["written_words"][at]["text"] in page.inner_text("#links .says")


@pytest.mark.parametrize("point", [by_mouse, by_keyboard])
def test_an_english_word_lights_what_looked_at_it(page: Page, point: Callable[..., None]) -> None:
    [part] = translate(page).translation["attention"]
    for at, weights in enumerate(zip(*links(part), strict=True)):
        point(page, "source", at)
        wanted = {t: w for t, w in enumerate(weights) if w >= LIT_FROM}
        assert lit(page, "target") == pytest.approx(wanted)
        assert lit(page, "source") == {}
        marked = page.locator("#maps thead th.marked")
        expect(marked).to_have_text(part["source_words"][at]["text"])
        assert page.locator("#maps td.marked").count() == len(weights)


def test_the_light_goes_out(page: Page) -> None:
    translate(page)
    by_mouse(page, "target", 0)
    page.hover("h1")
    assert lit(page, "source") == {}
    assert page.locator("#maps .marked").count() == 0
    by_keyboard(page, "target", 0)
    page.locator("#go").focus()
    assert lit(page, "source") == {}


def test_the_light_is_that_of_the_chosen_layer_and_head(page: Page) -> None:
    [part] = translate(page).translation["attention"]
    page.select_option("#layer", "0")
    page.select_option("#head", "1")
    by_mouse(page, "target", 0)
    [weights, *_] = of_words(part["cross"][0][1], part["written_words"], part["source_words"])
    assert lit(page, "source") == pytest.approx(
        {s: w for s, w in enumerate(weights) if w >= LIT_FROM}
    )


def test_pieces_stand_in_place_of_words(page: Page) -> None:
    [part] = translate(page).translation["attention"]
    words = [word["text"] for word in part["source_words"]]
    expect(page.locator('#links [data-side="source"]')).to_have_text(words)
    page.check("#pieces")
    expect(page.locator('#links [data-side="source"]')).to_have_text(part["source"])
    expect(page.locator('#links [data-side="target"]')).to_have_text(part["written"])
    weights = chosen(part["cross"], "mean", "mean")
    [shown] = drawn(page)
    assert close(shown["values"], weights)
    by_mouse(page, "target", 1)
    assert lit(page, "source") == pytest.approx(
        {s: w for s, w in enumerate(weights[1]) if w >= LIT_FROM}
    )
    page.uncheck("#pieces")
    expect(page.locator('#links [data-side="source"]')).to_have_text(words)


def test_of_several_sentences_one_is_looked_into(page: Page) -> None:
    answers = translate(page, SENTENCES)
    parts = answers.translation["attention"]
    assert len(parts) > 1
    assert answers.trace["text"] == parts[0]["text"]
    expect(page.locator("#links article")).to_have_count(len(parts))
    with page.expect_response("**/trace") as traced:
        page.select_option("#sentence", "1")
    assert traced.value.json()["text"] == parts[1]["text"]
    [shown] = drawn(page)
    assert shown["rows"] == [word["text"] for word in parts[1]["written_words"]]
    with page.expect_response("**/trace") as traced:
        page.locator('#links article >> nth=0 >> [data-side="target"]').first.click()
    assert traced.value.json()["text"] == parts[0]["text"]
    expect(page.locator("#sentence")).to_have_value("0")
    expect(page.locator('#links article >> nth=0 >> [data-side="target"] >> nth=0')).to_be_focused()
    assert page.locator("#maps tr.marked").get_attribute("data-index") == "0"


# Maps


AXES = {
    "encoder": ("source", "source"),
    "decoder": ("read", "read"),
    "cross": ("written", "source"),
}


def test_every_map_shows_the_weights_of_the_answer(page: Page) -> None:
    [part] = translate(page).translation["attention"]
    for kind, pieces in product(AXES, [False, True]):
        assert_maps(page, part, kind, pieces)


def assert_maps(page: Page, part: Any, kind: str, pieces: bool) -> None:
    page.set_checked("#pieces", pieces)
    page.check(f"[name=kind][value={kind}]")
    weights = part[kind]
    heads = [str(at) for at in range(len(weights[0]))]
    row_side, column_side = AXES[kind]
    rows, columns = part[f"{row_side}_words"], part[f"{column_side}_words"]
    layers = [str(at) for at in range(len(weights))]
    choices = list(product(["mean", *layers], ["mean", *heads, "all"]))
    for (layer, head), maps in zip(choices, page.evaluate(CHOOSE, choices), strict=True):
        wanted = [chosen(weights, layer, each) for each in (heads if head == "all" else [head])]
        if not pieces:
            wanted = [of_words(each, rows, columns) for each in wanted]
        assert len(maps) == len(wanted)
        assert all(close(shown["values"], each) for shown, each in zip(maps, wanted, strict=True))
    shown = drawn(page)[0]
    labels = part[column_side] if pieces else [word["text"] for word in columns]
    assert shown["columns"] == labels
    assert f"({len(shown['rows'])}, {len(labels)})" in page.inner_text("#map-shape")


def test_cells_are_read_out_in_percent(page: Page) -> None:
    [part] = translate(page).translation["attention"]
    [shown] = drawn(page)
    for r, row in enumerate(links(part)):
        for c, weight in enumerate(row):
            assert abs(int(shown["texts"][r][c]) - 100 * weight) <= 0.5 + 1e-9
            query, key = part["written_words"][r]["text"], part["source_words"][c]["text"]
            assert shown["names"][r][c] == f"{query} looks at {key}: {shown['texts'][r][c]} %"


def test_numbers_are_spoken_of_only_where_they_stand(page: Page) -> None:
    translate(page, SENTENCE + " " + "and so on " * 4)
    page.check("#pieces")
    size = "getComputedStyle(document.querySelector('#maps tbody td')).fontSize"
    for head, numbers in [("mean", True), ("all", False)]:
        page.select_option("#head", head)
        assert (page.evaluate(size) != "0px") == numbers
        assert ("Numbers are percent" in page.inner_text("#readout")) == numbers


def test_the_shape_of_words_is_told_beside_that_of_the_tensor(page: Page) -> None:
    [part] = translate(page).translation["attention"]
    heads, target, source = len(part["cross"][0]), len(part["written"]), len(part["source"])
    words = len(part["written_words"]), len(part["source_words"])
    assert words[0] < target
    for pieces in [False, True]:
        page.set_checked("#pieces", pieces)
        tensor = page.inner_text("#tensor-shape").replace("\u00a0", " ")
        assert f"(1, {heads}, {target}, {source})" in tensor
        assert (f"{target} pieces to {words[0]} words" in tensor) == (not pieces)
        assert ("words" in page.inner_text("#map-shape")) == (not pieces)


@pytest.mark.parametrize("width", [360, 600, 1280])
def test_maps_side_by_side_fill_every_row(opened: Opener, width: int) -> None:
    page = opened(viewport={"width": 1000, "height": 740})
    translate(page)
    page.select_option("#head", "all")
    page.set_viewport_size({"width": width, "height": 740})
    page.evaluate("() => new Promise(requestAnimationFrame)")
    tops = page.locator("#maps .map").evaluate_all("maps => maps.map(map => map.offsetTop)")
    assert len({tops.count(top) for top in tops}) == 1
    assert len(tops) == 4


def test_the_future_is_blocked_in_masked_self_attention(page: Page) -> None:
    translate(page)
    page.check("[name=kind][value=decoder]")
    [shown] = drawn(page)
    size = len(shown["rows"])
    assert page.locator("#maps td.blocked").count() == size * (size - 1) // 2
    assert "may not look at" in shown["names"][0][1]


def test_the_arrow_keys_walk_through_a_map(page: Page) -> None:
    translate(page)
    [shown] = drawn(page)
    page.locator("#maps tbody td").first.focus()
    for key, (r, c) in [
        ("ArrowRight", (0, 1)),
        ("ArrowDown", (1, 1)),
        ("End", (1, len(shown["columns"]) - 1)),
        ("ArrowRight", (1, len(shown["columns"]) - 1)),
        ("Home", (1, 0)),
        ("ArrowUp", (0, 0)),
    ]:
        page.keyboard.press(key)
        name = shown["names"][r][c]
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == name
        assert page.inner_text("#readout") == name
    assert page.locator('#maps [tabindex="0"]:is(td)').count() == 1


# Masks, shapes


def test_masks_and_shapes_are_those_of_the_trace(page: Page) -> None:
    _, trace = translate(page)
    for kind, mask in trace["masks"].items():
        cells = page.locator(f'#masks [data-kind="{kind}"] tbody tr').evaluate_all(
            """rows => rows.map(row => [...row.cells].slice(1).map(
                cell => cell.classList.contains("allowed")))"""
        )
        assert cells == mask
        rows, columns = (trace[side] for side in AXES[kind])
        expect(page.locator(f'#masks [data-kind="{kind}"] tbody th')).to_have_text(rows)
        expect(page.locator(f'#masks [data-kind="{kind}"] thead th')).to_have_text(columns)
        sizes = ", ".join(map(str, trace["weights"][kind]))
        expect(page.locator("#compared")).to_contain_text(f"({sizes})")
    expect(page.locator("#compared tbody tr")).to_have_count(3)
    page.click("#shapes summary")
    rows = page.locator("#shapes tbody tr")
    expect(rows).to_have_count(len(trace["shapes"]))
    first = trace["shapes"][0]
    expect(rows.first).to_contain_text(first["module"])
    expect(rows.first).to_contain_text(f"({', '.join(map(str, first['inputs'][0]))})")


def test_bytes_in_angle_brackets_are_no_special_tokens(page: Page) -> None:
    _, trace = translate(page, "I like 🍕.")
    assert any(piece.startswith("<0x") for piece in trace["source"])
    special = [
        trace["source"][at]
        for word in trace["source_words"]
        for at in word["pieces"]
        if word["special"]
    ]
    marked = page.locator('#masks [data-kind="encoder"] thead th.special')
    expect(marked).to_have_text(special)


def test_that_greedy_decoding_wrote_other_words_is_said_where_it_did(page: Page) -> None:
    note = page.locator("#other-way")
    answers = translate(page)
    [part] = answers.translation["attention"]
    traced = dict(answers.trace)
    page.route("**/trace", lambda route: route.fulfill(json=traced))
    traced["translation"] = part["translation"]
    translate(page)
    expect(note).to_be_hidden()
    traced["translation"] = "다른 말입니다."
    translate(page)
    expect(note).to_contain_text("다른 말입니다.")
    page.check("[value=polite]")
    expect(note).to_be_visible()


# Steps


def step_shown(page: Page) -> dict[str, Any]:
    return page.locator("#steps").evaluate(
        """box => ({
            read: [...box.querySelectorAll(".read .chip")].map(chip => chip.textContent),
            pieces: [...box.querySelectorAll(".candidates tbody th")].map(th => th.textContent),
            probabilities: [...box.querySelectorAll(".number")].map(td => Number(td.dataset.value)),
            chosen: [...box.querySelectorAll(".chosen th")].map(th => th.textContent),
            looked: [...box.querySelectorAll(".looked .chip")].map(chip => chip.dataset.weight * 1),
            lit: [...box.querySelectorAll(".looked .chip")].map(chip => chip.matches(".lit")),
            text: box.querySelector(".sofar").textContent,
        })"""
    )


def assert_step(page: Page, step: Any, groups: list[Any]) -> None:
    shown = step_shown(page)
    weights = [sum(step["looked"][piece] for piece in group["pieces"]) for group in groups]
    assert shown["read"] == step["read"]
    assert shown["pieces"] == [candidate["piece"] for candidate in step["candidates"]]
    assert len(shown["pieces"]) == 5
    assert shown["probabilities"] == [candidate["probability"] for candidate in step["candidates"]]
    assert shown["chosen"] == [step["chosen"]]
    assert shown["looked"] == pytest.approx(weights)
    assert shown["lit"] == [weight >= LIT_FROM for weight in weights]
    if step["text"]:
        assert shown["text"] == step["text"]


@pytest.mark.parametrize("way", ["buttons", "keys"])
def test_decoding_is_stepped_through(page: Page, way: str) -> None:
    answers = translate(page)
    [part] = answers.translation["attention"]
    steps = answers.trace["steps"]
    last = len(steps) - 1
    keys = {"next": "ArrowRight", "previous": "ArrowLeft", "first": "Home", "last": "End"}
    assert_step(page, steps[0], part["source_words"])
    walk = [("next", 1), ("next", 2), ("previous", 1), ("last", last), ("next", last)]
    for action, at in [*walk, ("first", 0), ("previous", 0)]:
        if way == "keys":
            page.locator("#steps").press(keys[action])
        else:
            page.click(f"[data-step={action}]", force=True)  # at an end it does nothing
        assert_step(page, steps[at], part["source_words"])
        assert re.findall(r"\d+", page.inner_text(".where")) == [str(at + 1), str(len(steps))]
    page.check("#pieces")
    assert len(step_shown(page)["looked"]) == len(part["source"])


def test_it_plays_to_the_end_and_pauses(page: Page) -> None:
    page.evaluate("() => { const usual = setInterval; window.setInterval = a => usual(a, 30); }")
    _, trace = translate(page)
    page.click("[data-step=play]")
    where = page.locator(".where")
    expect(where).to_have_text(f"Step {len(trace['steps'])} of {len(trace['steps'])}")
    expect(page.locator("[data-step=play]")).to_have_text("Play")
    page.click("[data-step=play]")
    page.click("[data-step=first]")
    page.wait_for_timeout(100)
    expect(where).to_have_text(f"Step 1 of {len(trace['steps'])}")


# When it goes wrong


FAILURES: dict[str, tuple[Callable[[Route], None], str]] = {
    "413": (
        lambda route: route.fulfill(status=413, json={"error": "<i>9 & 8</i>"}),
        "<i>9 & 8</i>",
    ),
    "503": (lambda route: route.fulfill(status=503, json={"error": "Busy."}), "Busy."),
    "403": (lambda route: route.fulfill(status=403, json={"error": "No key."}), "No key."),
    "down": (lambda route: route.abort(), "cannot be reached"),
    "proxy": (lambda route: route.fulfill(status=502, body="<html>Bad</html>"), "on the server"),
    "not JSON": (lambda route: route.fulfill(body="<html>hello</html>"), "cannot be read"),
    "odd JSON": (lambda route: route.fulfill(json=[1]), "cannot be read"),
}


def test_errors_are_told_and_go_away(page: Page, expected: list[str]) -> None:
    expected.append(FAILED)
    translate(page)
    for fail, words in FAILURES.values():
        page.route("**/translate", fail, times=1)
        page.click("#go")
        expect(page.get_by_role("alert").filter(has_text=words)).to_be_visible()
        expect(page.locator("#result")).to_be_empty()
        expect(page.locator("#inside")).to_be_hidden()
        expect(page.locator("#busy")).to_be_empty()
    answers = translate(page)
    expect(page.locator("#alert")).to_be_empty()
    expect(page.locator("#result")).to_have_text(answers.translation["translatedText"])


def test_when_only_the_trace_fails_the_rest_stays(page: Page, expected: list[str]) -> None:
    expected.append(FAILED)
    page.route("**/trace", lambda route: route.fulfill(status=503, json={"error": "Busy."}))
    page.click("#go")
    alert = page.get_by_role("alert").filter(has_text="Busy.")
    expect(alert).to_be_visible()
    expect(page.locator("#maps table")).to_have_count(1)
    page.unroute("**/trace")
    alert.get_by_role("button").click()
    expect(page.locator("#masks table")).to_have_count(3)
    expect(page.locator(".trace-alert")).to_be_empty()


def test_a_translation_without_attention_is_shown_alone(page: Page) -> None:
    page.route("**/translate", lambda route: route.fulfill(json={"translatedText": "안녕"}))
    page.click("#go")
    expect(page.locator("#result")).to_have_text("안녕")
    expect(page.locator("#inside")).to_be_hidden()


@pytest.mark.parametrize("cancels", [True, False])
@pytest.mark.parametrize("path", ["translate", "trace"])
def test_a_late_answer_is_never_shown(page: Page, path: str, cancels: bool) -> None:
    """Also where the browser cannot cancel: then the answer comes and is dropped."""
    if not cancels:
        page.evaluate("AbortController.prototype.abort = () => {}")
    held: list[Route] = []
    page.route(f"**/{path}", lambda route: held.append(route), times=1)  # noqa: PLW0108
    page.fill("#text", "Too late.")
    with page.expect_request(f"**/{path}"):
        page.click("#go")
    answers = translate(page)
    shown = step_shown(page)
    [late] = held
    with suppress(Error):  # the browser has forgotten a request that was cancelled
        late.fulfill(json={"translatedText": "LATE", "steps": [], "masks": {}, "shapes": []})
    page.wait_for_timeout(100)
    expect(page.locator("#result")).to_have_text(answers.translation["translatedText"])
    assert step_shown(page) == shown


# What visitors write


def test_markup_stays_text(page: Page) -> None:
    text = """<script>alert("1")</script> & <img src=x onerror='alert(2)'> "it's" {word}"""
    answers = translate(page, text)
    expect(page.locator("#result")).to_have_text(answers.translation["translatedText"])
    shown = " ".join(page.locator('#links [data-side="source"]').all_inner_texts())
    words = [w["text"] for p in answers.translation["attention"] for w in p["source_words"]]
    assert shown == " ".join(words)
    assert page.locator("main script, main img").count() == 0


# Language and address


FOREIGN = """([lang, pattern]) => {
    const skip = `[lang="${lang}"], [translate="no"], [role="grid"] td, .says, #readout, noscript`;
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        if (element.closest(`${skip}, [hidden]`)) continue;
        const own = [...element.childNodes].filter(node => node.nodeType === 3);
        const texts = own.map(node => node.textContent);
        for (const name of ["aria-label", "title", "placeholder", "alt"]) {
            if (element.hasAttribute(name)) texts.push(element.getAttribute(name));
        }
        found.push(...texts.filter(text => new RegExp(pattern).test(text)));
    }
    return [...found, ...[document.title].filter(text => new RegExp(pattern).test(text))];
}"""
HANGUL = "[가-힣]"
ENGLISH = "[A-Za-z]{2,} +[A-Za-z]{2,}"


def test_the_page_speaks_one_language_at_a_time(page: Page, expected: list[str]) -> None:
    expected.append(FAILED)
    translate(page, SENTENCES)
    page.select_option("#head", "all")
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.evaluate(FOREIGN, ["ko", HANGUL]) == []
    page.click("#language")
    assert page.locator("html").get_attribute("lang") == "ko"
    assert page.evaluate(FOREIGN, ["en", ENGLISH]) == []
    expect(page.locator("#maps table")).to_have_count(4)
    page.route(
        "**/translate", lambda route: route.fulfill(status=429, json={"error": "Slow down."})
    )
    page.click("#go")
    expect(page.locator("#alert")).to_contain_text("Slow down.")
    assert page.evaluate(FOREIGN, ["en", ENGLISH]) == []
    page.click("#language")
    expect(page.locator("#alert")).to_contain_text("Slow down.")
    assert page.evaluate(FOREIGN, ["ko", HANGUL]) == []


def test_both_languages_say_the_same_things(page: Page) -> None:
    texts = page.evaluate("import('./page/words.js').then(module => module.TEXTS)")
    holes = {
        lang: {key: sorted(re.findall(r"\{\w+\}", text)) for key, text in said.items()}
        for lang, said in texts.items()
    }
    assert holes["ko"] == holes["en"]


def test_the_language_is_that_of_the_browser_the_choice_or_the_link(opened: Opener) -> None:
    page = opened(locale="ko-KR")
    html = page.locator("html")
    address = page.url
    expect(html).to_have_attribute("lang", "ko")
    page.click("#language")
    go(page, address + "?again")
    expect(html).to_have_attribute("lang", "en")
    go(page, address + "#lang=ko")
    expect(html).to_have_attribute("lang", "ko")
    expect(opened(locale="fr-FR").locator("html")).to_have_attribute("lang", "en")


def test_storage_may_be_forbidden(opened: Opener) -> None:
    forbid = """Object.defineProperty(window, "localStorage", {
        get() { throw new DOMException("no", "SecurityError"); } });"""
    page = opened(init=forbid)
    page.click("#language")
    assert page.locator("html").get_attribute("lang") == "ko"


def test_the_address_carries_text_level_and_language(opened: Opener) -> None:
    page = opened()
    translate(page, "A & B = 100 % #1?")
    during(page, lambda: page.check("[value=polite]"))
    page.click("#language")
    fragment = urlsplit(page.url).fragment
    assert parse_qs(fragment) == {
        "text": ["A & B = 100 % #1?"],
        "level": ["polite"],
        "lang": ["ko"],
    }
    shown = page.inner_text("#result")

    other = opened("#" + fragment)
    expect(other.locator("#result")).to_have_text(shown)
    expect(other.locator("#text")).to_have_value("A & B = 100 % #1?")
    expect(other.locator("[value=polite]")).to_be_checked()
    assert other.locator("html").get_attribute("lang") == "ko"
    other.wait_for_selector("#steps button")


def test_a_link_followed_on_the_open_page_translates(page: Page) -> None:
    translate(page)
    text = "I met a friend yesterday."
    link = f"{page.url.split('#')[0]}#text={quote(text)}&level=nonsense"
    answers = during(page, lambda: page.goto(link))
    expect(page.locator("#text")).to_have_value(text)
    expect(page.locator("#result")).to_have_text(answers.translation["translatedText"])
    expect(page.locator("[value=formal]")).to_be_checked()


# For everybody


def test_a_phone_needs_no_sideways_scrolling(opened: Opener) -> None:
    page = opened(viewport={"width": 360, "height": 740})
    narrow = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(narrow)
    translate(page, f"{SENTENCES} {'W' * 70} {'Long words are everywhere here, ' * 3}they say.")
    page.check("#pieces")
    page.click("#shapes summary")
    for kind in AXES:
        page.check(f"[name=kind][value={kind}]")
        for head in ["mean", "all"]:
            page.select_option("#head", head)
            assert page.evaluate(narrow)
    page.click("[data-step=last]")
    assert page.evaluate(narrow)
    page.click("#language")
    assert page.evaluate(narrow)
    unreachable = """[...document.querySelectorAll("main *")].filter(box =>
        box.scrollWidth > box.clientWidth
        && ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
        && !(box.tabIndex === 0 && box.getAttribute("aria-label"))
        && !box.matches("textarea, select")
    ).length"""
    assert page.evaluate(unreachable) == 0


def test_a_very_long_word_is_cut_short(opened: Opener, expected: list[str]) -> None:
    expected.append(FAILED)  # such a sentence is not traced
    page = opened(viewport={"width": 360, "height": 740})
    word = "a" * 1990
    page.fill("#text", word)
    with page.expect_response("**/trace"):
        page.click("#go")
    label = page.locator("#links .label", has_text=re.compile("a{20}")).first
    text = label.inner_text()
    assert len(text) > 20
    assert label.get_attribute("title") == text
    page.check("[name=kind][value=encoder]")
    heads = page.locator("#maps th")
    assert text in heads.all_inner_texts()
    for element in [*heads.all(), *page.locator("#links button").all()]:
        box = element.bounding_box()
        assert box is not None
        assert max(box["width"], box["height"]) < 300
    names = page.locator("#maps td[aria-label]").evaluate_all(
        "cells => cells.map(cell => cell.getAttribute('aria-label').length)"
    )
    assert max(names) < 120
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_the_tables_fit_or_show_that_they_scroll(opened: Opener) -> None:
    page = opened(viewport={"width": 360, "height": 740})
    translate(page, "I am a student and " * 3)
    page.check("#pieces")
    corner = page.locator("#maps .corner span")
    lines = "span => span.getClientRects().length === 1 && span.offsetHeight < 24"
    assert corner.evaluate(lines)
    cut = """box => [box.scrollWidth - box.clientWidth - box.scrollLeft > 1,
        getComputedStyle(box).maskImage !== "none"]"""
    boxes = page.locator("#inside .scroll")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    hints = [box.evaluate(cut) for box in boxes.all()]
    assert [True, True] in hints
    assert all(beyond == hinted for beyond, hinted in hints)
    boxes.first.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    page.wait_for_function(
        "box => !box.classList.contains('more')", arg=boxes.first.element_handle()
    )


CONTRAST = """() => {
    const parse = color => color.match(/[\\d.]+/g).map(Number);
    const shine = ([r, g, b]) => [r, g, b].map(part => part / 255).map(part =>
        part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = element => {
        for (let box = element; box; box = box.parentElement) {
            const color = parse(getComputedStyle(box).backgroundColor);
            if (color.length === 3 || color[3] === 1) return color;
        }
    };
    const low = [];
    for (const element of document.querySelectorAll("body *")) {
        const text = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!text || !element.checkVisibility()) continue;
        const [a, b] = [shine(parse(getComputedStyle(element).color)), shine(behind(element))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) low.push([ratio, element.className, element.textContent]);
    }
    return low;
}"""


PAINTED = """async ([share, name]) => {
    const { paint } = await import("./page/color.js");
    const box = document.createElement("span");
    document.body.append(box);
    paint(box, share);
    const painted = getComputedStyle(box).backgroundColor;
    box.style.backgroundColor = `var(${name})`;
    const wanted = getComputedStyle(box).backgroundColor;
    box.remove();
    return [painted, wanted];
}"""


def test_weights_have_the_colours_of_the_style(page: Page) -> None:
    found = set()
    for scheme in ["light", "dark"]:
        page.emulate_media(color_scheme=scheme)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        for share, name in [(0, "--card"), (1, "--accent")]:
            painted, wanted = page.evaluate(PAINTED, [share, name])
            assert painted == wanted
            found.add(painted)
    assert len(found) == 4


def test_every_text_stands_out(page: Page, expected: list[str]) -> None:
    expected.append(FAILED)
    page.emulate_media(color_scheme="light")
    translate(page, SENTENCES)
    page.check("#pieces")
    page.select_option("#head", "all")
    page.click("#shapes summary")
    by_mouse(page, "target", 1)
    assert page.evaluate(CONTRAST) == []
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(CONTRAST) == []
    page.route("**/translate", lambda route: route.abort())
    page.click("#go")
    expect(page.locator("#alert")).not_to_be_empty()
    for scheme in ["dark", "light"]:
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CONTRAST) == []


def test_headings_are_in_order_and_controls_have_names(page: Page) -> None:
    translate(page, SENTENCES)
    levels = page.locator("h1, h2, h3, h4").evaluate_all(
        "all => all.map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    nameless = page.locator("input, select, textarea").evaluate_all(
        "all => all.filter(control => !control.labels.length).map(control => control.outerHTML)"
    )
    assert nameless == []
    twice = "ids => ids.map(element => element.id).filter((id, at, all) => all.indexOf(id) !== at)"
    assert page.locator("[id]").evaluate_all(twice) == []
    for role in ["banner", "main", "contentinfo"]:
        expect(page.get_by_role(role)).to_have_count(1)


def test_the_first_tab_leads_past_the_header(page: Page) -> None:
    translate(page)
    address = page.url
    page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges()")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    assert page.url == address
