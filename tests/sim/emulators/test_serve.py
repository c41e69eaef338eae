"""The emulated hardware behind its sockets: lock step, ends, ground truth; with a client made here."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from config.load import dump
from config.scenario import PlantOptions
from lcmtypes.channels import GROUND_TRUTH, PROC_HEALTH
from procs.wire import spine
from procs.wire.emulated import ACK, DONE, IMU, SYNC, spi_name, tick
from procs.wire.frame import CanFrame
from procs.wire.mit_can import Special
from procs.wire.vectornav import MIT_HEADER, Parser
from sim.emulators.can_link import CanLink, open_bus
from sim.emulators.hardware import EmulatedSpine, emulated
from sim.serve import Server

ROOT = Path(__file__).parents[3]


class RecordingBus:
    """What is published, without LCM."""

    url, counts = "none", {"decode_errors": 0, "not_finite": 0}

    def __init__(self):
        self.sent = []

    def publish(self, channel, message):
        self.sent.append((channel, message.copy()))

    def subscribe(self, channels, handler):
        return []

    def wait(self, seconds):
        return False

    def drain(self):
        return 0


def connect(path, patience=20.0):
    end = time.monotonic() + patience
    while True:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            sock.connect(str(path))
            sock.settimeout(20.0)
            return sock
        except OSError:
            sock.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


class Client:
    """A bridge in a few lines."""

    def __init__(self, directory, boards=2):
        self.sync = connect(directory / SYNC)
        self.boards = [connect(directory / spi_name(b)) for b in range(boards)]
        self.imu = os.open(directory / IMU, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self.parser = Parser(MIT_HEADER)

    def begin(self, run, seq):
        self.sync.send(tick(run, seq))
        assert self.sync.recv(64) == ACK
        return self.parser.feed(os.read(self.imu, 4096))

    def exchange(self, frames):
        for board, frame in zip(self.boards, frames, strict=True):
            board.send(frame)
        return [board.recv(4096) for board in self.boards]

    def close(self):
        for sock in (self.sync, *self.boards):
            sock.close()
        os.close(self.imu)


@pytest.fixture
def serve(tmp_path):
    """Starts a server in a thread; it has ended, by itself or stopped, when the test ends."""
    running = []

    def start(robot, **more):
        hardware = emulated(robot, PlantOptions(imu_noise=False, suspended=True), 1, **more)
        server = Server(hardware, tmp_path, RecordingBus())
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        return server, thread

    yield start
    for server, thread in running:
        if thread.is_alive():
            server.stop()
        thread.join(10)
        assert not thread.is_alive()


def test_sockets_carry_the_same_bytes_as_memory_and_truth_has_the_bridges_run_and_tick(serve, spine_robot, tmp_path):
    server, _thread = serve(spine_robot)
    memory = EmulatedSpine(spine_robot, PlantOptions(imu_noise=False, suspended=True), 1)
    client = Client(tmp_path)
    frames = [spine.pack_commands([0.1] * 12, [0] * 12, [10] * 12, [0.5] * 12, [0] * 12, [1] * 4)[b] for b in (0, 1)]
    for seq in range(-3, 30):
        memory.tick(77, seq)
        packets = client.begin(77, seq)
        assert len(packets) == 1
        assert Parser(MIT_HEADER).feed(memory.imu_bytes())[0].keys() == packets[0].keys()
        assert client.exchange(frames) == [memory.exchange(b, frames[b]) for b in (0, 1)]
        memory.done()
    client.close()
    memory.stop()
    truth = [m for c, m in server.bus.sent if c is GROUND_TRUTH]
    assert [(m.run, m.seq) for m in truth] == [(77, seq) for seq in range(30)]
    assert truth[-1].utime == 29 * 2000
    assert any(c is PROC_HEALTH and m.name == "sim" for c, m in server.bus.sent)


def test_the_physics_waits_for_all_boards_and_steps_once_per_tick(serve, spine_robot, tmp_path):
    server, _thread = serve(spine_robot)
    plant, steps = server.hardware.robot.plant, []
    advance = plant.advance
    plant.advance = lambda command: (steps.append(1), advance(command))
    client = Client(tmp_path)
    client.begin(1, 0)
    for board, expected in ((0, 0), (0, 0), (1, 1), (0, 1), (1, 1)):  # again after the tick's end: nothing moves
        client.boards[board].send(bytes(132))
        client.boards[board].recv(4096)
        assert expected - 1 <= len(steps) <= expected  # the answer goes out before the physics
    client.begin(1, 1)
    assert len(steps) == 1
    client.begin(1, 2)  # nobody exchanged anything: time goes on all the same
    assert len(steps) == 2
    assert server.overruns == 1
    client.close()


def test_a_new_run_begins_anew(serve, spine_robot, tmp_path):
    serve(spine_robot)
    client = Client(tmp_path)

    def play(run):
        out = []
        for seq in range(10):
            client.begin(run, seq)
            out.append(client.exchange([bytes(132)] * 2))
        return out

    assert play(5) == play(6)
    client.close()


def test_the_server_ends_when_the_bridge_has_gone_but_waits_for_its_guardian(serve, spine_robot, tmp_path):
    server, thread = serve(spine_robot)
    client = Client(tmp_path)
    client.begin(1, 0)
    on = spine.pack_commands([0.0] * 12, [0] * 12, [10] * 12, [0] * 12, [0] * 12, [1] * 4)
    client.exchange(on)
    client.begin(1, 1)
    client.exchange(on)
    assert server.hardware.robot.on.all()
    client.close()
    guardian = Client(tmp_path)
    guardian.exchange([bytes(132)] * 2)
    assert not server.hardware.robot.on.any()
    guardian.close()
    thread.join(10)
    assert not thread.is_alive()
    assert sorted(p.name for p in tmp_path.iterdir()) == []


def test_can_frames_travel_over_private_multicast_and_done_closes_the_tick(serve, on_bus, buses, tmp_path):
    server, _thread = serve(on_bus(buses["can"]()))
    sync = connect(tmp_path / SYNC)
    where = json.loads((tmp_path / "can.json").read_text())["buses"]
    assert len(where) == 4 and all(bus["channel"].startswith("239.255.") for bus in where)
    link = CanLink("udp_multicast", [(bus["channel"], bus["port"]) for bus in where])
    for seq in range(20):
        sync.send(tick(1, seq))
        assert sync.recv(64) == ACK
        replies = []
        for line in range(4):
            for motor in (1, 2, 3):
                link.send(line, CanFrame(motor, Special.ENTER.value))
        end = time.monotonic() + 5
        while len(replies) < 12 and time.monotonic() < end:
            for line in range(4):
                replies += link.receive(line)
        assert sorted(frame.data[0] for frame in replies) == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
        assert {frame.can_id for frame in replies} == {0}
        sync.send(DONE)
    assert server.hardware.robot.on.all()
    sync.close()
    link.close()


@pytest.mark.parametrize("interface", ["socketcan", "slcan", "pcan", "socketcand", ""])
def test_no_real_can_interface_can_be_opened_by_an_emulator(interface):
    with pytest.raises(ValueError, match="only udp_multicast and virtual are allowed"):
        open_bus(interface, "can0")


def test_the_command_line_serves_and_ends_on_sigterm(spine_robot, tmp_path):
    description = tmp_path / "robot.yaml"
    description.write_text(dump(spine_robot.description))
    bus = tmp_path / "bus"
    url = f"udpm://239.255.77.{os.getpid() % 250 + 1}:{20000 + os.getpid() % 40000}?ttl=0"
    process = subprocess.Popen(
        [sys.executable, "-m", "sim", "--robot", str(description), "--serve-bus", str(bus), "--lcm-url", url],
        cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        client = Client(bus)
        client.begin(3, 0)
        assert len(client.exchange([bytes(132)] * 2)) == 2
        process.send_signal(signal.SIGTERM)
        _out, errors = process.communicate(timeout=20)
        client.close()
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, errors
    assert "Traceback" not in errors


def test_a_robot_without_bus_section_is_refused_in_one_line(spine_robot, tmp_path):
    description = tmp_path / "robot.yaml"
    description.write_text(dump(spine_robot.description.model_copy(update={"bus": None})))
    done = subprocess.run(
        [sys.executable, "-m", "sim", "--robot", str(description), "--serve-bus", str(tmp_path / "bus")],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no bus section" in done.stderr and "Traceback" not in done.stderr
