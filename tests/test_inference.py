import random
import string
import unicodedata

import pytest
import torch
from conftest import PAIRS

from translator.decoding import Hypothesis
from translator.inference import Translator
from translator.tokenizer import TokenizerError
from translator.translation import BLANK, TooLong, suspicions

ENGLISH = [en for en, _, level in PAIRS if level == "formal"]
KOREAN = [ko for _, ko, level in PAIRS if level == "formal"]
STRANGE = [
    "salad",
    "?",
    "aaaaaaaa",
    "........",
    "😀😀",
    "".join(random.Random(0).choices(string.ascii_letters + " ", k=300)),
    "저는 학생입니다.",
    "1234567890",
    "I am a student. " * 30,
]


def with_decoding(translator: Translator, **changes: object) -> Translator:
    config = translator.config.override([f"decoding.{k}={v}" for k, v in changes.items()])
    return Translator(translator.model, translator.tokenizer, config)


@pytest.mark.fault("B06")
@pytest.mark.parametrize("batch_size", [1, 2, 3])
def test_one_line_out_for_one_line_in(translator, batch_size):
    lines = [ENGLISH[0], "", "", ENGLISH[1], "   ", "\u3000", ENGLISH[2]]
    found = with_decoding(translator, batch_size=batch_size).translate(lines)
    expected = [KOREAN[0], "", "", KOREAN[1], "", "", KOREAN[2]]
    assert [translation.text for translation in found] == expected
    assert found[1] == BLANK


@pytest.mark.fault("B06")
def test_the_model_is_not_called_for_blanks(translator, monkeypatch):
    monkeypatch.setattr(translator.model, "start", None)  # any call would fail
    assert translator.translate(["", " ", "\u3000"]) == [BLANK] * 3
    assert translator.translate([]) == []


@pytest.mark.fault("B06")
def test_many_lines_with_every_fourth_blank(translator):
    lines = ["" if i % 4 == 3 else ENGLISH[i % len(ENGLISH)] for i in range(1300)]
    found = translator.translate(lines)
    expected = ["" if i % 4 == 3 else KOREAN[i % len(KOREAN)] for i in range(1300)]
    assert [translation.text for translation in found] == expected


@pytest.mark.fault("B69")
def test_a_sentence_alone_and_in_any_company(translator):
    """Short beside long, in every batch size and order: the same text, scores within 1e-4."""
    lines = [*ENGLISH, "Thank", " ".join(["rice"] * 40), *STRANGE]
    alone = [translator.translate([line])[0] for line in lines]
    for batch_size, seed in ((2, 1), (32, 2), (64, 3)):
        order = list(range(len(lines)))
        random.Random(seed).shuffle(order)
        found = with_decoding(translator, batch_size=batch_size).translate(
            [lines[i] for i in order]
        )
        for i, translation in zip(order, found, strict=True):
            assert translation.text == alone[i].text
            assert translation.score == pytest.approx(alone[i].score, abs=1e-4)
            assert translation.warnings == alone[i].warnings


@pytest.mark.fault("B39")
def test_without_the_cache_the_text_is_the_same(translator):
    lines = [*ENGLISH, "Thank you, teacher.", "Where is my soup?", *STRANGE]
    cached = translator.translate(lines)
    assert [t.ids for t in translator.translate(lines, use_cache=False)] == [t.ids for t in cached]


@pytest.mark.fault("B75")
def test_strange_input_is_bounded_and_flagged(translator):
    for line, translation in zip(STRANGE, translator.translate(STRANGE), strict=True):
        n_source = len(translator.tokenizer.encode(line)) + 2
        assert len(translation.ids) <= min(47, 2 * n_source + 20)
        assert not any("\u1100" <= c <= "\u11ff" or c in "⁇\n\r\u2028" for c in translation.text)
        if not translation.finished:
            assert "cut off at the length limit" in translation.warnings


def test_alternatives_are_different_texts(translator, monkeypatch):
    """One text can be cut into pieces in several ways; a search tells those apart."""
    hypothesis = translator.tokenizer.encode(KOREAN[0])
    ways = [
        Hypothesis([*hypothesis, *more], score, finished=True)
        for score, more in enumerate([[], [], hypothesis, [], 2 * hypothesis, 3 * hypothesis])
    ]
    asked = []

    def search(_sources, _prefixes, _limits, options, _use_cache):
        asked.append((options.beam_size, options.n_best))
        return [ways]

    monkeypatch.setattr(translator._engine, "search", search)
    options = translator.config.decoding.asked(beam_size=6, n_best=3)
    [found] = translator.translate([ENGLISH[0]], options=options)
    assert asked == [(6, 6)]
    assert [found.score, *(other.score for other in found.alternatives)] == [0, 2, 4]


@pytest.mark.fault("B75")
def test_what_counts_as_suspicious():
    def found(ids, finished=True, n_source=5):
        return list(suspicions(n_source, Hypothesis(ids, -1.0, finished)))

    assert found([9, 8, 7, 6, 5]) == []
    assert found([9, 8, 7, 6] * 3) == []
    assert found([9, 8, 7, 6] * 4, n_source=9) == ["a phrase repeats itself"]
    assert found(list(range(16))) == ["much longer than the source"]
    assert found(list(range(9)), n_source=1) == [], "a short word may need several pieces"
    assert found([]) == ["nothing was written"]
    assert found([9], finished=False) == ["cut off at the length limit"]


