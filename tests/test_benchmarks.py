"""The benchmarks still run. They measure nothing here: no test looks at a time."""

import ast
import importlib
import json
import math
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import create_autospec

import pytest
import torch

from translator import cli
from translator.checkpoint import load_checkpoint

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PEERS = ("joeynmt", "transformers")
EXTRAS = ("ctranslate2",)
COMMANDS = ("training", "translating", "scale")  # whose memory must stay below a participant's
STEPS = 10

# of torch.nn.Transformer: it says that one of its short cuts is not taken, or is new
pytestmark = pytest.mark.filterwarnings("ignore:.*nested.tensor:UserWarning")

Load = Callable[[str], ModuleType]


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(BENCHMARKS).with_suffix("").parts)


FILES = {
    dotted(path): path
    for path in sorted([*BENCHMARKS.glob("*.py"), *BENCHMARKS.glob("*/*.py")])
    if path.name != "__init__.py"
}


def imports(name: str) -> dict[str, list[str]]:
    """The modules that a benchmark module imports, and the names that it takes from each."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update({alias.name: [] for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None and node.level == 0, f"{name}: relative import"
            found.setdefault(node.module, []).extend(alias.name for alias in node.names)
    return found


def needs(name: str) -> set[str]:
    """The packages outside the project's run-time that a module imports, through others too."""
    found = set()
    for imported in imports(name):
        found |= needs(imported) if imported in FILES else {imported.split(".")[0]}
    return found & {*PEERS, *EXTRAS}


@pytest.fixture(scope="module")
def load() -> Iterator[Load]:
    """Imports a module as a benchmark's own process finds it; all are forgotten at the end."""
    before = set(sys.modules)
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module
    sys.path.remove(str(BENCHMARKS))
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if Path(file).is_relative_to(BENCHMARKS):
            del sys.modules[name]


def printed(module: ModuleType, *arguments: object) -> str:
    """What a module's command prints, run in this process."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.setattr(sys, "argv", [module.__name__, *map(str, arguments)])
        module.main()
    return out.getvalue()


def called(module: ModuleType, *arguments: object) -> dict[str, Any]:
    """The JSON on the last line that a module's command prints."""
    found: dict[str, Any] = json.loads(printed(module, *arguments).splitlines()[-1])
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_module_can_be_imported_and_explains_itself(name, load, monkeypatch, capsys):
    for package in sorted(needs(name)):
        reason = f"{package} is not installed: it belongs to a peer, or to the extra 'export'"
        pytest.importorskip(package, reason=reason)
    module = load(name)
    if "main" in vars(module):
        monkeypatch.setattr(sys, "argv", [name, "--help"])
        with pytest.raises(SystemExit) as end:
            module.main()
        assert end.value.code == 0
        assert "usage:" in capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name in FILES if needs(name) & set(PEERS)])
def test_what_the_peers_modules_take_from_ours_exists(name, load):
    """They cannot be imported without the peers, but their imports can be read."""
    for module, names in imports(name).items():
        if module in FILES and not needs(module):
            for wanted in names:
                assert hasattr(load(module), wanted), f"{name}: no {wanted} in {module}"
        elif module in FILES:
            tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
            defined = {node.name for node in tree.body if hasattr(node, "name")}
            assert set(names) <= defined, f"{name}: {module} has no such names"


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_measure_memory_stay_without_torch(name):
    code = f"import sys, {name}; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BENCHMARKS, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


# training


