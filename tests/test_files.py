"""A file is its old or its new content at every moment."""

import os
import subprocess
import sys
import threading

import pytest

from translator.files import remove_leftovers, replacing, write_lines


def test_lines_end_alike_everywhere(tmp_path):
    write_lines(tmp_path / "made" / "here" / "lines.txt", ["가", "b"])
    assert (tmp_path / "made" / "here" / "lines.txt").read_bytes() == "가\nb\n".encode()


def test_after_an_error_the_older_file_is_there_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"older")
    with pytest.raises(RuntimeError), replacing(path) as file:
        file.write(b"half")
        assert path.read_bytes() == b"older"
        raise RuntimeError
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes as POSIX has them")
def test_links_pipes_and_modes(tmp_path):
    target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
    target.write_bytes(b"older")
    target.chmod(0o600)
    link.symlink_to(target)
    write_lines(link, ["newer"])
    assert link.is_symlink() and target.read_bytes() == b"newer\n"
    assert target.stat().st_mode & 0o777 == 0o600, "who may read it stays"
    before = os.umask(0o077)
    try:
        write_lines(tmp_path / "private", [])
        os.umask(0o022)
        write_lines(tmp_path / "fresh", [])
    finally:
        os.umask(before)
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600, "as the user's umask says"
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o644
    os.mkfifo(pipe)
    heard = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write_lines(pipe, ["through"])
    reader.join(timeout=10)
    assert heard == [b"through\n"] and pipe.is_fifo()


def test_leftovers_of_saving_go_and_nothing_else(tmp_path):
    names = [".last.pt", ".notes.tmp", "last.pt", "last.pt.x1.tmp"]
    for name in (*names, ".last.pt.x1.tmp", ".step-00000005.pt.y2.tmp"):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path, "*.pt")
    assert sorted(path.name for path in tmp_path.iterdir()) == names


@pytest.mark.skipif(os.name != "posix", reason="limits as POSIX has them")
def test_a_full_disk_leaves_nothing_behind(tmp_path):
    """What is still in a buffer fails once more when the file is closed."""
    code = """
import resource, signal, sys
from translator.files import write_lines
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    write_lines(sys.argv[1], ["x" * 99] * 50_000)
except OSError:
    print("full")
"""
    command = [sys.executable, "-c", code, str(tmp_path / "lines")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "full\n"
    assert list(tmp_path.iterdir()) == []
