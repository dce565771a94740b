"""The model inside the package does what the README promises."""

import random
import re
from pathlib import Path

import pytest
import torch

from translator.checkpoint import PRETRAINED, load_safely
from translator.documents import translate_lines
from translator.inference import Translator
from translator.textfile import read_lines

PHRASEBOOK = Path(__file__).parent / "data" / "phrasebook.tsv"


@pytest.fixture(scope="module")
def shipped() -> Translator:
    return Translator.from_pretrained()


def test_it_is_small_and_stored_in_half_precision():
    assert PRETRAINED.stat().st_size <= 20 * 2**20
    weights = load_safely(PRETRAINED)["weights"].values()
    assert {weight.dtype for weight in weights} == {torch.float16}
    assert sum(weight.numel() for weight in weights) <= 10_000_000


@pytest.mark.parametrize(
    ("style", "korean"),
    [
        ("formal", "저는 학생입니다."),
        ("polite", "저는 학생이에요."),
        ("casual", "나는 학생이야."),
        ("plain", "나는 학생이다."),
    ],
)
@pytest.mark.parametrize("english", ["I am a student.", "I am a student", "i am a student"])
def test_the_sentence_of_the_chapter(shipped, english, style, korean):
    assert shipped.translate([english], style)[0].text == korean


def test_the_phrasebook_is_judged_in_the_card(shipped):
    """It lists what the model makes of forty sentences that people try first, each judged by a
    reader; whoever trains a new model has to judge anew.
    """
    rows = [line.split("\t") for line in read_lines(PHRASEBOOK)]
    card = (PRETRAINED.parent / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| (.+?) \| (.+?) \| (good|acceptable|wrong)(?:: .+)? \|$", card, re.M)
    assert [row[0] for row in found] == [english for english, _ in rows]
    assert len(rows) == 40
    said = [translation.text for translation in shipped.translate([row[0] for row in found])]
    assert said == [row[1] for row in found]


@pytest.mark.fault("B69")
def test_alone_equals_batched(shipped):
    lines = [
        "Hello.",
        "Where is the nearest subway station?",
        "My brother wanted to buy a new bicycle, but it was far too expensive for him.",
        "Yes.",
        "What time does the museum open on Sundays?",
        "She told me that she had already seen the film twice.",
    ]
    alone = [shipped.translate([line])[0] for line in lines]
    for seed in range(3):
        order = random.Random(seed).sample(range(len(lines)), len(lines))
        found = shipped.translate([lines[i] for i in order])
        assert [t.text for t in found] == [alone[i].text for i in order]
        for i, translation in zip(order, found, strict=True):
            assert translation.score == pytest.approx(alone[i].score, abs=1e-3)


@pytest.mark.fault("B39")
def test_with_and_without_cache(shipped):
    lines = ["I met an old friend yesterday.", "Could you help me?", "It rained all day."] * 7
    cached = [t.text for t in shipped.translate(lines)]
    assert [t.text for t in shipped.translate(lines, use_cache=False)] == cached


@pytest.mark.fault("B75")
@pytest.mark.parametrize(
    "text", ["salad", "?", "aaaaaaaa", "........", "😀😀", "x" * 300, "저는 학생입니다.", "12345"]
)
def test_strange_input_gives_one_bounded_line(shipped, text):
    [translation] = shipped.translate([text])
    n_source = len(shipped.tokenizer.encode(text)) + 2
    assert len(translation.ids) <= 2 * n_source + 20
    assert "\n" not in translation.text
    assert translation.finished or "cut off at the length limit" in translation.warnings


def test_a_sentence_longer_than_the_model_is_split_at_clauses(shipped):
    sentence = ", and ".join(["I met a friend at the station yesterday"] * 40) + "."
    [line] = translate_lines(shipped, [sentence], "formal")
    assert 5 < len(line.parts) < 40
    assert line.warnings[0].startswith("a long sentence was translated in ")
    assert line.text.count("친구") >= len(line.parts)
