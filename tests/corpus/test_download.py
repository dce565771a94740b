"""Downloads against a server on this computer that breaks off, changes its file, and refuses."""

import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from translator.cli import fetch, main
from translator.corpus.download import DownloadError, download
from translator.corpus.public import SOURCES

BODY = bytes(range(256)) * 2000


class Publisher(BaseHTTPRequestHandler):
    """Gives `body`, at most `at_once` bytes of it before the connection breaks."""

    body, version, at_once, refuse, ranges = BODY, '"one"', None, [], []

    def do_GET(self):
        cls = type(self)
        if cls.refuse:
            self.send_error(cls.refuse.pop(0))
            return
        start = 0
        wanted = self.headers.get("Range")
        cls.ranges.append(wanted)
        assert "Mozilla" in self.headers["User-Agent"]
        if wanted and self.headers.get("If-Range") == cls.version:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(cls.body):
                self.send_error(416)
                return
            self.send_response(206)
        else:
            self.send_response(200)
        rest = cls.body[start:]
        self.send_header("Content-Length", str(len(rest)))
        self.send_header("ETag", cls.version)
        self.end_headers()
        self.wfile.write(rest[: cls.at_once])

    def log_message(self, *_):
        pass


@pytest.fixture
def publisher() -> Iterator[tuple[str, type[Publisher]]]:
    handler = type("Mine", (Publisher,), {"refuse": [], "ranges": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/file.zip", handler
    server.shutdown()
    server.server_close()
    thread.join()


def quickly(url, path):
    download(url, path, wait=lambda _: None)


def test_a_file_arrives_whole(publisher, tmp_path):
    url, _ = publisher
    quickly(url, tmp_path / "new" / "file")
    assert (tmp_path / "new" / "file").read_bytes() == BODY
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file"]


def test_it_goes_on_where_it_broke_off(publisher, tmp_path):
    url, handler = publisher
    handler.at_once = 200_000
    quickly(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY
    assert handler.ranges == [None, "bytes=200000-", "bytes=400000-"]


def test_after_four_tries_what_came_stays_for_the_next_call(publisher, tmp_path):
    url, handler = publisher
    handler.at_once = 100_000
    with pytest.raises(DownloadError, match=r"broke off after 100000 .* run it again"):
        quickly(url, tmp_path / "file")
    assert (tmp_path / "file.part").stat().st_size == 400_000
    assert not (tmp_path / "file").exists()
    quickly(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY
    assert handler.ranges[-2:] == ["bytes=400000-", "bytes=500000-"]


def test_two_versions_are_never_mixed(publisher, tmp_path):
    url, handler = publisher
    handler.at_once = 100_000
    with pytest.raises(DownloadError):
        quickly(url, tmp_path / "file")
    handler.at_once, handler.body, handler.version = None, BODY[::-1], '"two"'
    quickly(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY[::-1]


def test_a_complete_part_is_fetched_anew(publisher, tmp_path):
    url, _ = publisher
    (tmp_path / "file.part").write_bytes(BODY)
    (tmp_path / "file.part.version").write_text('"one"', encoding="utf-8")
    quickly(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY


def test_refusals(publisher, tmp_path):
    url, handler = publisher
    handler.refuse.append(404)
    with pytest.raises(DownloadError, match="the server says 404 Not Found"):
        quickly(url, tmp_path / "file")
    assert handler.ranges == []  # not asked again
    handler.refuse += [503, 500]
    quickly(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY


def test_nobody_there(tmp_path):
    with pytest.raises(DownloadError, match="run it again"):
        quickly("http://127.0.0.1:9/file", tmp_path / "file")


def test_the_command_fetches_what_is_not_there_yet(publisher, tmp_path, monkeypatch, capsys):
    url, handler = publisher
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("kor.txt", "Go.\t가.\tCC-BY 2.0\n")
    handler.body = archive.getvalue()
    monkeypatch.setattr(fetch, "SOURCES", (replace(SOURCES[0], url=url),))
    for _ in range(2):
        assert main(["fetch", "--out", str(tmp_path)]) == 0
    assert handler.ranges == [None]  # the second time it was there
    assert capsys.readouterr().err.count(url) == 1
    assert (tmp_path / "tatoeba-train.tsv").read_bytes().decode() == "Go.\t가.\n"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"tatoeba.zip", "tatoeba-train.tsv"}
