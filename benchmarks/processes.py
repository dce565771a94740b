"""Participants in processes of their own.

It imports no PyTorch: on Linux a child's peak memory is never below its parent's.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent


class ProcessFailed(Exception):
    """A participant ended with an error, or used other threads than it was told."""


class Processes:
    """Starts Python processes in the project's environment and in those of the peers.

    Args:
        threads: how many each process may use
        peers: folder of setup_peers.sh; None when no peer takes part
    """

    def __init__(self, threads: int, peers: Path | None = None) -> None:
        self._threads = threads
        self._peers = None if peers is None else peers.absolute()

    def run(self, module: str, *arguments: str, environment: str = "") -> dict[str, Any]:
        """Runs a module in its own process.  -> the JSON object on its last line

        Raises ProcessFailed with the end of what it wrote when it fails, or used other threads.
        """
        done = subprocess.run(
            [self._python(environment), "-m", module, *arguments],
            cwd=HERE,
            env=_surroundings(self._threads),
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or not lines:
            raise ProcessFailed(f"{module} failed:\n{done.stdout[-1000:]}\n{done.stderr[-4000:]}")
        result: dict[str, Any] = json.loads(lines[-1])
        if result.get("threads", self._threads) != self._threads:
            raise ProcessFailed(f"{module} ran with {result['threads']} threads")
        return result

    def seconds_to_first_line(self, *arguments: str, environment: str = "") -> float:
        """From the start of a new Python process to the first line that it writes on stdout.

        Raises ProcessFailed when it ends without one.
        """
        began = time.perf_counter()
        with subprocess.Popen(
            [self._python(environment), *arguments],
            cwd=HERE,
            env=_surroundings(self._threads),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            seconds = time.perf_counter() - began
            process.stdout.read()
        if not line.strip() or process.returncode:
            raise ProcessFailed(f"{' '.join(arguments)} wrote nothing or failed")
        return seconds

    def _python(self, environment: str) -> str:
        return str(interpreter(self._peers, environment))


def interpreter(peers: Path | None, environment: str) -> Path:
    """The Python of an environment; not resolved, since that would leave the environment."""
    if not environment:
        return Path(sys.executable)
    assert peers is not None, "comparing.check refuses peers without their folder"
    return peers / environment / "venv" / "bin" / "python"


def _surroundings(threads: int) -> dict[str, str]:
    """The environment variables of a child."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "PYTHONUTF8": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
    }
