"""The converter against conversions that were checked by hand, one line at a time."""

from itertools import islice
from pathlib import Path

import pytest

from translator.cli import main
from translator.textfile import read_lines

pytest.importorskip("kiwipiepy")

from translator.corpus.build import missing_levels, written_levels
from translator.corpus.conjugation import conjugate_all, stem_key
from translator.corpus.convert import Converter
from translator.corpus.lexicon import Entry, Lexicon
from translator.corpus.lines import read_part

TABLE = [
    line.split("\t") for line in read_lines(Path(__file__).parents[1] / "data" / "conversions.tsv")
]
DATA = Path(__file__).parents[2] / "data"
NEARLY_ALL = 0.98
"""Another version of kiwipiepy may read single sentences otherwise."""


@pytest.fixture(scope="module")
def converter():
    return Converter()


def test_the_table_is_large_enough():
    assert len(TABLE) >= 400
    assert {level for level, _, _ in TABLE} == {"polite", "casual", "plain"}


def test_what_is_converted_is_right(converter):
    """A sentence may be left out, but not be converted to anything but the checked one."""
    wrong = [
        (source, found, right)
        for level, source, right in TABLE
        if (found := converter.convert(source, level, _is_suggestion(source, right))) is not None
        and found != right
    ]
    assert wrong == []


@pytest.mark.parametrize("level", ["polite", "casual", "plain"])
def test_nearly_everything_is_converted(converter, level):
    sources = [source for target, source, _ in TABLE if target == level]
    converted = [converter.convert(source, level) for source in sources]
    assert sum(text is not None for text in converted) > 0.85 * len(sources)


def _is_suggestion(source, right):
    """해요체 does not show a suggestion; whoever converts knows it from the formal sentence."""
    return source.rstrip(".!").endswith("요") and right.rstrip(".!").endswith("자")


@pytest.mark.parametrize(
    ("korean", "target", "expected"),
    [
        ("저는 학생입니다.", "polite", "저는 학생이에요."),
        ("저는 학생입니다.", "plain", "나는 학생이다."),
        ("저는 학생이에요.", "casual", "나는 학생이야."),
        ("저는 의사예요.", "casual", "나는 의사야."),
        ("이름이 무엇입니까?", "plain", "이름이 무엇이니?"),
        ("네, 제가 했어요.", "casual", "응, 내가 했어."),
        ("할머니께서 주무십니다.", "plain", "할머니께서 주무신다."),
        ("문을 닫으십시오.", "plain", "문을 닫아라."),
        ("같이 갑시다.", "plain", "같이 가자."),
        ("비가 오지 않습니다.", "plain", "비가 오지 않는다."),
        ("춥지 않습니다.", "plain", "춥지 않다."),
        ("안녕하세요?", "casual", "안녕?"),
        ('그는 "네."라고 했습니다.', "plain", None),
        ("성함이 어떻게 되십니까?", "plain", None),
        ("마음에 드시면 사십시오.", "plain", None),
        ("톰 씨, 이리 오세요.", "casual", None),
        ("어디에 계세요?", "casual", None),
        ("안녕히 주무세요.", "casual", None),
        ("그 병원은 자원봉사자들이 지었습니다.", "polite", None),
        ("수건은 제공됩니까, 아니면 가져가야 합니까?", "polite", None),
        ("우리 큰일 났습니다, 그렇지 않습니까?", "polite", None),
        ("추우니까, 문을 닫으십시오.", "polite", "추우니까, 문을 닫으세요."),
        ("늦다니 메리답지 않습니다.", "plain", "늦다니 메리답지 않다."),
        ("은행에서 온 편지", "plain", None),
    ],
)
def test_single_points(converter, korean, target, expected):
    assert converter.convert(korean, target) == expected


def test_conjugation():
    cases = [
        ("verb.do", "듣다", {"irr": ""}, "어요", "들어요"),
        ("verb.do", "닫다", {}, "어요", "닫아요"),
        ("verb.do", "짓다", {"irr": ""}, "은", "지은"),
        ("verb.do", "웃다", {}, "으세요", "웃으세요"),
        ("verb.do", "살다", {}, "습니다", "삽니다"),
        ("verb.do", "부르다", {}, "었습니다", "불렀습니다"),
        ("adj.thing", "춥다", {}, "은", "추운"),
        ("adj.thing", "좁다", {}, "은", "좁은"),
        ("adj.thing", "맛있다", {}, "은", "맛있는"),
        ("adj.thing", "전통적이다", {}, "어요", "전통적이에요"),
    ]
    entries = [Entry(korean, kind, "x", korean, extra) for kind, korean, extra, _, _ in cases]
    forms = {(key, ending): form for key, ending, form in conjugate_all(entries)}
    for entry, (_, _, _, ending, expected) in zip(entries, cases, strict=True):
        assert forms[stem_key(entry), ending] == expected


def test_the_committed_levels_are_what_the_converter_gives(converter):
    committed = {(line.en, line.level): line.ko for line in read_part(DATA, "converted")}
    made = {
        (english, level): korean
        for english, written in islice(written_levels(DATA).items(), 0, None, 50)
        for level, korean in missing_levels(converter, written).items()
    }
    assert {level for _, level in made} == {"polite", "casual", "plain"}
    same = [committed.get(key) == korean for key, korean in made.items()]
    assert sum(same) >= NEARLY_ALL * len(same) > 1000


def test_the_committed_conjugations_are_what_kiwipiepy_gives():
    committed = set(read_lines(DATA / "conjugations.tsv"))
    entries = [
        entry
        for entry in Lexicon.read(DATA / "lexicon").by_id.values()
        if entry.word_class.startswith(("verb", "adj"))
    ]
    same = ["\t".join(row) in committed for row in conjugate_all(entries[::20])]
    assert sum(same) >= NEARLY_ALL * len(same) > 1000


def test_a_suggestion_shows_in_the_formal_sentence_only(converter):
    written = {
        "formal": "오늘 저녁은 시내에서 먹읍시다.",
        "polite": "오늘 저녁은 시내에서 먹어요.",
    }
    suggestion = "오늘 저녁은 시내에서 먹자."
    assert missing_levels(converter, written) == {"casual": suggestion, "plain": suggestion}


def test_the_commands_that_build(tmp_path):
    for name, text in {
        "handwritten/a.tsv": "I am a student.\t저는 학생입니다.\tformal\n",
        "lexicon/a.tsv": "eat\tverb.do\teat\t먹다\t\n",
    }.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["corpus", "--data", str(tmp_path), "convert"]) == 0
    for level, korean in {
        "polite": "저는 학생이에요.",
        "casual": "나는 학생이야.",
        "plain": "나는 학생이다.",
    }.items():
        written = (tmp_path / "converted" / f"{level}.tsv").read_bytes().decode()
        assert written == f"I am a student.\t{korean}\t{level}\n"
    assert main(["corpus", "--data", str(tmp_path), "conjugate"]) == 0
    forms = (tmp_path / "conjugations.tsv").read_bytes().decode()
    assert "먹다\t습니다\t먹습니다\n" in forms and "먹다\t어요\t먹어요\n" in forms
