import inspect
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import translator
from translator.levels import LEVELS
from translator.pairs import Pair, Report, files_of, read_pairs
from translator.textfile import DataError, read_lines
from translator.tokenizer import normalize


def read(*entries: object, encoding: str = "utf-8") -> tuple[list[Pair], Report]:
    report = Report()
    return list(read_pairs([str(entry) for entry in entries], report, encoding)), report


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.fault("B07")
def test_a_line_ends_at_newline_and_nowhere_else(tmp_path):
    text = "one\t하나\r\ntwo\u2028two\x85two\x0cx\t둘\x0b둘\nthree\t셋"
    path = write(tmp_path / "pairs.tsv", text)
    pairs, report = read(path)
    assert list(read_lines(path)) == [
        "one\t하나",
        "two\u2028two\x85two\x0cx\t둘\x0b둘",
        "three\t셋",
    ]
    assert report.kept == 3
    assert pairs[1] == Pair("two two two x", "둘 둘", "any")
    assert pairs[2].tgt == "셋", "a missing last newline keeps the last line"


@pytest.mark.fault("B07")
def test_our_code_never_splits_at_other_separators():
    for path in Path(inspect.getfile(translator)).parent.rglob("*.py"):
        assert ".splitlines(" not in path.read_text(encoding="utf-8"), path


@pytest.mark.fault("B10")
def test_another_encoding_is_named_and_can_be_asked_for(tmp_path):
    path = write(tmp_path / "old.tsv", "Hello\tHello\nHi, world\t안녕 세상\n", "cp949")
    with pytest.raises(DataError) as caught:
        read(path)
    assert f"{path}: line 2: byte 10" in str(caught.value)
    assert "data.encoding=cp949" in str(caught.value)
    with pytest.raises(DataError, match=r"say so \(data\.encoding=cp949, --encoding cp949\)"):
        read(path, encoding="UTF8")
    assert read(path, encoding="cp949")[0][1].tgt == "안녕 세상"
    write(path, "Hi\t안녕\n")
    with pytest.raises(DataError, match=r"is not cp949; .* say so \(data\.encoding=utf-8"):
        read(path, encoding="cp949")
    with pytest.raises(DataError, match="unknown or unsuitable encoding 'utf-9'"):
        read(path, encoding="utf-9")


@pytest.mark.fault("B12")
def test_quotes_mean_nothing_and_odd_rows_are_reported(tmp_path):
    rows = '"Hello\t안녕\nHe said "no\t그는 "아니\na\tb\tc\nonly-one-column\n'
    pairs, report = read(write(tmp_path / "pairs.tsv", rows))
    assert [pair[:2] for pair in pairs] == [('"Hello', "안녕"), ('He said "no', '그는 "아니')]
    assert report.kept == 2
    assert [line.split(" (")[0] for line in report.lines()] == [
        "1 pair dropped: the third column is not a speech level",
        "1 pair dropped: no tab between English and Korean",
    ]
    advice = f"keep two columns (cut -f1,2) (first: {tmp_path}/pairs.tsv:3)"
    assert report.lines()[0].endswith(advice)


def test_more_than_three_columns_are_none_of_ours(tmp_path):
    """As in an export with ids and dates, whose first columns are not what they seem."""
    pairs, report = read(write(tmp_path / "pairs.tsv", "1\tHello\t2\t안녕\nHi\t안녕\n"))
    assert [pair.src for pair in pairs] == ["Hi"]
    assert report.dropped == {"4 columns instead of 2 or 3": 1}


def test_an_empty_third_column_is_none(tmp_path):
    """What a spreadsheet writes when only some rows have a level."""
    pairs, report = read(write(tmp_path / "a.tsv", "Hello\t안녕하세요.\t\nBye\t잘 가\tCasual\n"))
    assert [pair.level for pair in pairs] == ["polite", "casual"]
    assert not report.dropped


