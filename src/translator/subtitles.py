"""SubRip subtitles (.srt): numbers and times stay, texts are translated."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_TIMES: Final = re.compile(r"\s*\d+:\d+:\d+[,.]\d+\s+-->\s+\d+:\d+:\d+[,.]\d+.*")
_TAG: Final = re.compile(r"</?[a-zA-Z][^>]*>|\{\\[^}]*\}")


class Subtitle(NamedTuple):
    """Some lines that stay as they are (a number, the times), then the text they belong to."""

    head: tuple[str, ...]
    text: str  # in one line, without tags; empty when there is none


def read_subtitles(lines: Sequence[str]) -> list[Subtitle]:
    """The subtitles of a file. What stands before the first times, or is blank, stays as it is."""
    subtitles: list[Subtitle] = []
    head: list[str] = []
    text: list[str] = []
    timed = False
    for line in lines:
        if _TIMES.fullmatch(line):
            if text:  # the blank line before is missing
                number = [text.pop()] if text[-1].isdecimal() else []
                subtitles.append(Subtitle(tuple(head), " ".join(filter(None, text))))
                head, text = number, []
            head.append(line)
            timed = True
        elif timed and line.strip():
            text.append(_TAG.sub("", line).strip())
        else:
            if timed:
                subtitles.append(Subtitle(tuple(head), " ".join(filter(None, text))))
                head, text, timed = [], [], False
            head.append(line)
    subtitles.append(Subtitle(tuple(head), " ".join(filter(None, text))))
    return subtitles


def has_times(lines: Sequence[str]) -> bool:
    """Whether there is a line with times, as in every file of subtitles."""
    return any(map(_TIMES.fullmatch, lines))


def write_subtitles(subtitles: Sequence[Subtitle], texts: Sequence[str]) -> Iterator[str]:
    """The lines of the file with other texts, one line each."""
    for subtitle, text in zip(subtitles, texts, strict=True):
        yield from subtitle.head
        if subtitle.text:
            yield text
