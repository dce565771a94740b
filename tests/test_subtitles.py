from translator.subtitles import Subtitle, read_subtitles, write_subtitles

FILE = """1
00:00:01,000 --> 00:00:02,500
<i>I am a student.</i>

2
00:00:03,000 --> 00:00:05,000 X1:40
Where is
the station?

3
00:00:06.000 --> 00:00:07.000

4
00:00:08,000 --> 00:00:09,000
{\\an8}Thank you.
"""


def test_texts_change_and_the_rest_stays():
    lines = FILE.split("\n")
    subtitles = read_subtitles(lines)
    texts = [subtitle.text for subtitle in subtitles if subtitle.text]
    assert texts == ["I am a student.", "Where is the station?", "Thank you."]
    found = list(write_subtitles(subtitles, [subtitle.text.upper() for subtitle in subtitles]))
    expected = FILE.replace("<i>I am a student.</i>", "I AM A STUDENT.")
    expected = expected.replace("Where is\nthe station?", "WHERE IS THE STATION?")
    assert "\n".join(found) == expected.replace("{\\an8}Thank you.", "THANK YOU.")


def test_a_file_without_times_stays_as_it_is():
    lines = ["Hello", "", "there"]
    subtitles = read_subtitles(lines)
    assert not any(subtitle.text for subtitle in subtitles)
    assert list(write_subtitles(subtitles, [""] * len(subtitles))) == lines
    assert read_subtitles([]) == [Subtitle((), "")]


def test_a_number_as_text_is_text():
    lines = [
        "1",
        "00:00:01,000 --> 00:00:02,500",
        "42",
        "",
        "2",
        "00:00:03,000 --> 00:00:04,000",
        "7",
    ]
    assert [subtitle.text for subtitle in read_subtitles(lines)] == ["42", "7"]


def test_a_missing_blank_line():
    times = "00:00:0{}0,000 --> 00:00:0{}1,000"
    lines = ["1", times.format(1, 1), "Hello.", "2", times.format(2, 2), "Good morning.", ""]
    found = read_subtitles(lines)
    assert [subtitle.text for subtitle in found] == ["Hello.", "Good morning.", ""]
    texts = [subtitle.text for subtitle in found]
    assert list(write_subtitles(found, texts)) == lines
    unnumbered = read_subtitles([times.format(1, 1), "Hello.", times.format(2, 2), "Hi."])
    assert [subtitle.text for subtitle in unnumbered] == ["Hello.", "Hi."]
