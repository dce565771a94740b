"""From an application to a process that listens."""

import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from translator.errors import UserError


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound, so that whoever is told the address finds somebody there.

    Args:
        host: name or address, IPv4 or IPv6
        port: 0 is any that is free

    Raises:
        UserError: the address is taken or not this computer's.
    """
    if not 0 <= port <= 65535:  # some systems would take what is left of it
        raise UserError(f"cannot listen on {host}, port {port}: ports are 0 to 65535")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(2048)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise UserError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    return listener


def address_of(listener: socket.socket) -> str:
    """As a browser wants it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: FastAPI, listener: socket.socket, on_start: Callable[[], None]) -> None:
    """Answers until Ctrl-C or SIGTERM; requests at hand are finished."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # what people translate is nobody else's business
        timeout_keep_alive=5,
        timeout_graceful_shutdown=10,
        limit_concurrency=1000,
        server_header=False,
    )
    server = uvicorn.Server(config)
    on_start()
    server.run(sockets=[listener])
