"""What has to stay as it is goes out of a text and comes back."""

from pathlib import Path

import pytest
from conftest import PAIRS, small_config, write_tsv

from translator import vocabulary
from translator.config import Config, ModelConfig, TokenizerConfig
from translator.copying import lost
from translator.decoding import Hypothesis
from translator.hangul import attach
from translator.inference import Translator
from translator.looking import Looking
from translator.model.transformer import Transformer
from translator.pairs import Pair, Report, read_pairs
from translator.placeholders import hide, hide_in, hide_pair, invented, show
from translator.tokenizer import PAD_ID
from translator.trainer import train

SIZES = ModelConfig(d_model=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, d_ff=16)


@pytest.mark.fault("B84")
@pytest.mark.parametrize(
    ("english", "hidden", "things"),
    [
        ("Call 010-1234-5678 today.", "Call <1> today.", ["010-1234-5678"]),
        ("Room B12 costs 45,000 won.", "Room <1> costs <2> won.", ["B12", "45,000"]),
        ("Write to kim.lee@mail.example.com.", "Write to <1>.", ["kim.lee@mail.example.com"]),
        (
            "See https://example.org/a?b=1, please.",
            "See <1>, please.",
            ["https://example.org/a?b=1"],
        ),
        ("12 of 12, not 13.", "<1> of <1>, not <2>.", ["12", "13"]),
        ("Come at 7:40 with 2 friends.", "Come at 7:40 with 2 friends.", []),
        ("11 12 13 14 15 16", "<1> <2> <3> <4> 15 16", ["11", "12", "13", "14"]),
        ("I wrote <1> and 25.", "I wrote <1> and 25.", ["<1>"]),
        ("It was in the 1990s.", "It was in the 1990s.", []),
        ("Meet me at 10pm on the 25th.", "Meet me at 10pm on the 25th.", []),
        ("a 12-year-old boy at 10a.m.", "a 12-year-old boy at 10a.m.", []),
        (
            "See Example.com or HTTPS://A.IO/B.",
            "See <1> or <2>.",
            ["Example.com", "HTTPS://A.IO/B"],
        ),
        ("My reservation number is L-8806.", "My reservation number is <1>.", ["L-8806"]),
    ],
)
def test_what_is_hidden(english, hidden, things):
    found = hide(english)
    assert found.text == hidden
    assert list(found.things.values()) == things


@pytest.mark.fault("B35")
@pytest.mark.parametrize(
    ("korean", "thing", "shown"),
    [
        ("<1>을 누르십시오.", "12", "12를 누르십시오."),
        ("<1>을 누르십시오.", "13", "13을 누르십시오."),
        ("<1>으로 보내 주십시오.", "kim@example.kr", "kim@example.kr로 보내 주십시오."),
        ("<1>명이 왔습니다.", "25", "25명이 왔습니다."),
        ("비밀번호는 <1>이에요.", "A12", "비밀번호는 A12예요."),
        ("<2> 그리고 <1>", "12", "그리고 12"),
        ("<7> 그리고 <1>", "12", "<7> 그리고 12"),
        ("<1>을 썼습니다.", "<1>", "<1>을 썼습니다."),
        ("<1>으로는 안 됩니다.", "12", "12로는 안 됩니다."),
        ("<1>이나 <1>이라도", "13", "13이나 13이라도"),
    ],
)
def test_particles_follow_the_sound_of_what_comes_back(korean, thing, shown):
    assert show(korean, {"<1>": thing}) == shown


def test_both_sides_of_a_pair_or_none():
    pair = Pair("Call 010-1234-5678 at 11.", "11시에 010-1234-5678로 전화하세요.", "polite")
    assert hide_pair(pair)[:2] == ("Call <1> at <2>.", "<2>시에 <1>으로 전화하세요.")
    pair = Pair("I have 20 books.", "책이 스무 권 있습니다.", "formal")
    assert hide_pair(pair) == pair


def test_a_given_beginning_is_hidden_like_the_source():
    things = hide("Call 4771 or 010-1234-5678.").things
    assert hide_in("4771로 전화하거나", things) == "<1>으로 전화하거나"
    assert hide_in("477로", things) == "477로"


