import pickle
from dataclasses import replace

import pytest
from conftest import PAIRS

from translator.config import DecodingConfig
from translator.documents import TranslatedLine, translate_lines
from translator.inference import Translator
from translator.translation import BLANK, TooLong

FORMAL = {en: ko for en, ko, level in PAIRS if level == "formal"}
A, B, C = list(FORMAL)[:3]


@pytest.mark.fault("B83")
def test_several_sentences_in_a_line_are_translated_one_by_one(translator):
    lines = [f"{A} {B}", "", C, "   ", f"  {C}   {A}  {B} "]
    found = translate_lines(translator, lines, "formal")
    assert [line.text for line in found] == [
        *(f"{FORMAL[A]} {FORMAL[B]}", "", FORMAL[C], ""),
        f"{FORMAL[C]} {FORMAL[A]} {FORMAL[B]}",
    ]
    assert [line.source for line in found] == lines
    assert [len(line.parts) for line in found] == [2, 0, 1, 0, 3]
    [one] = translator.translate([C])
    assert found[2].score == pytest.approx(one.score, abs=1e-4)
    assert found[1].finished and found[1].warnings == ()


@pytest.mark.fault("B77")
def test_a_sentence_that_is_too_long_is_split_and_says_so(translator):
    sentence = ", ".join([A.rstrip(".")] * 12) + "."
    assert not translator.fits(sentence)
    [line] = translate_lines(translator, [sentence], "formal")
    assert len(line.parts) > 1
    assert f"a long sentence was translated in {len(line.parts)} parts" in line.warnings
    options = replace(translator.config.decoding, too_long="cut")
    [line] = translate_lines(translator, [sentence], "formal", options)
    assert len(line.parts) == 1
    assert any("were translated; split the sentence" in warning for warning in line.warnings)


def test_the_line_that_is_too_long_is_named(translator):
    options = replace(translator.config.decoding, too_long="error")
    lines = [f"{A} {B}", "", "q" * 300]
    with pytest.raises(TooLong) as caught:
        translate_lines(translator, lines, "formal", options)
    assert caught.value.index == 2


def test_alternatives_of_a_line(translator):
    options = DecodingConfig(beam_size=4, n_best=3)
    [line] = translate_lines(translator, [f"{A} {B}"], "formal", options)
    alternatives = line.alternatives
    assert len(alternatives) == 2
    first = line.parts[0].alternatives[0], line.parts[1].alternatives[0]
    assert alternatives[0] == (f"{first[0].text} {first[1].text}", first[0].score + first[1].score)
    assert len({line.text, *(text for text, _ in alternatives)}) == 3


def test_a_part_with_fewer_alternatives_keeps_its_last():
    def written(*texts):
        first, *others = (
            replace(BLANK, text=text, score=-float(place)) for place, text in enumerate(texts)
        )
        return replace(first, alternatives=tuple(others))

    line = TranslatedLine(
        source="",
        text="가 다",
        sources=("", ""),
        parts=(written("가", "나"), written("다", "라", "마"), written("바")),
        warnings=(),
    )
    assert line.alternatives == (("나 라 바", -2.0), ("나 마 바", -3.0))


@pytest.mark.fault("B78")
def test_a_line_of_thousands_of_words_shifts_nothing(translator):
    lines = [list(FORMAL)[n % len(FORMAL)] for n in range(10)]
    lines[3] = "word " * 5000
    found = translate_lines(translator, lines, "formal")
    assert len(found) == 10
    assert [line.text for n, line in enumerate(found) if n != 3] == [
        FORMAL[line] for n, line in enumerate(lines) if n != 3
    ]


def test_sentences_may_be_split_before_the_model_is_full(translator):
    options = replace(translator.config.decoding, split_above=8)
    sentence = "I am a student, thank you."
    assert translator.fits(sentence) and not translator.fits(sentence, options)
    [line] = translate_lines(translator, [sentence], "formal", options)
    assert len(line.parts) > 1
    assert translator.fits("Thank you.", options)


def test_one_line_instead_of_a_list_is_refused(trained):
    with pytest.raises(TypeError, match="takes a list of lines"):
        translate_lines(Translator.from_pretrained(trained), "Thank you.", "polite")


def test_the_error_survives_another_process():
    error = pickle.loads(pickle.dumps(TooLong(3, 50, 46)))
    assert (
        error.index == 3 and str(error) == "50 pieces, but the model takes 46; split the sentence"
    )


def test_lines_may_come_one_by_one_and_a_warning_once(translator):
    [line, other] = translate_lines(translator, iter(["Hi &amp; you. We &amp; you.", A]))
    assert line.warnings.count("the source has tags or entities, which are not text") == 1
    assert len(line.parts) == 2 and other.text
