"""What people install, built and run as they would, outside the checkout."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import translator

ROOT = Path(__file__).parents[1]
COMMANDS = "train translate evaluate export corpus fetch attention trace serve".split()


def run(*command, where, path=""):
    """A command in another folder; `path` is searched for packages before anything else."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=where,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the sdist and the wheel that was made from it."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    run("-m", "build", "--no-isolation", "--outdir", out, ROOT, where=out)
    return out


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The wheel as pip unpacks it; what it needs is taken from this environment."""
    [wheel] = built.glob("*.whl")
    target = tmp_path_factory.mktemp("site")
    options = ("--no-deps", "--no-index", "--quiet", "--target", target)
    run("-m", "pip", "install", *options, wheel, where=target)
    return target


def test_the_wheel_holds_the_package_and_what_it_needs(built):
    [wheel] = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"translator/py.typed", "translator/pretrained/model.pt"} <= names
    assert {"translator/pretrained/check.txt", "translator/corpus/public-dev.txt"} <= names
    package = ROOT / "src" / "translator"
    ours = {
        f"translator/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and not any(part.startswith((".", "__py")) for part in path.parts)
    }
    assert ours <= names
    assert {name.split("/")[0] for name in names - ours} == {
        f"translator-{translator.__version__}.dist-info"
    }


def test_the_sdist_holds_the_sources_around_the_package(built):
    [archive] = built.glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        names = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    wanted = {"README.md", "README.ko.md", "LICENSE", "CHANGELOG.md", "constraints.txt"}
    wanted |= {"configs/tiny.yaml", "scripts/train.py", "docs/build.py", "tests/conftest.py"}
    assert wanted | {"src/translator/pretrained/model.pt"} <= names


def test_installed_it_translates_from_anywhere(installed, tmp_path):
    program = "import translator; print(translator.__file__)"
    found = run("-c", program, where=tmp_path, path=installed)
    assert Path(found.strip()).is_relative_to(installed), "not the checkout"
    said = run("-m", "translator", "translate", "I am a student", where=tmp_path, path=installed)
    assert said == "저는 학생입니다.\n"


def test_installed_every_command_explains_itself(installed, tmp_path):
    """Without loading PyTorch, so at once."""
    program = (
        "import sys\n"
        "from translator.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0\n"
        "assert 'torch' not in sys.modules\n"
    )
    listed = run("-c", program, "--help", where=tmp_path, path=installed)
    for command in COMMANDS:
        assert command in listed
        told = run("-c", program, command, "--help", where=tmp_path, path=installed)
        assert told.startswith("usage: ")