@pytest.mark.fault("B45")
@pytest.mark.parametrize("n_pieces", [45, 46, 47, 5000])
def test_a_source_above_the_limit_is_cut_and_said_so(translator, n_pieces):
    """max_len is 48: 46 pieces, the tag and eos."""
    text = "q" * (n_pieces - 1)
    assert len(translator.tokenizer.encode(text)) == n_pieces
    [translation] = translator.translate([text])
    said = [w for w in translation.warnings if w.startswith("only the first 46 of")]
    assert bool(said) == (n_pieces > 46)
    strict = with_decoding(translator, too_long="error")
    if n_pieces > 46:
        with pytest.raises(TooLong, match=rf"^{n_pieces} pieces, but the model takes 46") as caught:
            strict.translate(["Hi", text])
        assert caught.value.index == 1
    else:
        assert strict.translate([text])[0].text == translation.text


@pytest.mark.fault("B45")
def test_a_longer_table_of_positions_fits_an_old_checkpoint(translator):
    config = translator.config.override(["model.max_len=64"])
    model = type(translator.model)(config.model, translator.tokenizer.vocab_size).eval()
    model.load_state_dict(translator.model.state_dict())
    longer = Translator(model, translator.tokenizer, config)
    assert [t.text for t in longer.translate(ENGLISH)] == KOREAN


@pytest.mark.fault("B23")
def test_decomposed_input_and_odd_separators_change_nothing(translator):
    line = "학생 is a student.\u2028Thank\x85you"
    plain, odd = translator.translate(
        ["학생 is a student. Thank you", unicodedata.normalize("NFD", line)]
    )
    assert plain.ids == odd.ids
    assert unicodedata.is_normalized("NFC", odd.text)


@pytest.mark.fault("B46")
def test_attention_maps_belong_to_the_translation(translator):
    text = "Where is the station?"
    [translation] = translator.translate([text])
    maps = translator.attention_maps(text, translation, "formal")
    s = len(translator.tokenizer.encode(text)) + 2
    t = len(translation.ids) + 1
    assert maps.encoder.shape == (2, 1, 4, s, s)
    assert maps.decoder.shape == (2, 1, 4, t, t)
    assert maps.cross.shape == (2, 1, 4, t, s)
    torch.testing.assert_close(maps.cross.sum(-1), torch.ones(2, 1, 4, t))
    assert translator.translate([text]) == [translation]


def test_the_style_decides_the_level(translator):
    text = "I am a student."
    assert translator.translate([text], "formal")[0].text == "저는 학생입니다."
    assert translator.translate([text], "polite")[0].text == "저는 학생이에요."
    with pytest.raises(TokenizerError, match="unknown speech level 'rude'; choose"):
        translator.translate([text], "rude")


def test_one_text_instead_of_a_list_is_a_programming_error(translator):
    with pytest.raises(TypeError, match="takes a list of texts"):
        translator.translate("Hello.")
    with pytest.raises(TypeError, match="text 1 is NoneType, not str"):
        translator.translate(["Hello.", None])


def test_any_iterable_of_texts_will_do(translator):
    assert translator.translate(iter(ENGLISH)) == translator.translate(ENGLISH)


def test_the_score_is_the_log_probability_of_the_tokens(translator):
    """To the rounding of the tokens that are compared in whole numbers; without the fast layout
    exactly.
    """
    [translation] = translator.translate(["Thank you."])
    [readable] = translator.translate(["Thank you."], use_cache=False)
    src = torch.tensor([translator.tokenizer.encode_source("Thank you.", "formal")])
    labels = [*translation.ids, 3]
    with torch.no_grad():
        logits = translator.model(src, torch.tensor([[2, *translation.ids]]))[0]
    logits[:, translator.tokenizer.never_generated] = -torch.inf
    expected = logits.log_softmax(-1)[range(len(labels)), labels].sum().item()
    assert readable.score == pytest.approx(expected, abs=1e-4)
    assert translation.score == pytest.approx(expected, abs=0.02)


@pytest.mark.fault("B84")
def test_what_was_not_carried_over_is_named(translator):
    [found] = translator.translate(["Thank you 12,345 https://example.org/a?b=1."])
    assert found.warnings[-1] == "not carried over: 12,345, https://example.org/a?b=1"
    assert not any(
        "carried" in warning for warning in translator.translate(["Thank you."])[0].warnings
    )


def test_a_source_without_english_is_noticed(trained):
    translator = Translator.from_pretrained(trained)
    said = "the source has no English letters"
    found = translator.translate(
        ["안녕하세요", "Привет 12", "Thank you.", "저는 student", "7!", "?"]
    )
    assert [said in one.warnings for one in found] == [True, True, False, False, False, False]


def test_one_beginning_for_several_texts_is_a_slip(translator):
    with pytest.raises(TypeError, match="one for each text in a list, got a single text"):
        translator.translate(ENGLISH[:2], prefixes="저는")


@pytest.mark.parametrize(
    ("text", "told"),
    [("<b>Hi</b> you", True), ("Tom &amp; I", True), ("Hi &#39;", True), ("a < b & c > d", False)],
)
def test_what_looks_like_a_web_page_is_noticed(translator, text, told):
    [found] = translator.translate([text])
    assert ("the source has tags or entities, which are not text" in found.warnings) == told
