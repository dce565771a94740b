"""The figures of corpora that have hardly anything."""

from translator.corpus.conjugation import Conjugations
from translator.corpus.drawing import FrameSet
from translator.corpus.frames import parse_frame
from translator.corpus.lexicon import Entry, Lexicon
from translator.corpus.lines import PARTS, Line
from translator.corpus.report import report_text

FRAME = parse_frame("f\tI see {x:a}.\t{x}{을} 봅니다.\t\t\t\tx=food", "here:1")
FRAMES = FrameSet(Lexicon([Entry("apple", "food", "apple", "사과")]), Conjugations({}), [FRAME])


def test_an_empty_corpus_has_figures():
    text = report_text({part: [] for part in PARTS}, FRAMES, ["the"])
    assert "| handwritten | 0 | 0 | 0 | 0 | 0 | 0 |" in text
    assert "Without a final mark: 0.0%." in text
    assert "| different pairs that can be drawn at the level formal | 1 |" in text


def test_an_empty_line_is_counted_like_any_other():
    lines = [Line("a:1", "", "", ""), Line("a:2", "Hello.", "안녕하십니까.", "formal")]
    text = report_text({"handwritten": lines, "heldout": [], "converted": []}, FRAMES, [])
    assert "Without a final mark: 50.0%." in text
