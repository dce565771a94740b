import xml.etree.ElementTree as ET

from translator.heatmap import Heatmap, as_svg, as_table
from translator.terminal import width

MAP = Heatmap(
    title="cross · layer 1 · head 1",
    rows=["▁저는", "▁학생", "</s>"],
    columns=["▁I", "▁student", "<b>", "\x1b"],
    weights=[[0.9, 0.06, 0.04, 0.0], [0.002, 0.99, 0.004, 0.004], [0.25, 0.25, 0.25, 0.25]],
)


def test_the_table_is_aligned_whatever_the_script():
    lines = as_table(MAP).split("\n")
    assert lines[0] == MAP.title
    head, ruler, *rows = lines[1:]
    bars = {width(line.split("│")[0]) for line in (head, *rows)}
    assert bars == {width(ruler.split("┼")[0])} and len(rows) == 3
    assert "90█" in rows[0] and "99█" in rows[1] and "25░" in rows[2] and "·" in rows[0]
    assert "\x1b" not in as_table(MAP)
    # each column's cell begins where its label begins
    starts = [head.index(label) - head.index("▁I") for label in ("▁I", "▁student", "<b>")]
    cells = rows[2].split("│ ")[1]
    assert [cells[start : start + 4] for start in starts] == [" 25░"] * 3


def test_svg_is_well_formed_and_all_text_is_text():
    root = ET.fromstring(as_svg([MAP] * 5))
    text = as_svg([MAP])
    assert "&lt;/s&gt;" in text and "<b>" not in text and "\x1b" not in text
    titles = [node.text for node in root.iter() if node.tag.endswith("title")]
    assert len(titles) == 5 * 12
    assert titles[0] == "▁저는 → ▁I: 90.0 %"
    # five maps: four beside each other, the fifth below
    single = ET.fromstring(text)
    assert int(root.get("width")) == 4 * int(single.get("width"))
    assert int(root.get("height")) == 2 * int(single.get("height"))
