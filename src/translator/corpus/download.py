"""One file from the network: resumed where it broke off, and under its name only when complete."""

import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Final

from translator.errors import UserError

CHUNK: Final = 1 << 16
TRIES: Final = 4
AGENT: Final = "Mozilla/5.0 (compatible; translator corpus download)"  # some hosts refuse Python's


class DownloadError(UserError):
    """The publisher does not give the file."""


def download(
    url: str, path: Path, seconds: float = 30.0, wait: Callable[[float], None] = time.sleep
) -> None:
    """Fetches `url` to `path`. What came before an interruption stays in `path`.part, and the next
    call goes on from its end.

    Args:
        seconds: without a byte, after which a try counts as failed
        wait: between two tries, given seconds

    Raises:
        DownloadError: refused, or not complete after four tries.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    _with_retries(url, part, seconds, wait)
    os.replace(part, path)
    _version_of(part).unlink(missing_ok=True)


def _with_retries(url: str, part: Path, seconds: float, wait: Callable[[float], None]) -> None:
    for attempt in range(1, TRIES + 1):
        try:
            _fetch(url, part, seconds)
            return
        except urllib.error.HTTPError as error:
            problem = f"the server says {error.code} {error.reason}"
            if error.code < 500 and error.code not in {408, 429}:
                raise DownloadError(f"{url}: {problem}") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
        if attempt == TRIES:
            raise DownloadError(f"{url}: {problem}; what came stays in {part}, run it again")
        wait(2.0**attempt)


def _fetch(url: str, part: Path, seconds: float) -> None:
    """Adds what is missing of `part`; begins anew when the publisher's file is another by now."""
    size = part.stat().st_size if part.exists() else 0
    version = _version_of(part)
    headers = {"User-Agent": AGENT}
    if size and version.exists():
        headers |= {"Range": f"bytes={size}-", "If-Range": version.read_text(encoding="utf-8")}
    request = urllib.request.Request(url, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=seconds)
    except urllib.error.HTTPError as error:
        if error.code == 416 and size:  # nothing is missing, or the file has become shorter
            part.unlink()
            _fetch(url, part, seconds)
            return
        raise
    with answer:
        goes_on = answer.status == 206
        tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        if tag and not tag.startswith("W/"):
            version.write_text(tag, encoding="utf-8")
        else:
            version.unlink(missing_ok=True)
        expected = answer.headers.get("Content-Length")
        n = 0
        with open(part, "ab" if goes_on else "wb") as file:
            while chunk := answer.read(CHUNK):
                file.write(chunk)
                n += len(chunk)
        if expected is not None and n < int(expected):
            raise ConnectionError(f"the connection broke off after {n} of {expected} bytes")


def _version_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.version")
