import random
import re

import pytest

from translator.corpus.conjugation import Conjugations
from translator.corpus.drawing import FrameSet
from translator.corpus.frames import FrameError, parse_frame
from translator.corpus.kinds import KINDS
from translator.corpus.lexicon import Entry, Lexicon, LexiconError
from translator.hangul import final_sound
from translator.romanization import romanized

ENTRIES = [
    Entry("apple", "food.fruit", "apple", "사과", {}),
    Entry("melon", "food.fruit", "melon", "멜론", {"cnt": "통"}),
    Entry("rice", "food", "rice", "밥", {"mass": ""}),
    Entry("scissors", "thing", "scissors", "가위", {"plonly": ""}),
    Entry("i", "subj", "I", "저|저|나|나", {"person": "1", "my": "my"}),
    Entry("she", "subj", "she", "그녀", {"person": "3", "my": "her"}),
    Entry("we", "subj", "we", "우리", {"person": "1pl", "my": "our"}),
    Entry("eat", "verb", "eat", "먹다", {"past": "ate", "pp": "eaten"}),
    Entry("us", "place", "United States", "미국", {"the": ""}),
    Entry("useful", "adj", "useful", "유용하다", {}),
    Entry("child", "person.age", "child", "아이", {"pl": "children"}),
]
TABLE = {
    ("먹다", "습니다"): "먹습니다",
    ("먹다", "어요"): "먹어요",
    ("유용하다+", "은"): "유용한",
}


def pairs(english, formal, slots, *, polite="", n=50):
    frame = parse_frame("\t".join(["f", english, formal, polite, "", "", slots]), "here:1")
    frame_set = FrameSet(Lexicon(ENTRIES), Conjugations(TABLE), [frame])
    return {pair.src: pair.tgt for pair in frame_set.draw(frame, n, "formal", seed=1)}


def test_words_particles_and_endings():
    found = pairs("{s} {v@s} {f:a}.", "{s}{은} {f}{을} {v:습니다}.", "s=subj;f=food.fruit;v=verb")
    assert found["I eat an apple."] == "저는 사과를 먹습니다."
    assert found["She eats a melon."] == "그녀는 멜론을 먹습니다."
    assert len(found) == 6


def test_levels_change_pronouns():
    frame = parse_frame("f\t{s} {s:be} here.\t{s}{이} 있다.\t\t{s}{이} 있어.\t\ts=subj", "here:1")
    frame_set = FrameSet(Lexicon(ENTRIES), Conjugations(TABLE), [frame])
    assert {p.tgt for p in frame_set.draw(frame, 9, "casual", 1)} >= {"내가 있어.", "그녀가 있어."}
    assert {p.tgt for p in frame_set.draw(frame, 9, "formal", 1)} >= {"제가 있다."}
    assert frame_set.draw(frame, 9, "polite", 1) == []


def test_agreement():
    found = pairs("{s} {s:isnt} late and {s:dont} care.", "{s}", "s=subj")
    assert set(found) == {
        "I'm not late and don't care.",
        "She isn't late and doesn't care.",
        "We aren't late and don't care.",
    }


def test_counting_skips_what_cannot_be_counted():
    found = pairs("{n} {x:pl}.", "{x} {n} {x:cnt}.", "n=#count;x=food,thing,person", n=200)
    words = {src.split()[1] for src in found}
    assert words == {"apples.", "melons.", "children."}
    assert all(("멜론" in ko) == ("통" in ko) for ko in found.values())
    assert all(("아이" in ko) == ("명" in ko) for ko in found.values())


@pytest.mark.parametrize("kind", ["#count", "#countdigits"])
def test_any_slot_may_count(kind):
    found = pairs("{m} {x:pl}.", "{x} {m} {x:cnt}.", f"m={kind};x=food", n=100)
    assert found and not any("rice" in src for src in found)


def test_plural_only_words_stay_out_of_singular_frames():
    assert set(pairs("This {x} is new.", "{x}", "x=thing,food.fruit")) == {
        "This apple is new.",
        "This melon is new.",
    }


def test_articles():
    assert set(pairs("He is a {a} {x}.", "{a:은} {x}", "a=adj;x=@child")) == {
        "He is a useful child."
    }
    assert set(pairs("I like {p}.", "{p}", "p=place")) == {"I like the United States."}
    assert set(pairs("I want {x:a}.", "{x}", "x=@rice")) == {"I want rice."}
    assert set(pairs("I like the {p}.", "{p}", "p=place")) == {"I like the United States."}


def test_two_slots_never_hold_the_same_word():
    found = pairs("{f:a} and {g:a}.", "{f}{과} {g}.", "f=food.fruit;g=food.fruit")
    assert set(found) == {"An apple and a melon.", "A melon and an apple."}


def test_excluded_and_exact_classes():
    lexicon = Lexicon(ENTRIES)
    assert [e.id for e in lexicon.select(["food"])] == ["apple", "melon", "rice"]
    assert [e.id for e in lexicon.select(["food!"])] == ["rice"]
    assert [e.id for e in lexicon.select(["food", "-@rice"])] == ["apple", "melon"]
    assert [e.id for e in lexicon.select(["@child", "@us"])] == ["child", "us"]