def test_what_stands_for_nothing_is_noticed():
    assert invented("<2>번 <1>", {"<1>": "12"})
    assert not invented("<1>번 <1> <7>", {"<1>": "12"})


def test_what_is_hidden_in_use_was_hidden_in_training():
    """But for what Korean counts in other units (10만 원)."""
    paths = sorted((Path(__file__).parents[1] / "data").glob("h*/*.tsv"))
    pairs = [pair for path in paths for pair in read_pairs([str(path)], Report())]
    differing = [pair.src for pair in pairs if hide(pair.src).text != hide_pair(pair).src]
    hidden = [pair.src for pair in pairs if hide_pair(pair) != pair]
    assert len(hidden) > 500
    assert len(differing) < 0.02 * len(hidden), differing


def test_what_is_hidden_comes_back_in_the_whole_corpus():
    paths = sorted((Path(__file__).parents[1] / "data").glob("h*/*.tsv"))
    pairs = [pair for path in paths for pair in read_pairs([str(path)], Report())]
    n_hidden = 0
    for pair in pairs:
        hidden = hide_pair(pair)
        n_hidden += hidden != pair
        assert show(hidden.tgt, hide(pair.src).things) == pair.tgt
        if lost(pair.src, pair.tgt) == []:
            assert "<" not in show(hidden.tgt, hide(pair.src).things)
    assert n_hidden > 500


def test_a_model_without_placeholders_leaves_them_alone(monkeypatch):
    """Its texts are its own: what looks like a placeholder is none."""
    monkeypatch.setattr(vocabulary, "PLACEHOLDERS", ())
    lines = [text for pair in PAIRS for text in pair[:2]]
    tokenizer = vocabulary.train_tokenizer(lines, TokenizerConfig())
    assert not tokenizer.has_placeholders
    translator = Translator(Transformer(SIZES, tokenizer.vocab_size, PAD_ID), tokenizer, Config())
    assert translator.encode_source("<1> 12", "formal")[1:-1] == tokenizer.encode("<1> 12")
    hypothesis = Hypothesis(tokenizer.encode("<1> 12"), 0.0, True)
    assert translator._finish("<1> 12", {}, [0] * 9, hypothesis).text == "<1> 12"


@pytest.mark.fault("B84")
def test_what_was_never_seen_is_carried_over(tmp_path):
    """A model that has met ten numbers copies any other, and addresses, with the right particle."""
    pairs = [
        (f"Call {n} now.", f"지금 {attach(str(n), '으로')} 전화하십시오.", "formal")
        for n in range(20, 30)
    ]
    corpus = write_tsv(tmp_path / "pairs.tsv", pairs)
    config = small_config(corpus, tmp_path / "run", max_steps=80, validate_every=80)
    list(train(config))
    translator = Translator.from_pretrained(tmp_path / "run")
    for thing, particle in (("010-9876-5433", "으로"), ("4771", "로"), ("kim@example.kr", "로")):
        [translation] = translator.translate([f"Call {thing} now."])
        assert translation.text == f"지금 {thing}{particle} 전화하십시오."
        assert translation.warnings == ()
        looking = Looking(translator, f"Call {thing} now.", translation, "formal")
        rows, columns = looking.axes("cross")
        assert "<1>" in columns.pieces and "<1>" in "".join(rows.pieces)
        assert thing in [word.text for word in columns.words]
        assert any(word.text.startswith(thing) for word in rows.words), "words are for people"
        hypothesis = Hypothesis(translator.tokenizer.encode("<2> <1>"), 0.0, True)
        found = translator._finish(f"Call {thing}.", {"<1>": thing}, [0] * 9, hypothesis)
        assert found.text == thing
        assert found.warnings == ("a number or address that the source lacks was left out",)
    [begun] = translator.translate(["Call 4771 now."], prefixes=["지금 4771로"])
    assert begun.text == "지금 4771로 전화하십시오."
    assert "<1>" in "".join(begun.pieces), "a given beginning is hidden like the source"
