"""How `translator serve` copes with a crowd: 32 clients at once against one after another.

    python benchmarks/serving.py [--seconds 30] [--clients 32] [--threads 1]

Every answer is compared with what the translator says to the sentence alone. Prints one table.
"""

import argparse
import http.client
import json
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from reporting import cell, markdown, table_line

import translator
from translator.documents import translate_lines
from translator.inference import Translator
from translator.levels import DEFAULT_STYLE

SENTENCES: Final = Path(translator.__file__).parent / "pretrained" / "check.txt"
HEAD: Final = ("clients", "answers", "a second", "median ms", "99 % ms", "errors", "unlike alone")


class Client:
    """Asks one sentence after another until the time is over.

    Args:
        address: of the server
        sentences, wanted: what to ask, and the translation of each alone
        first: the sentence that it begins with
    """

    def __init__(
        self, address: str, sentences: Sequence[str], wanted: Sequence[str], first: int
    ) -> None:
        self._host = address.removeprefix("http://")
        self._sentences, self._wanted, self._next = sentences, wanted, first
        self.seconds: list[float] = []  # one figure for each translation that came
        self.errors: list[str] = []
        self.others = 0  # translations that were not as alone

    def run(self, until: float) -> None:
        """Asks until the clock of `time.perf_counter` says so."""
        connection = http.client.HTTPConnection(self._host, timeout=60)
        while time.perf_counter() < until:
            try:
                self._ask(connection)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.errors.append(repr(error))
                connection.close()
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection) -> None:
        i = self._next % len(self._sentences)
        self._next += 1
        body = json.dumps({"q": self._sentences[i], "source": "en", "target": "ko"})
        start = time.perf_counter()
        connection.request("POST", "/translate", body)
        answer = connection.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            self.errors.append(f"{answer.status} {found}")
            return
        self.seconds.append(time.perf_counter() - start)
        if found["translatedText"] != self._wanted[i]:
            self.others += 1


def crowd(clients: Sequence[Client], seconds: float) -> float:
    """Lets all of them ask at once.  -> the seconds until the last one had its answer"""
    start = time.perf_counter()
    threads = [threading.Thread(target=client.run, args=(start + seconds,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def row(clients: Sequence[Client], took: float) -> list[str]:
    """The cells of one line of the table; no times when there were no answers."""
    times = sorted(seconds for client in clients for seconds in client.seconds)
    middle = 1000 * statistics.median(times) if times else None
    late = 1000 * times[int(0.99 * (len(times) - 1))] if times else None
    return [
        str(len(clients)),
        f"{len(times):,}",
        f"{len(times) / took:.1f}",
        cell(middle, ".0f"),
        cell(late, ".0f"),
        str(sum(len(client.errors) for client in clients)),
        str(sum(client.others for client in clients)),
    ]


@contextmanager
def server(threads: int) -> Iterator[str]:
    """The address of a server on a free port, which ends with the block."""
    command = [sys.executable, "-m", "translator", "serve", "--port", "0"]
    with subprocess.Popen(
        [*command, "--threads", str(threads)], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        told = ""
        while not (found := re.search(r"http://\S+", told)):
            line = process.stderr.readline()
            if not line:
                raise SystemExit(f"the server did not start: {told.strip()}")
            told += line
        # what it says later is passed on, for a full pipe would stop it
        rest = threading.Thread(target=sys.stderr.writelines, args=(process.stderr,), daemon=True)
        rest.start()
        try:
            yield found[0]
        finally:
            process.terminate()
            rest.join()


def main() -> None:
    """Starts a server, asks it, and ends it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=30, help="of each of the two crowds")
    parser.add_argument("--clients", type=int, default=32, help="at once, in the second one")
    parser.add_argument("--threads", type=int, default=1, help="of the server")
    args = parser.parse_args()
    sentences = SENTENCES.read_text(encoding="utf-8").split("\n")[:-1]
    model = Translator.from_pretrained()
    wanted = [translate_lines(model, [text], DEFAULT_STYLE)[0].text for text in sentences]
    with server(args.threads) as address:
        print(markdown([HEAD], n_text=0), flush=True)
        for n in (1, args.clients):
            clients = [Client(address, sentences, wanted, 7 * i) for i in range(n)]
            took = crowd(clients, args.seconds)
            print(table_line(row(clients, took)), flush=True)
            for error in [error for client in clients for error in client.errors][:3]:
                print(error, file=sys.stderr)


if __name__ == "__main__":
    main()
