"""A page from somewhere else cannot reach the dashboard on this machine."""

import pytest

pytest.importorskip("viser")

import websockets.exceptions
import websockets.sync.client

from tools.dashboard.app import make_server


@pytest.fixture
def server():
    server = make_server(0, "test")
    yield server
    server.stop()


def connect(server, origin):
    return websockets.sync.client.connect(
        f"ws://127.0.0.1:{server.get_port()}", origin=origin, subprotocols=[f"viser-v{viser_version()}"]
    )


def viser_version():
    import viser

    return viser.__version__


@pytest.mark.parametrize("origin", ["http://example.org", "http://127.0.0.1.example.org", "null", None])
def test_another_pages_socket_is_refused(server, origin):
    with pytest.raises(websockets.exceptions.InvalidStatus, match="403"):
        connect(server, origin)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_our_own_page_is_served(server, host):
    with connect(server, f"http://{host}:{server.get_port()}") as socket:
        assert socket.recv(timeout=20)