@pytest.mark.fault("B13")
def test_aligned_files_of_unequal_length_are_refused(tmp_path):
    write(tmp_path / "c.en", "a\nb\n\nd\ne\n")
    write(tmp_path / "c.ko", "가\n나\n다\n라\n마\n바\n")
    with pytest.raises(DataError) as caught:
        read(tmp_path / "c.{en,ko}")
    assert "c.en has 5 lines but" in str(caught.value)
    assert "c.ko has 6; they part near line 3" in str(caught.value)
    write(tmp_path / "c.en", "a\nb\n")
    with pytest.raises(DataError, match="they part near line 3; align them first"):
        read(tmp_path / "c.{en,ko}")


@pytest.mark.fault("B13")
def test_aligned_files_lose_both_sides_together(tmp_path):
    write(tmp_path / "c.en", "a\nb\nc\n")
    write(tmp_path / "c.ko", "가\n\n다\n")
    pairs, report = read(tmp_path / "c.{en,ko}")
    assert pairs == [Pair("a", "가", "any"), Pair("c", "다", "any")]
    assert report.dropped == {"empty Korean side": 1}
    assert report.first == {"empty Korean side": f"{tmp_path}/c.en:2"}
    with pytest.raises(DataError, match=r"write two aligned files as corpus\.\{en,ko\}"):
        read(tmp_path / "c.{en}")


def test_what_stands_around_the_braces_belongs_to_both_names(tmp_path):
    write(tmp_path / "my-en.txt", "Go.\n")
    write(tmp_path / "my-ko.txt", "가십시오.\n")
    assert read(tmp_path / "my-{en,ko}.txt")[0] == [Pair("Go.", "가십시오.", "formal")]


@pytest.mark.fault("B14")
def test_an_empty_side_is_dropped_and_counted(tmp_path):
    path = write(tmp_path / "pairs.tsv", "Hello\t\n\t안녕\n \u3000\t안녕\nHi\t안녕\n\n   \n")
    pairs, report = read(path)
    assert [pair.src for pair in pairs] == ["Hi"]
    assert report.dropped == {"empty Korean side": 1, "empty English side": 2}
    assert report.lines() == [
        f"1 pair dropped: empty Korean side (first: {path}:1)",
        f"2 pairs dropped: empty English side (first: {path}:2)",
    ]


def test_the_level_is_the_given_one_or_what_the_ending_shows(tmp_path):
    rows = "Go.\t가십시오.\nGo.\t가세요.\nGo.\t가.\tcasual\nYes.\t네.\nYes.\t네.\tpolite\n"
    pairs, _ = read(write(tmp_path / "pairs.tsv", rows))
    assert [pair.level for pair in pairs] == ["formal", "polite", "casual", "any", "polite"]


def test_patterns_are_read_in_order_and_must_match(tmp_path):
    write(tmp_path / "b.tsv", "b\t나\n")
    write(tmp_path / "a.tsv", "a\t가\n")
    assert [pair.src for pair in read(tmp_path / "*.tsv")[0]] == ["a", "b"]
    with pytest.raises(DataError, match="no file matches"):
        read(tmp_path / "*.txt")
    assert len(read(write(tmp_path / "x[1].tsv", "c\t다\n"))[0]) == 1, "a name, not a pattern"