def test_the_same_seed_draws_the_same():
    arguments = ("{n} {x:pl}.", "{x} {n} {x:cnt}.", "n=#count;x=food.fruit")
    assert pairs(*arguments) == pairs(*arguments)


def test_words_by_themselves():
    entries = [
        *ENTRIES,
        Entry("glass.cup", "thing", "glass", "유리잔", {}),
        Entry("glass.material", "material", "glass", "유리", {"mass": ""}),
        Entry("glasses", "thing", "glasses", "안경", {"plonly": ""}),
        Entry("manager", "person.job", "manager", "매니저|매니저|지배인|지배인", {}),
        Entry("anna", "name.first", "Anna", "안나", {}),
    ]
    frame_set = FrameSet(Lexicon(entries), Conjugations(TABLE), [])
    found = list(frame_set.words(["formal", "casual"]))
    assert {(pair.src, pair.tgt) for pair in found} == {
        ("apple", "사과"),
        ("an apple", "사과"),
        ("melon", "멜론"),
        ("a melon", "멜론"),
        ("rice", "밥"),
        ("scissors", "가위"),
        ("the United States", "미국"),
        ("child", "아이"),
        ("a child", "아이"),
        ("a glass", "유리잔"),
        ("glasses", "안경"),
        ("Anna", "안나"),
    }
    assert {pair.level for pair in found} == {"formal", "casual"}
    assert len(found) == 2 * 12, "each once at each level"


def test_invented_korean_names_are_spelled_by_the_official_romanisation():
    rng = random.Random(1)
    for _ in range(200):
        name, district = KINDS["#koreanname"](rng), KINDS["#district"](rng)
        assert name.en.replace("-", "").lower() == romanized(name.ko)
        assert name.en[0].isupper() and name.en.count("-") <= 1 and len(name.ko) == 2
        first, second = name.ko
        assert final_sound(first) in ".ㄴㅁㅇ" and second not in "라리루로르", "no sound changes"
        assert district.en.removesuffix("-dong").lower() == romanized(district.ko[:2])
        assert district.ko.endswith("동") and len(district.ko) == 3


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_can_be_made(kind):
    rng = random.Random(0)
    for _ in range(200):
        made = KINDS[kind](rng)
        assert made.en and made.ko
        numbers = list(map(int, re.findall(r"\d+", made.en.replace(",", ""))))
        if kind in {"#newname", "#product", "#code", "#email", "#url", "#phone"}:
            assert made.en == made.ko, "copied as it is"
        elif numbers and kind != "#date":
            assert numbers == list(map(int, re.findall(r"\d+", made.ko.replace(",", ""))))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f\tA.\t가.", "expected 7 columns, found 3"),
        ("f\t{x}.\t{x.\t\t\t\tx=food", "a brace is out of place"),
        ("f\t{x}.\t{y}.\t\t\t\tx=food", "there is no slot y"),
        ("f\t{x}.\t{x}{언}.\t\t\t\tx=food", "unknown particle {언}"),
        ("f\tA.\t{x}.\t\t\t\tx=food", "the English does not use the slot x"),
        ("f\t{x}.\t{x}.\t\t\t\tx", "a slot is written name=class"),
        ("\tA.\t가.\t\t\t\t", "the columns id and English may not be empty"),
        ("f\t \t가.\t\t\t\t", "the columns id and English may not be empty"),
        ("f\t{x:plu}.\t{x}.\t\t\t\tx=food", r"here:1: unknown form {x:plu}; there are a, the, pl,"),
        ("f\t{v}.\t{v:슨니다}.\t\t\t\tv=verb", r"here:1: unknown form {v:슨니다}; .* 습니다,"),
    ],
)
def test_malformed_frames_are_named(line, message):
    with pytest.raises(FrameError, match=message):
        parse_frame(line, "here:1")


@pytest.mark.parametrize(
    ("slots", "message"),
    [("x=nonsense", "no entry has the class nonsense"), ("x=@nobody", "there is no entry nobody")],
)
def test_unknown_fillers_are_named(slots, message):
    with pytest.raises(LexiconError, match=message):
        pairs("{x}.", "{x}.", slots)
    with pytest.raises(FrameError, match="unknown kind #nonsense"):
        pairs("{x}.", "{x}.", "x=#nonsense")


def test_made_slots_have_no_forms():
    with pytest.raises(FrameError, match="a made slot has no Korean forms"):
        pairs("{n}.", "{n:cnt}", "n=#count")
    with pytest.raises(FrameError, match="a made slot cannot agree"):
        pairs("{s} {n@s}.", "{n}", "s=subj;n=#count")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tb\tc", "expected id, class, English, Korean and extra"),
        ("a\tb\tc\t가|나\t", "Korean has one form, or four"),
        ("a\tb\tc\t가\tperson=9", "person is one of 1, 3, 1pl, 3pl"),
    ],
)
def test_malformed_entries_are_named(tmp_path, line, message):
    (tmp_path / "words.tsv").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(LexiconError, match=rf"words\.tsv:1: {message}"):
        Lexicon.read(tmp_path)


def test_a_missing_form_says_how_to_make_it():
    with pytest.raises(LexiconError, match="translator corpus conjugate"):
        pairs("{v}.", "{v:던}", "v=verb")
