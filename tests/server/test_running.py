import os
import socket

import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from translator.errors import UserError
from translator.server import running
from translator.server.running import address_of, listen


def test_the_address_is_one_for_a_browser():
    with listen("127.0.0.1", 0) as listener:
        assert address_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
    with listen("0.0.0.0", 0) as listener:
        assert address_of(listener).startswith("http://localhost:")


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_ipv6(host):
    try:
        listener = listen(host, 0)
    except UserError as error:
        pytest.skip(f"no IPv6 here: {error}")
    with listener:
        assert address_of(listener) == f"http://[::1]:{listener.getsockname()[1]}"


def test_another_port_helps_only_where_the_port_is_at_fault():
    with listen("127.0.0.1", 0) as other:
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=rf"port {port}: .+; choose another with --port"):
            listen("127.0.0.1", port)
    with pytest.raises(UserError) as error:
        listen("192.0.2.1", 0)  # an address for examples, nobody's
    assert "--port" not in str(error.value)


def test_only_where_it_is_safe_an_address_is_used_again(monkeypatch):
    option = (socket.SOL_SOCKET, socket.SO_REUSEADDR)
    assert (os.name == "posix") == running.REUSE_ADDRESS
    for wanted in (True, False):
        monkeypatch.setattr(running, "REUSE_ADDRESS", wanted)
        with listen("127.0.0.1", 0) as listener:
            assert bool(listener.getsockopt(*option)) == wanted
