"""Whatever stands in a line, one line comes out."""

import random

import pytest

from translator.documents import translate_lines

BLOCKS = [(0, 32), (32, 127), (0x80, 0x800), (0x3000, 0xD7FF), (0xE000, 0xFFFF)]
BLOCKS += [(0x1F300, 0x1FAFF)]
SCRIPTS = [
    *"अबجשж üあ中한e ",
    "\u0301",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\x00",
    "\x1b",
    "\x85",
    "\u2028",
]
WORDS = [
    "the",
    "cat",
    "1,000",
    "http://a.b/c?d=1",
    "a@b.kr",
    "!!!",
    "don’t",
    "I",
    "😀🎉",
    "<b>",
    "\t",
]
HUGE = ["a" * 10_000, "a b " * 2_500, ". " * 5_000, "가" * 10_000, "😀" * 10_000, "\x00" * 10_000]
HUGE += ["? A" * 3_300, "(" * 10_000, "1 " * 5_000, ",," * 5_000]


def odd_line(rng: random.Random) -> str:
    kind = rng.randrange(3)
    if kind == 0:
        chosen = [chr(rng.randrange(*rng.choice(BLOCKS))) for _ in range(rng.randrange(60))]
        return "".join(chosen).replace("\n", " ")
    if kind == 1:
        return "".join(rng.choices(SCRIPTS, k=rng.randrange(1, 60)))
    return " ".join(rng.choices(WORDS, k=rng.randrange(1, 20)))


@pytest.mark.fault("B77")
def test_five_thousand_odd_lines(translator):
    rng = random.Random(7)
    lines = [odd_line(rng) for _ in range(4_990)] + HUGE
    rng.shuffle(lines)
    found = translate_lines(translator, lines, "formal")
    assert [line.source for line in found] == lines
    longest = translator.config.model.max_len
    for line in found:
        assert "\n" not in line.text and "\r" not in line.text
        line.text.encode("utf-8")  # no half of a character
        assert all(len(part.ids) < longest for part in line.parts)  # so that time is bounded
        pieces = len(translator.tokenizer.encode(line.source))
        assert len(line.parts) <= pieces + 1
    for line in (found[lines.index(text)] for text in HUGE[:4]):
        assert line.warnings
