"""One file from the network: resumed where it broke off, checked, and there only when complete."""

import hashlib
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
    """A file could not be had, or is not the one that was wanted."""


def download(
    url: str,
    path: Path,
    sha256: str | None = None,
    seconds: float = 30.0,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Fetches `url` to `path`. What came before an interruption stays in `path`.part, and the next
    call goes on from there.

    Args:
        sha256: hexadecimal; None takes whatever comes
        seconds: without a byte, after which a try counts as failed
        wait: between two tries, given seconds

    Raises:
        DownloadError: not to be had after four tries, refused, or another checksum.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    for attempt in range(1, TRIES + 1):
        try:
            _fetch(url, part, seconds)
            break
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code not in {408, 429}:
                raise DownloadError(f"{url}: the server says {error.code} {error.reason}") from None
            problem = f"the server says {error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
        if attempt == TRIES:
            raise DownloadError(f"{url}: {problem}; what came stays in {part}, run it again")
        wait(2.0**attempt)
    found = hashlib.sha256(part.read_bytes()).hexdigest()
    if sha256 is not None and found != sha256:
        part.unlink()
        _version_of(part).unlink(missing_ok=True)
        raise DownloadError(f"{url}: checksum {found}, expected {sha256}; the file has changed")
    os.replace(part, path)
    _version_of(part).unlink(missing_ok=True)


def _fetch(url: str, part: Path, seconds: float) -> None:
    """Adds what is missing of `part`; begins anew when the publisher's file is another by now."""
    there = part.stat().st_size if part.exists() else 0
    version = _version_of(part)
    headers = {"User-Agent": AGENT}
    if there and version.exists():
        headers |= {"Range": f"bytes={there}-", "If-Range": version.read_text(encoding="utf-8")}
    request = urllib.request.Request(url, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=seconds)
    except urllib.error.HTTPError as error:
        if error.code == 416 and there:  # nothing is missing, or the file has become shorter
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
