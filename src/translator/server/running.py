"""From an application to a process that listens."""

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Final

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from translator.errors import UserError
from translator.server.limits import Limits

EXIT_FORCED: Final = 130
REUSE_ADDRESS: Final = os.name == "posix"
"""A port is free again as soon as its server has ended. On Windows the same option would let two
servers listen on one port.
"""


def listen(host: str, port: int) -> socket.socket:
    """A socket that already listens, so that whoever is told the address can connect.

    Args:
        host: name or address, IPv4 or IPv6
        port: 0 is any that is free

    Raises:
        UserError: the address is taken or not this computer's.
    """
    if not 0 <= port <= 65535:  # some systems would take what is left of it
        raise UserError(f"cannot listen on {host}, port {port}: ports are 0 to 65535")
    host = host.removeprefix("[").removesuffix("]")  # as IPv6 stands in addresses
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            if REUSE_ADDRESS:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(2048)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        remedy = ""
        if error.errno in {errno.EADDRINUSE, errno.EACCES}:
            remedy = "; choose another with --port (0: any free one)"
        raise UserError(f"cannot listen on {host}, port {port}: {error.strerror}{remedy}") from None
    except UnicodeError:
        raise UserError(f"cannot listen on {host!r}: this is no name of a host") from None
    return listener


def address_of(listener: socket.socket) -> str:
    """As a browser wants it."""
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:  # all of this computer's addresses; a browser wants one
        host = "localhost"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def configured(app: FastAPI, limits: Limits) -> uvicorn.Config:
    """How the application is run."""

    class Prompt(_Prompt):
        seconds = limits.seconds_to_send

    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # what people translate is nobody else's business
        http=Prompt,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=10,
        limit_concurrency=1000,
        server_header=False,
    )


def serve(
    app: FastAPI,
    limits: Limits,
    listener: socket.socket,
    on_start: Callable[[], None],
    on_stop: Callable[[], None],
) -> None:
    """Answers until Ctrl-C or SIGTERM. Requests at hand are finished; a second Ctrl-C ends the
    process at once.

    Args:
        on_start: called when the address answers
        on_stop: called at the first signal
    """
    server = _Server(configured(app, limits), on_stop)
    on_start()
    server.run(sockets=[listener])


class _Prompt(H11Protocol):
    """Closes a connection on which no whole head of a request arrives in time, at first or after an
    answer: otherwise a thousand silent ones would leave no place for anybody.
    """

    seconds: float
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected."""
        super().connection_made(transport)
        self._wait_for_head()

    def on_response_complete(self) -> None:
        """The next request may come."""
        super().on_response_complete()
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = self.loop.call_later(self.seconds, self._close_unless_begun)

    def _close_unless_begun(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


class _Server(uvicorn.Server):
    """Tells when it has been asked to end, and ends at once when it is asked again."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal has come."""
        if self.should_exit and sig == signal.SIGINT:
            os._exit(EXIT_FORCED)  # the thread that translates may be in the middle of a product
        self._on_stop()
        super().handle_exit(sig, frame)