@pytest.fixture(scope="module")
def data(load: Load, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What preparation.py writes."""
    folder = tmp_path_factory.mktemp("benchmark") / "data"
    called(load("preparation"), "--out", folder, corpus)
    return folder


def test_trainers_do_the_same_work(load, data, tmp_path):
    common = ("--data", data, "--steps", STEPS)
    counted = called(load("counting"), *common, "--work", tmp_path / "counting")
    ours = called(load("participants.ours"), *common, "--work", tmp_path / "ours")
    plain = called(load("participants.plain_torch"), *common, "--work", tmp_path / "plain")
    for found in (ours, plain):
        assert found["target_tokens"] == counted["target_tokens"] > 0
        assert found["padding"] == pytest.approx(counted["padding"])
        assert math.isfinite(found["loss_last"])
    assert ours["parameters"] == pytest.approx(plain["parameters"], rel=0.01)


def test_a_clock_leaves_no_hook_behind(load):
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight])
    steps = load("participants.measuring").WARMUP + 1
    with load("participants.measuring").StepClock(1) as clock:
        for _ in range(steps):
            optimizer.step()
    optimizer.step()
    assert clock.seconds > 0
    assert clock.parameters == 1
    assert len(clock._ends) == steps


# translating


@pytest.fixture(scope="module")
def memorised(load: Load, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What memorising.py writes, after so few steps that nothing is known by heart, and without
    the exports, which tests/test_export.py looks at.
    """
    folder = tmp_path_factory.mktemp("memorised") / "model"
    module = load("memorising")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "N_PAIRS", 6)
        patch.setattr(module, "STEPS", 2 * STEPS)
        patch.setattr(module, "export_model", create_autospec(module.export_model))
        called(module, "--data", data, "--out", folder)
        called(module, "--data", data, "--out", folder)  # as after an attempt that did not end
        assert module.export_model.call_count == 4
    return folder


@pytest.fixture
def options(memorised: Path) -> tuple[object, ...]:
    return ("--model", memorised, "--threads", torch.get_num_threads())


@pytest.mark.parametrize("name", ["translators.ours", "translators.plain_torch"])
def test_translators_run(name, load, memorised, options):
    material = load("translators.material").read_material(memorised)
    found = called(load(name), *options)
    assert len(found["outputs"]) == len(material.sources) == 6
    assert found["threads"] == torch.get_num_threads()
    first = json.loads(printed(load(name), *options, "--first"))
    cap = load("translators.material").most_tokens(material.sources[:1])
    assert len(first) <= cap
    assert not {*first} & {*material.never}


def test_growth_runs(load, options, monkeypatch):
    module = load("translators.growth")
    monkeypatch.setattr(module, "LENGTHS", (3, 6))
    found = called(module, *options)
    assert set(found["seconds"]) == {"3", "6"}
    assert math.isfinite(found["exponent"])


