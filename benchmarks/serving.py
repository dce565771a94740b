"""How `translator serve` bears a crowd: 32 clients at once against one after another.

    python benchmarks/serving.py [--seconds 30] [--clients 32] [--threads N]

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
from pathlib import Path

import translator
from translator.documents import translate_lines
from translator.inference import Translator

SENTENCES = Path(translator.__file__).parent / "pretrained" / "check.txt"


class Client:
    """Asks one sentence after another until the time is over."""

    def __init__(self, address: str, sentences: list[str], wanted: list[str], first: int) -> None:
        self._host = address.removeprefix("http://")
        self._sentences, self._wanted, self._next = sentences, wanted, first
        self.seconds: list[float] = []
        self.errors: list[str] = []
        self.others = 0

    def run(self, until: float) -> None:
        """Fills `seconds` with one figure an answer, `others` with how many were not as alone."""
        connection = http.client.HTTPConnection(self._host, timeout=60)
        while time.perf_counter() < until:
            i = self._next % len(self._sentences)
            self._next += 1
            body = json.dumps({"q": self._sentences[i], "source": "en", "target": "ko"})
            start = time.perf_counter()
            try:
                connection.request("POST", "/translate", body)
                answer = connection.getresponse()
                found = json.loads(answer.read())
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.errors.append(repr(error))
                connection.close()
                continue
            self.seconds.append(time.perf_counter() - start)
            if answer.status != 200:
                self.errors.append(f"{answer.status} {found}")
            elif found["translatedText"] != self._wanted[i]:
                self.others += 1
        connection.close()


def crowd(address: str, n: int, seconds: float, sentences: list[str], wanted: list[str]) -> str:
    """One line of the table."""
    clients = [Client(address, sentences, wanted, 7 * i) for i in range(n)]
    start = time.perf_counter()
    threads = [threading.Thread(target=client.run, args=(start + seconds,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    times = sorted(t for client in clients for t in client.seconds)
    errors = [error for client in clients for error in client.errors]
    others = sum(client.others for client in clients)
    middle, late = statistics.median(times), times[int(0.99 * (len(times) - 1))]
    for error in errors[:3]:
        print(error, file=sys.stderr)
    return (
        f"| {n} | {len(times)} | {len(times) / took:.1f} | {1000 * middle:.0f} | "
        f"{1000 * late:.0f} | {len(errors)} | {others} |"
    )


def main() -> None:
    """Starts a server on a free port, asks it, and ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    sentences = SENTENCES.read_text(encoding="utf-8").split("\n")[:-1]
    model = Translator.from_pretrained()
    wanted = [translate_lines(model, [text], "formal")[0].text for text in sentences]
    command = [sys.executable, "-m", "translator", "serve", "--port", "0"]
    with subprocess.Popen(
        [*command, "--threads", str(args.threads)], stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found
        print("| clients | answers | a second | median ms | 99 % ms | errors | unlike alone |")
        print("|---|---|---|---|---|---|---|")
        try:
            for n in (1, args.clients):
                print(crowd(found[0], n, args.seconds, sentences, wanted))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
