"""Requests that nobody sends in good faith, as bytes for a socket."""

import json
import random
from collections.abc import Iterator

HOST = "Host: 127.0.0.1\r\nConnection: close"
TYPES = ("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/x", "")
VALUES = (
    *(None, True, False, 0, -1, 1e308, [], {}, [[]], [None], {"q": 1}, "", " ", "\x00", "\ud800"),
    *("<script>alert(1)</script>", "'; DROP TABLE x; --", "../../etc/passwd", "{{7*7}}", "%s%n"),
    *("\u202eabc", "\ufeffI am", "🙂" * 100, "\r\n\r\nGET / HTTP/1.1", "가" * 300, "a" * 499),
    *("가" * 100, "\x1b[2J", "&#0;&lt;", "<p " * 50, "\\" * 200, "e\u0301" * 100, "\t\n\x0b\x0c"),
)
FIELDS = ("q", "source", "target", "format", "alternatives", "level", "attention", "api_key")
PATHS = ("/translate", "/trace", "/detect")


def requests(n: int, seed: int = 1) -> Iterator[bytes]:
    """Yields n requests, of every kind in turn; the same for the same seed."""
    rng = random.Random(seed)
    kinds = (_wrong_values, _odd_bodies, _large, _bad_http, _odd_routes)
    for i in range(n):
        yield kinds[i % len(kinds)](rng)


def _post(path: str, body: bytes, kind: str = "application/json", more: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\n{HOST}\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n{more}\r\n".encode("latin-1") + body


def _wrong_values(rng: random.Random) -> bytes:
    fields = {"q": "I am a student."}
    for name in rng.sample(FIELDS, rng.randint(1, 3)):
        fields[name] = rng.choice(VALUES)
    return _post(rng.choice(PATHS), json.dumps(fields).encode(), rng.choice(TYPES))


def _odd_bodies(rng: random.Random) -> bytes:
    body = rng.choice(
        (
            b"",
            b"{",
            b'{"q": "a"',
            b"[" * 3000,
            b'{"q":' * 1000,
            b"\xff\xfe\x00",
            b'{"q": NaN}',
            b'{"q": "a", "alternatives": ' + b"9" * 5000 + b"}",
            b'{"q": "a", "q": ["b"]}',
            b"q=%ZZ&q=%00&level=%FF",
            b"q=" + b"%EA%B0%80" * 100,
            b"&" * 2000,
            bytes(rng.randrange(256) for _ in range(200)),
        )
    )
    return _post(rng.choice(PATHS), body, rng.choice(TYPES))


def _large(rng: random.Random) -> bytes:
    size = rng.choice((10_000, 100_000, 1_000_000))
    body = rng.choice(
        (
            json.dumps({"q": "a " * (size // 2)}).encode(),
            json.dumps({"q": ["a"] * (size // 5)}).encode(),
            json.dumps({"q": "a", "x": "b" * size}).encode(),
            b"q=" + b"a" * size,
        )
    )
    return _post(rng.choice(PATHS), body, rng.choice(TYPES[:3]))


def _bad_http(rng: random.Random) -> bytes:
    return rng.choice(
        (
            b"\x16\x03\x01\x02\x00\x01\x00",  # TLS
            b"GET\r\n\r\n",
            b"\r\n\r\n\r\n\r\n",
            b"POST /translate HTTP/9.9\r\n\r\n",
            _post("/translate", b"{}", more="Content-Length: 99999\r\n"),
            _post("/translate", b"{}", more="Transfer-Encoding: chunked\r\n"),
            f"POST /translate HTTP/1.1\r\n{HOST}\r\nContent-Length: -5\r\n\r\n".encode(),
            f"POST /translate HTTP/1.1\r\n{HOST}\r\nContent-Length: 50\r\n\r\n{{".encode(),
            f"GET / HTTP/1.1\r\n{HOST}\r\nX: {'a' * 100_000}\r\n\r\n".encode(),
            f"GET /{'a' * 70_000} HTTP/1.1\r\n{HOST}\r\n\r\n".encode(),
            b"POST /translate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
            bytes(rng.randrange(256) for _ in range(300)) + b"\r\n\r\n",
        )
    )


def _odd_routes(rng: random.Random) -> bytes:
    method = rng.choice(("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"))
    path = rng.choice(
        (
            *("/", "/translate", "/nothing", "/%00", "/page/%00", "/page/..%2f..%2fapp.py"),
            *(
                "/page/../../../etc/passwd",
                "//evil.example/",
                "/page/%ff",
                "/docs",
                "/openapi.json",
            ),
            *("/frontend/settings?x=" + "y" * 5000, "/%2e%2e/%2e%2e", "/page", "/page/", "*"),
        )
    )
    return f"{method} {path} HTTP/1.1\r\n{HOST}\r\n\r\n".encode()
