"""The command line: what it refuses, with a reason and code 2."""

from __future__ import annotations

import importlib.util
import socket

import pytest

import tools.dashboard.__main__ as dashboard


@pytest.fixture
def call(monkeypatch, command_line):
    return lambda *arguments: command_line(dashboard.main, *arguments)


def test_without_viser_it_says_how_to_install_it(call, monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert call() == 2
    assert "make dashboard" in capsys.readouterr().err


def test_a_taken_port_is_refused_and_not_silently_replaced(call, capsys):
    pytest.importorskip("viser")
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        assert call("--port", sock.getsockname()[1], "--kinematic") == 2
    assert "is taken" in capsys.readouterr().err


def test_an_unknown_robot_is_refused_with_the_known_ones(call, capsys):
    pytest.importorskip("viser")
    assert call("--port", "0", "--robot", "nobody") == 2
    assert "mini_cheetah" in capsys.readouterr().err