def test_missing_and_unreadable_files(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.tsv: no such file"):
        read(tmp_path / "nowhere.tsv")
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_is_recognised(tmp_path, order):
    path = write(tmp_path / "excel.tsv", "\ufeffHi\t안녕\n", f"utf-16-{order}")
    with pytest.raises(DataError, match=r"excel\.tsv: the text is UTF-16; save it as UTF-8"):
        read(path)


def test_a_level_may_have_spaces_around_it(tmp_path):
    assert read(write(tmp_path / "a.tsv", "Go.\t가.\tcasual \n"))[0][0].level == "casual"


def test_a_byte_order_mark_is_no_text(tmp_path):
    assert read(write(tmp_path / "bom.tsv", "\ufeffHi\t안녕\n"))[0][0].src == "Hi"


def test_swapped_columns_are_suspected(tmp_path):
    rows = [f"Sentence {i}.\t문장 {i}입니다." for i in range(30)]
    path = write(tmp_path / "a.tsv", "English\tKorean\n" + "\n".join(rows))
    assert read(path)[1].lines() == [], "a single odd pair is none"
    swapped = ["\t".join(reversed(row.split("\t"))) for row in rows[:3]]
    path = write(tmp_path / "b.tsv", "\n".join(rows + swapped))
    pairs, report = read(path)
    assert len(pairs) == report.kept == 33
    [line] = report.lines()
    assert line.startswith("3 of 33 pairs have Hangul") and f"(first: {path}:31)" in line


def test_a_language_in_the_wrong_column_is_odd():
    """Hangul in the English, or none in the Korean; and more than one in twenty is worth a word."""
    report = Report()
    sides = [("Hi", "안녕"), ("Hi", "Bonjour"), ("안녕 means hi.", "안녕은 인사입니다.")]
    for number, (src, tgt) in enumerate(sides, 1):
        report.keep(Pair(src, tgt, "any"), f"a.tsv:{number}")
    assert report == Report(kept=3, odd=2, first_odd="a.tsv:2")
    assert Report(kept=20, odd=1).lines() == []
    assert len(Report(kept=19, odd=1).lines()) == 1


CELL = st.text(
    st.characters(exclude_characters="\t\n\r\ufeff", exclude_categories=["Cs"]), max_size=8
)
LEVEL = st.sampled_from(["formal", "polite", "any", "Casual", "", "formall", "x"])
ROW = st.lists(CELL, min_size=1, max_size=4) | st.tuples(CELL, CELL, LEVEL).map(list)


@given(rows=st.lists(ROW, max_size=12), end=st.sampled_from(["\n", "\r\n"]))
def test_every_row_is_kept_or_told(rows, end, tmp_path_factory):
    """None is lost, none made up, and what is kept is what stands there, normalised."""
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    write(path, "".join("\t".join(row) + end for row in rows))
    pairs, report = read(path)
    written = [row for row in rows if len(row) in (2, 3) or "".join(row).strip()]
    assert report.kept + sum(report.dropped.values()) == len(written)
    assert len(pairs) == report.kept
    sides = [tuple(normalize(cell) for cell in row[:2]) for row in written]
    kept = [both for both in sides if len(both) == 2 and all(both)]
    remaining = iter(kept)
    assert all((pair.src, pair.tgt) in remaining for pair in pairs), "in their order"
    assert {pair.level for pair in pairs} <= {*LEVELS}


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf_16_le", "utf-32", "iso2022_kr", "undefined", "punycode", "rot13"]
)
def test_encodings_whose_lines_cannot_be_told_apart(tmp_path, encoding):
    (tmp_path / "a.tsv").write_bytes(b"Hi.\tx\n")
    with pytest.raises(DataError, match=f"unsuitable encoding '{encoding}'"):
        list(read_lines(tmp_path / "a.tsv", encoding))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "euc_kr", "johab"])
def test_encodings_of_korean(tmp_path, encoding):
    (tmp_path / "a.txt").write_bytes("가\r\n나\n".encode(encoding))
    assert list(read_lines(tmp_path / "a.txt", encoding)) == ["가", "나"]
    (tmp_path / "b.txt").write_bytes(b"caf\xe9\n")
    assert list(read_lines(tmp_path / "b.txt", "latin-1")) == ["café"]


def test_a_pattern_for_folders_within_folders(tmp_path):
    for place in (".", "a", "a/b"):
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / "x.tsv").write_text("Hi.\t안녕.\n", encoding="utf-8")
    assert len(files_of(f"{tmp_path}/**/*.tsv")) == 3


@pytest.mark.parametrize("start", [b"\x1f\x8b\x08", b"PK\x03\x04"])
def test_a_packed_file_is_told(tmp_path, start):
    (tmp_path / "a.tsv").write_bytes(start + b"x\n")
    with pytest.raises(DataError, match=r"the file is packed .* unpack it"):
        list(read_lines(tmp_path / "a.tsv"))
