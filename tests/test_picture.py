import json
import sys
import warnings

import pytest
import test_heatmap

from translator import picture
from translator.heatmap import Heatmap
from translator.picture import PictureError, save_picture
from translator.romanization import romanized

MAP = test_heatmap.MAP
HANGUL = Heatmap(
    title="나는 학교에", rows=["▁나는", "▁학교에", "🙂"], columns=["$I$"], weights=[[1.0]] * 3
)


@pytest.fixture
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def drawn(monkeypatch):
    """The labels that reach the picture."""
    pytest.importorskip("matplotlib")
    found = []
    inner = picture._drawable

    def drawable(label, family):
        found.append(inner(label, family))
        return found[-1]

    monkeypatch.setattr(picture, "_drawable", drawable)
    return found


def without_fonts(monkeypatch):
    monkeypatch.setattr(picture, "KOREAN_FONTS", ())


@pytest.mark.fault("B97")
@pytest.mark.usefixtures("warnings_are_errors")
def test_with_a_korean_font_the_labels_are_hangul(tmp_path, drawn):
    if picture._korean_font(None) is None:
        pytest.skip("no font with Hangul is installed")
    assert save_picture([HANGUL, MAP], tmp_path / "map.png") == ()
    assert sorted(drawn[:5]) == sorted(["나는 학교에", "_나는", "_학교에", "?", r"\$I\$"])
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.fault("B97")
@pytest.mark.usefixtures("warnings_are_errors")
def test_without_one_they_are_romanised_and_the_numbers_are_there(tmp_path, monkeypatch, drawn):
    without_fonts(monkeypatch)
    [note] = save_picture([HANGUL], tmp_path / "map.png")
    assert "no font with Hangul" in note and str(tmp_path / "map.json") in note
    assert sorted(drawn) == sorted(["naneun hakgyoe", "_naneun", "_hakgyoe", "?", r"\$I\$"])
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    [numbers] = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert numbers["rows"] == ["▁나는", "▁학교에", "🙂"]
    assert numbers["weights"] == [[1.0]] * 3


@pytest.mark.fault("B97")
@pytest.mark.usefixtures("warnings_are_errors")
def test_latin_labels_need_no_korean_font(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    without_fonts(monkeypatch)
    latin = Heatmap(title="t", rows=["a"], columns=["b"], weights=[[1.0]])
    assert save_picture([latin, latin], tmp_path / "latin.png") == ()
    assert not (tmp_path / "latin.json").exists()


@pytest.mark.fault("B97")
def test_a_font_by_name_or_file(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    with pytest.raises(PictureError, match="--font Nowhere Sans: neither an installed font"):
        save_picture([MAP], tmp_path / "map.png", font="Nowhere Sans")
    file = matplotlib.get_data_path() + "/fonts/ttf/DejaVuSans.ttf"
    save_picture([MAP], tmp_path / "map.png", font=file)
    save_picture([MAP], tmp_path / "map.png", font="DejaVu Sans")


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PictureError, match=r"-e '\.\[plot\]'; or write \.svg"):
        save_picture([MAP], tmp_path / "map.png")
    assert save_picture([MAP], tmp_path / "map.svg") == ()
    assert save_picture([MAP], tmp_path / "map.json") == ()
    assert json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))[0]["rows"] == MAP.rows
    with pytest.raises(PictureError, match=r"must be .svg, .png or .json"):
        save_picture([MAP], tmp_path / "map.gif")


def test_romanisation_goes_syllable_by_syllable():
    assert romanized("한국어 안녕, abc") == "hangukeo annyeong, abc"
    assert romanized("값 꽃 안다 뷁") == "gap kkot anda bwek"
