"""Holds the structure that the design promises by reading the source, not by running it."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import translator

SRC = Path(inspect.getfile(translator)).parent
FILES = sorted(SRC.rglob("*.py"))

# who may import whom; a name stands for itself and everything below it
ALLOWED = {
    "errors": set(),
    "events": set(),
    "levels": set(),
    "tidying": {"hangul"},
    "files": set(),
    "terminal": set(),
    "textfile": {"errors"},
    "loss": set(),
    "picking": set(),
    "decoding": {"picking"},
    "beam": {"decoding"},
    "averaging": set(),
    "judge": set(),
    "prefetch": set(),
    "strict": {"errors"},
    "config": {"strict"},
    "tokenizer": {"errors", "levels", "tidying"},
    "vocabulary": {"config", "levels", "tokenizer"},
    "muon": {"distributed"},
    "optim": {"config", "distributed", "model", "muon"},
    "distributed": {"errors"},
    "hardware": {"errors"},
    "copying": set(),
    "hangul": set(),
    "placeholders": {"copying", "hangul", "pairs", "tokenizer"},
    "metrics": {"errors"},
    "evaluation": {"copying", "levels", "metrics", "noise", "pairs"},
    "tensorboard": {"errors", "events"},
    "progress": {"events"},
    "model.masks": set(),
    "model.attention": set(),
    "model.dropout": set(),
    "model.layers": {"model.dropout"},
    "model.embedding": {"model.dropout"},
    "model.encoder": {"config", "model.attention", "model.layers"},
    "model.decoder": {"config", "model.attention", "model.layers"},
    "model.transformer": {"config", "model"},
    "noise": {"pairs"},
    "pairs": {"hangul", "levels", "textfile", "tokenizer"},
    "heldout": {"pairs"},
    "store": {"pairs", "tokenizer"},
    "batches": {"store", "tokenizer"},
    "resplit": {"store", "tokenizer"},
    "objective": {"batches", "loss", "model"},
    "checkpoint": {"config", "errors", "files", "model", "tokenizer"},
    "run_dir": {"checkpoint", "config", "errors", "events", "files"},
    "origin": {"checkpoint", "config", "events", "run_dir"},
    "products": set(),
    "compact_cache": set(),
    "compact": {"compact_cache", "hardware", "model", "picking", "products"},
    "updating": {
        *("config", "distributed", "errors", "feed", "hardware", "model", "objective", "optim"),
        "progress",
    },
    "unchanged": {"config", "model"},
    "engine": {
        *("beam", "compact", "config", "decoding", "errors", "hardware", "model", "unchanged"),
    },
    "exported": {"config", "decoding", "errors", "tokenizer"},
    "translation": {"decoding", "errors"},
    "inference": {
        *("checkpoint", "config", "copying", "decoding", "engine", "exported"),
        *("hardware", "levels", "model", "placeholders", "tokenizer", "translation"),
    },
    "export": {"checkpoint", "exported", "inference", "levels", "metrics", "tokenizer"},
    "heatmap": {"terminal"},
    "romanization": set(),
    "picture": {"errors", "files", "hangul", "heatmap", "romanization", "terminal"},
    "looking": {"errors", "heatmap", "inference", "tokenizer", "translation"},
    "tracing": {"decoding", "inference", "looking", "model", "tokenizer", "translation"},
    "as_json": {"looking", "tracing"},
    "segments": set(),
    "subtitles": set(),
    "documents": {
        *("config", "errors", "inference", "levels", "pairs", "segments", "tokenizer"),
        "translation",
    },
    "preparation": {
        *("config", "distributed", "events", "heldout", "levels", "noise", "pairs"),
        *("placeholders", "run_dir", "store", "textfile", "tokenizer", "tidying", "vocabulary"),
    },
    "feed": {"batches", "config", "distributed", "events", "preparation", "resplit"},
    "validation": {
        *("batches", "config", "documents", "events", "hardware", "inference", "metrics", "model"),
        *("objective", "preparation", "store"),
    },
    "trainer": {
        *("averaging", "checkpoint", "config", "distributed", "engine", "events", "feed"),
        *("hardware", "judge", "model", "origin", "prefetch", "preparation", "progress"),
        *("run_dir", "tokenizer", "updating", "validation"),
    },
    "server": {
        *("", "documents", "errors", "inference", "levels", "looking", "as_json", "hangul"),
        *("server", "tracing"),
    },
    "corpus": {
        *("corpus", "errors", "files", "hangul", "heldout", "levels", "pairs", "romanization"),
        *("textfile", "tokenizer"),
    },
    "cli": {
        "cli",
        *("", "checkpoint", "config", "corpus", "documents", "errors", "evaluation", "events"),
        "files",
        *("export", "metrics"),
        *("hardware", "heatmap", "heldout", "inference", "levels", "looking", "pairs", "picture"),
        *("as_json", "run_dir", "server", "subtitles", "tensorboard", "terminal", "textfile"),
        *("tracing", "trainer", "translation"),
    },
    "__main__": {"cli"},
    "": {"config", "documents", "errors", "inference", "model", "translation"},
}
RUN_TIME_PACKAGES = {"torch", "sentencepiece", "tqdm", "yaml"}
EXTRAS = {
    "cli.serve": set(),
    "corpus.kiwi": {"kiwipiepy"},
    "metrics": {"kiwipiepy", "sacrebleu"},
    "export": {"ctranslate2"},
    "exported": {"ctranslate2"},
    "picture": {"matplotlib"},
    "server.app": {"fastapi", "fastapi_offline", "starlette"},
    "server.guard": {"starlette"},
    "server.messages": {"pydantic"},
    "server.reading": {"pydantic", "starlette"},
    "server.running": {"fastapi", "uvicorn"},
    "tensorboard": set(),
}  # the only modules that may import an optional package


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.append(node.module)
    return found


def covers(allowed: set[str], name: str) -> bool:
    return any(name == entry or (entry and name.startswith(f"{entry}.")) for entry in allowed)


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_point_downwards(path):
    name = module_name(path)
    home = next((k for k in (name, name.split(".")[0]) if k in ALLOWED), None)
    if name == "model":
        return
    assert home is not None, f"{name}: say in ALLOWED what it may import"
    for imported in imports(path):
        top, _, rest = imported.partition(".")
        if top == "translator":
            assert covers(ALLOWED[home], rest), f"{name} imports {imported}"


@pytest.mark.parametrize("home", ALLOWED)
def test_no_permission_is_left_over(home):
    """What nobody uses any more would let a new import pass unseen."""
    paths = [path for path in FILES if home in {module_name(path), module_name(path).split(".")[0]}]
    used = {imported.partition(".")[2] for path in paths for imported in imports(path)}
    left = {entry for entry in ALLOWED[home] if not any(covers({entry}, name) for name in used)}
    assert paths and left <= {""}


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_only_the_four_packages(path):
    for imported in imports(path):
        top = imported.split(".")[0]
        extras = EXTRAS.get(module_name(path), set())
        known = RUN_TIME_PACKAGES | extras | {"translator"}
        assert top in known | sys.stdlib_module_names, imported


@pytest.mark.parametrize("path", [p for p in FILES if p.parent.name == "model"], ids=module_name)
def test_the_chapter_needs_nothing_but_torch(path):
    for imported in imports(path):
        assert imported.split(".")[0] in {
            "torch",
            "math",
            "dataclasses",
            "typing",
            "collections",
        } or (imported == "translator.config" or imported.startswith("translator.model.")), imported


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_no_import_inside_a_function_and_no_print_outside_the_command_line(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, FUNCTIONS) and module_name(path) not in EXTRAS:
            for node in ast.walk(function):
                assert not isinstance(node, ast.Import | ast.ImportFrom), f"{path}: {function.name}"
    if "cli" not in path.parts:
        names = [
            n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and hasattr(n.func, "id")
        ]
        assert "print" not in names, path


def public(body: list[ast.stmt]) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    definitions = [node for node in body if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    return [node for node in definitions if not node.name.startswith("_")]


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_public_things_have_a_docstring(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), path
    for node in public(tree.body):
        assert ast.get_docstring(node), f"{path}: {node.name}"
        if isinstance(node, ast.ClassDef) and "Protocol" not in ast.unparse(node).split(":")[0]:
            for method in public(node.body):
                inherited = method.name in {"extra_repr"}
                assert inherited or ast.get_docstring(method), f"{path}: {node.name}.{method.name}"


def test_importing_the_package_loads_no_torch_and_prints_nothing():
    code = (
        "import sys, translator, translator.cli\n"
        "assert 'torch' not in sys.modules\n"
        "translator.Config"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_every_public_name_is_there():
    for name in translator.__all__:
        assert getattr(translator, name) is not None
    assert set(dir(translator)) == set(translator.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = translator.nonsense


def test_scripts_are_thin():
    scripts = list((SRC.parents[1] / "scripts").glob("*.py"))
    assert {script.stem for script in scripts} >= {"train", "translate"}
    for script in scripts:
        assert len(script.read_text(encoding="utf-8").strip().split("\n")) <= 10, script
