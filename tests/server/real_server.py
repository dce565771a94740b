"""A server on this computer for tests that need a real one."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from translator.server.limits import Limits
from translator.server.running import address_of, configured, listen


@contextmanager
def running(app: FastAPI, limits: Limits | None = None) -> Iterator[str]:
    """The address of a server that runs in a thread."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(configured(app, limits or Limits()))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield address_of(listener)
    finally:
        server.should_exit = True
        thread.join()