def test_the_plain_translator_computes_with_our_weights(load, memorised):
    material = load("translators.material").read_material(memorised)
    weights = torch.load(memorised / "weights.pt", weights_only=True)
    theirs = load("translators.plain_torch").build(weights, material)
    ours = load_checkpoint(memorised / "reference" / "best.pt").build_model()
    src = torch.tensor(load("translators.material").rectangle(material.sources, material.pad))
    begin = [material.bos, *material.sources[0][1:3]]
    tgt_in = torch.tensor([begin] * len(src))
    with torch.inference_mode():
        memory = theirs.encode(src)
        found = theirs.next_logits(tgt_in, memory, src == material.pad)
        expected = ours(src, tgt_in)[:, -1]
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_the_command_whose_start_is_timed_exists(load, memorised, capsys):
    threads = str(torch.get_num_threads())
    script, *arguments = load("translating").own_command(memorised, threads, "fp32")
    assert Path(script).is_file()
    assert cli.main(["translate", *arguments]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_what_failed_does_not_cost_the_table(load, monkeypatch, capsys):
    module = load("translating")
    result = {"sentences_per_second": 5.0, "single_ms": 9.0, "peak_rss_mb": 1.0, "outputs": [[4]]}

    class Processes:
        def __init__(self, *_: object) -> None:
            pass

        def run(self, name: str, *arguments: str, **_: object) -> dict[str, Any]:
            if name == "translators.growth" or "int8" in arguments:
                raise module.ProcessFailed(f"{name} failed:\n\nno luck")
            return dict(result)

        def seconds_to_first_line(self, *_: object, **__: object) -> float:
            return 1.0

    size = {"sentences": 1, "vocabulary": 9, "reproduced": 1.0, "mean_tokens": 1.0}
    monkeypatch.setattr(module, "Processes", Processes)
    monkeypatch.setattr(module, "own_command", lambda *_: ())
    monkeypatch.setattr(module.Bench, "prepare", lambda *_: size)
    monkeypatch.setattr(sys, "argv", ["translating", "--only", "ours", "--growth"])
    with pytest.raises(SystemExit) as end:
        module.main()
    out = capsys.readouterr().out
    assert end.value.code == 1
    assert "| **translator (this project)** | fp32 | 5.0 |" in out
    assert "int8, failed: no luck" in out
    assert "Growth failed: no luck" in out


# what the two comparisons share


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--peers: "),
        (["--peers", "nowhere"], "make it with benchmarks/setup_peers.sh"),
        (["--only", "ours", "--rounds", "0"], "--rounds: expected at least 1, got 0"),
        (["--only", "ours", "--out", "nowhere/results.json"], "nowhere is no directory"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(
    arguments, message, load, monkeypatch, capsys
):
    for name in ("training", "translating"):
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        with pytest.raises(SystemExit) as end:
            load(name).main()
        assert end.value.code == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["training", "translating"])
def test_every_second_round_goes_backwards(name, load):
    everyone, taking_part = load(name).PARTICIPANTS, load("comparing").taking_part
    assert taking_part(everyone, None, 0) == [*everyone]
    assert taking_part(everyone, None, 1) == [*everyone][::-1]
    assert {who.module for who in taking_part(everyone, ["ours"], 1)} == {"ours"}
    assert {who.module for who in everyone} == set(load(name).TITLES)


# scale and serving


def test_one_step_on_a_corpus_of_scale(load, tmp_path):
    corpus = tmp_path / "corpus.tsv"
    load("scale").write_corpus(corpus, 600)
    assert corpus.read_text(encoding="utf-8").count("\n") == 600
    found = called(load("scale_run"), "--corpus", corpus, "--work", tmp_path / "run", "--steps", 1)
    assert len(load("scale").row(600, found)) == len(load("scale").HEAD)


@pytest.mark.parametrize(("steps", "reports"), [(1, 1), (2, 1), (99, 50), (100, 50)])
def test_the_second_half_of_the_steps_has_a_report_of_its_own(steps, reports, load):
    config = load("scale_run").configuration(Path("corpus.tsv"), Path("run"), steps)
    assert config.train.log_every == reports


class Busy(BaseHTTPRequestHandler):
    """Translates every second time only."""

    protocol_version = "HTTP/1.1"
    asked = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).asked += 1
        busy = type(self).asked % 2 == 0
        body = json.dumps({"error": "busy"} if busy else {"translatedText": "안녕"}).encode()
        self.send_response(503 if busy else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_errors_are_no_answers(load):
    serving = load("serving")
    Busy.asked = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        threading.Thread(target=server.serve_forever).start()
        address = f"http://127.0.0.1:{server.server_port}"
        client = serving.Client(address, ["Hello.", "Bye."], ["안녕", "안녕히"], 0)
        for _ in range(100):  # one is enough, unless the machine is very slow
            serving.crowd([client], 0.1)
            if Busy.asked > 1:
                break
        server.shutdown()
    assert len(client.errors) == Busy.asked // 2 > 0
    assert len(client.seconds) == Busy.asked - len(client.errors) > 0
    assert client.errors[0].startswith("503 ")


def test_a_crowd_without_answers_has_a_line_too(load):
    serving = load("serving")
    client = serving.Client("http://127.0.0.1:1", ["Hello."], ["안녕"], 0)
    client.errors = ["refused"]
    row = serving.row([client], 1.0)
    assert len(row) == len(serving.HEAD)
    assert row == ["1", "0", "0.0", "", "", "1", "0"]
