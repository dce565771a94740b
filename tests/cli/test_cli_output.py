"""Where a command writes: a file that is complete or not there, a link, a pipe."""

import errno
import io
import os
import stat
import threading
from contextlib import contextmanager

import pytest

from translator.cli.output import writing
from translator.errors import UserError


def test_a_file_is_replaced_when_it_is_complete(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old\n", encoding="utf-8")
    with writing(str(path)) as file:
        file.write("감사합니다.\n")
        file.flush()
        assert path.read_bytes() == b"old\n"
    assert path.read_bytes() == "감사합니다.\n".encode()
    with pytest.raises(KeyboardInterrupt), writing(str(path)) as file:
        file.write("half")
        raise KeyboardInterrupt
    assert path.read_bytes() == "감사합니다.\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_of_a_link_the_file_it_leads_to_is_written(tmp_path):
    path, link = tmp_path / "out.txt", tmp_path / "link.txt"
    link.symlink_to(path)
    for text in ("new\n", "newer\n"):  # it need not be there
        with writing(str(link)) as file:
            file.write(text)
        assert link.is_symlink() and path.read_text(encoding="utf-8") == text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_stays_a_pipe(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(
        target=lambda: found.append(pipe.read_text(encoding="utf-8")), daemon=True
    )
    reader.start()
    with writing(str(pipe)) as file:
        file.write("감사합니다.\n")
    reader.join(10)
    assert found == ["감사합니다.\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_cannot_be_written_is_said_before_the_work(tmp_path):
    for path, message in (
        (tmp_path, "is a directory; name a file"),
        (tmp_path / "nowhere" / "out.txt", "cannot be written: there is no such directory"),
    ):
        with pytest.raises(UserError, match=message), writing(str(path)):
            pytest.fail("the work has begun")
    assert list(tmp_path.iterdir()) == []


def test_errors_of_the_caller_are_its_own(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"), writing(str(tmp_path / "out")):
        (tmp_path / "nowhere.txt").open()
    assert list(tmp_path.iterdir()) == []


class FullDisk(io.RawIOBase):
    def writable(self):
        return True

    def write(self, _):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("size", [1, 1_000_000], ids=["at the end", "in the middle"])
def test_a_full_disk_is_named_with_its_file(tmp_path, monkeypatch, size):
    @contextmanager
    def full(_):
        with io.BufferedWriter(FullDisk()) as file:
            yield file

    monkeypatch.setattr("translator.cli.output.replacing", full)
    message = r"out\.txt: cannot be written: No space left"
    with pytest.raises(UserError, match=message), writing(str(tmp_path / "out.txt")) as file:
        file.write("x" * size)
