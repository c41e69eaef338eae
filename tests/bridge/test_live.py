"""The bridge as a process on hand-made emulated hardware: every way out leaves the drives off."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import tty
from pathlib import Path

import pytest

from config.load import dump
from lcmtypes.channels import BUS_STATUS, JOINT_COMMAND, JOINT_STATE
from lcmtypes.generated import JointCommand
from procs.runtime.bus import Bus
from procs.wire import emulated

ROOT = Path(__file__).resolve().parents[2]


class Serve(threading.Thread):
    """DIR/sync, DIR/spi<n>, DIR/imu and CAN buses in front of a side of conftest; one thread."""

    def __init__(self, directory, side, imu, links=()):
        super().__init__(daemon=True)
        self.directory, self.side, self.imu, self.links = directory, side, imu, list(links)
        self.off_at = self.on_at = None
        self.quit = False
        self.ticks, self.dones = [], 0
        names = [emulated.SYNC, *([emulated.spi_name(k) for k in range(2)] if not links else [])]
        self.listeners = {}
        for name in names:
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            sock.bind(str(directory / name))
            sock.listen(4)
            self.listeners[sock] = name
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        (directory / emulated.IMU).symlink_to(os.ttyname(self.slave))
        self.boards = [side.board(k) for k in range(2)] if not links else []

    def run(self):
        peers = {}
        while not self.quit:
            ready = select.select([*self.listeners, *peers, *self.links], [], [], 0.05)[0]
            for sock in ready:
                if sock in self.listeners:
                    peer, _ = sock.accept()
                    peers[peer] = self.listeners[sock]
                elif sock in peers:
                    try:
                        data = sock.recv(256)
                        if data:
                            self.answer(sock, peers[sock], data)
                    except ConnectionError:  # killed meanwhile
                        data = b""
                    if not data:
                        del peers[sock]
                        sock.close()
                else:
                    self.can(sock)
            if self.side.shafts.on.all():
                self.on_at = self.on_at or time.monotonic()
            if self.on_at and not self.side.shafts.on.any():
                self.off_at = self.off_at or time.monotonic()
        for sock in [*self.listeners, *peers]:
            sock.close()
        os.close(self.master)
        os.close(self.slave)

    def answer(self, sock, name, data):
        if name == emulated.SYNC:
            tick = emulated.read_tick(data)
            if tick is None:
                self.dones += data == emulated.DONE
                return
            self.ticks.append(tick)
            os.write(self.master, self.imu)
            sock.send(emulated.ACK)
        else:
            sock.send(self.boards[int(name[3:])].answer(data))

    def can(self, link):
        while (message := link.recv(0)) is not None:
            line = self.links.index(link)
            frame = link.to_frame(message)
            if frame in link.own:
                link.own.remove(frame)
                continue
            for reply in self.side.answer(line, frame):
                link.own.append(reply)
                link.send(link.to_message(reply))


def url():
    r = random.SystemRandom()
    return f"udpm://239.255.{r.randrange(80, 250)}.{r.randrange(1, 255)}:{r.randrange(20000, 60000)}?ttl=0"


class Session:
    """A bridge process whose samples are answered with a command that holds the robot."""

    def __init__(self, robot, directory, server, *options):
        self.server, self.url = server, url()
        description = directory / "robot.yaml"
        description.write_text(dump(robot.description))
        self.bus = Bus(self.url)
        self.samples, self.status = [], []
        self.bus.subscribe((JOINT_STATE,), self.on_sample)
        self.bus.subscribe((BUS_STATUS,), lambda channel, message: self.status.append(message))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "procs.bridge", "--robot", str(description), "--lcm-url", self.url]
            + ["--bus-dir", str(directory), "--lock-step", "--pace", "max", *options],
            cwd=ROOT, stderr=subprocess.PIPE,
        )  # fmt: skip

    def on_sample(self, channel, sample):
        self.samples.append(sample)
        command = JointCommand(sample.num_joints)
        command.run, command.seq = sample.run, sample.seq
        command.enable[:], command.q_des[:], command.kp[:], command.kd[:] = 1, sample.q, 20.0, 1.0
        self.bus.publish(JOINT_COMMAND, command)

    def until(self, done, patience=60.0):
        end = time.monotonic() + patience
        while not done():
            assert time.monotonic() < end and self.process.poll() is None, self.process.stderr.read().decode()
            self.bus.wait(0.01)

    def wait_off(self, patience=5.0):
        end = time.monotonic() + patience
        while self.server.off_at is None and time.monotonic() < end:
            time.sleep(0.001)
        return self.server.off_at


@pytest.fixture
def session(tmp_path):
    made = []

    def make(robot, server, *options):
        server.start()
        made.append(Session(robot, tmp_path, server, *options))
        return made[-1]

    yield make
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()
        one.process.stderr.close()
        one.server.quit = True
        one.server.join()
        for link in one.server.links:
            link.shutdown()


@pytest.fixture
def spine_server(bench, robot, tmp_path):
    one = bench(robot)
    return Serve(tmp_path, one.side, one.imu)


@pytest.fixture
def can_server(bench, tmp_path):
    import can

    from procs.wire.frame import CanFrame

    def make(robot):
        one = bench(robot)
        r = random.SystemRandom()
        places = [
            {"channel": f"239.255.{r.randrange(1, 255)}.{r.randrange(1, 255)}", "port": r.randrange(20000, 60000)}
            for _ in range(4)
        ]
        (tmp_path / "can.json").write_text(json.dumps({"buses": places}))
        links = [can.Bus(interface="udp_multicast", hop_limit=0, fd=False, **place) for place in places]
        for link in links:
            link.own = []
            link.to_frame = lambda m: CanFrame(m.arbitration_id, bytes(m.data), m.is_extended_id)
            link.to_message = lambda f: can.Message(arbitration_id=f.can_id, data=f.data, is_extended_id=f.extended)
        return Serve(tmp_path, one.side, one.imu, links)

    return make


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda s: s.name)
def test_every_way_out_switches_spine_drives_off(robot, spine_server, session, sig):
    live = session(robot, spine_server)
    live.until(lambda: spine_server.on_at is not None)
    live.until(lambda: len(live.samples) > 50)
    at = time.monotonic()
    live.process.send_signal(sig)
    off = live.wait_off()
    assert off is not None, "drives are still on"
    assert off - at < (0.5 if sig is signal.SIGKILL else 1.0)
    assert live.process.wait(5) == (-sig if sig is signal.SIGKILL else 0)
    print(f"{sig.name}: off after {1e3 * (off - at):.1f} ms")
    assert not spine_server.side.shafts.told[2:].any()


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_every_way_out_switches_can_drives_off(can_robot, can_server, session, sig):
    robot = can_robot()
    server = can_server(robot)
    live = session(robot, server)
    live.until(lambda: server.on_at is not None)
    live.until(lambda: len(live.samples) > 50)
    assert server.dones > 40
    at = time.monotonic()
    live.process.send_signal(sig)
    off = live.wait_off()
    assert off is not None, "drives are still on"
    assert off - at < (0.5 if sig is signal.SIGKILL else 1.0)
    print(f"{sig.name}: off after {1e3 * (off - at):.1f} ms")


def test_ticks_follow_the_samples_and_warm_up_ticks_are_negative(robot, spine_server, session):
    live = session(robot, spine_server)
    live.until(lambda: len(live.samples) > 20)
    live.process.send_signal(signal.SIGTERM)
    live.process.wait(5)
    seqs = [seq for _, seq in spine_server.ticks]
    assert {run for run, _ in spine_server.ticks} == {live.samples[0].run}
    assert [seq for seq in seqs if seq >= 0] == list(range(max(seqs) + 1))
    assert live.status and live.status[0].frames > 0


def bridge_alone(*options):
    """The bridge on real devices, of which there are none here."""
    return subprocess.run(
        [sys.executable, "-m", "procs.bridge", "--robot", "mini_cheetah", "--lcm-url", url(), *options],
        cwd=ROOT, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "allowed", [("--without-drive-watchdog",), ("--set", "bus.start.drive_watchdog=true")], ids=["told so", "described"]
)
def test_a_missing_device_is_one_clear_error(allowed):
    done = bridge_alone(*allowed)
    assert done.returncode == 2
    assert "spidev" in done.stderr and "Traceback" not in done.stderr


def test_drives_without_a_watchdog_are_not_driven_unless_told_so_in_so_many_words():
    done = bridge_alone()
    assert done.returncode == 2 and "spidev" not in done.stderr
    assert "bus.start.drive_watchdog: False" in done.stderr and "--without-drive-watchdog" in done.stderr


def test_lock_step_needs_emulated_hardware():
    done = subprocess.run(
        [sys.executable, "-m", "procs.bridge", "--lock-step"],
        cwd=ROOT, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "real motors do not wait" in done.stderr
