"""Bus faults: what each does to the bytes, which decoder notices it, seeds, spans."""

from __future__ import annotations

import numpy as np
import pytest

from config.scenario import BUS_KINDS, Fault
from procs.wire import spine
from procs.wire.decode import Reason
from procs.wire.frame import CanFrame
from procs.wire.mit_can import MitCodec
from procs.wire.mit_motors import MOTORS
from procs.wire.vectornav import MIT_HEADER, Parser
from sim.emulators.bus_faults import BusFaults
from sim.emulators.spine_board import pack_frame

GOOD = [pack_frame([0.1, 1.2, -2.3, 0.4, -1.5, 2.6], [0.7, -0.8, 0.9, -1.0, 1.1, -1.2], (0, 0)),
        pack_frame([-0.2, 2.1, 3.2, 0.3, -1.4, -2.5], [-0.6, 0.5, 0.4, 0.3, 0.2, -0.1], (0, 0))]  # fmt: skip


def faults_on(robot, *faults, seed=1):
    return BusFaults(robot, faults, np.random.default_rng(seed))


def corrupt(mode, **more):
    return Fault(t=0.0, kind="bus_corrupt", mode=mode, **more)


def spoiled(faults, times=200):
    """Replies of both boards, many times."""
    return [[faults.spi(board, GOOD[board], seq) for board in range(2)] for seq in range(times)]


NOTICED = {
    "checksum": {Reason.CHECKSUM}, "zero": {Reason.ALL_ZERO}, "shift": {Reason.CHECKSUM},
    "or": {Reason.CHECKSUM}, "last_wins": {Reason.CHECKSUM, None},
}  # fmt: skip


@pytest.mark.parametrize("mode", sorted(NOTICED))
def test_corruption_that_the_frame_itself_gives_away(spine_robot, mode):
    reasons = {spine.unpack_boards(rx).reasons[0] for rx in spoiled(faults_on(spine_robot, corrupt(mode)))[1:]}
    assert reasons == NOTICED[mode]


def test_a_single_flip_is_noticed_and_three_flips_almost_always(spine_robot):
    replies = [spine.unpack_boards(rx).reasons[0] for rx in spoiled(faults_on(spine_robot, corrupt("flip")), 1000)]
    assert replies.count(Reason.CHECKSUM) > 970  # two flips in one column of the XOR stay unseen


@pytest.mark.parametrize("mode", ["nan", "saturate", "jump", "pair"])
def test_corruption_with_a_right_checksum(spine_robot, mode):
    seen = set()
    for rx in spoiled(faults_on(spine_robot, corrupt(mode))):
        data = spine.unpack_boards(rx)
        assert data.reasons == (None, None)
        changed = np.flatnonzero(rx[0] != GOOD[0] and data.q[:6] != spine.unpack_boards(GOOD).q[:6])
        seen |= set(changed.tolist())
        if mode == "nan":
            assert not data.valid[:6].all()
        elif mode == "saturate":
            assert np.abs(data.q[:6]).max() == 12.5
        elif mode == "jump":
            assert np.abs(data.q - spine.unpack_boards(GOOD).q).max() > 0.49
    assert seen == set(range(6))


def test_or_and_last_driver_wins_take_the_bytes_of_the_other_board(spine_robot):
    rx = spoiled(faults_on(spine_robot, corrupt("or", line=0)), 2)[1]
    assert rx[0] == bytes(a | b for a, b in zip(*GOOD, strict=True)) and rx[1] == GOOD[1]
    for reply, _ in spoiled(faults_on(spine_robot, corrupt("last_wins", line=0)))[1:]:
        at = next((i for i in range(132) if reply[i] != GOOD[0][i]), 132) // 2 * 2
        assert reply[at:] == GOOD[1][at:]


def test_silence_staleness_and_short_transfers(spine_robot):
    assert spoiled(faults_on(spine_robot, Fault(t=0, kind="bus_silent", line=1)), 1) == [[GOOD[0], bytes(132)]]
    faults = faults_on(spine_robot, Fault(t=0, kind="stale", line=0))
    assert [faults.spi(0, bytes([n]) * 132, n)[:1] for n in range(4)] == [b"\0", b"\0", b"\1", b"\2"]
    lengths = {len(rx[0]) for rx in spoiled(faults_on(spine_robot, Fault(t=0, kind="wrong_dlc")))}
    assert max(lengths) < 132 and len(lengths) > 50


def test_span_probability_and_seed(spine_robot):
    fault = corrupt("zero", probability=0.3, line=0)
    fault = fault.model_copy(update={"t": 0.1, "duration": 2.0})
    one = spoiled(faults_on(spine_robot, fault), 1200)
    hit = [k for k, rx in enumerate(one) if rx[0] != GOOD[0]]
    assert min(hit) >= 50 and max(hit) < 1050 and 240 < len(hit) < 360
    assert all(rx[1] == GOOD[1] for rx in one)
    assert one == spoiled(faults_on(spine_robot, fault), 1200) != spoiled(faults_on(spine_robot, fault, seed=2), 1200)
    assert faults_on(spine_robot).spi(0, GOOD[0], 0) is GOOD[0]


@pytest.fixture
def can_robot(on_bus, buses):
    return on_bus(buses["can"]())


MOTOR = MOTORS["mini_cheetah"]
CODEC = MitCodec((MOTOR,))
REPLY = CanFrame(0, CODEC.pack_replies([2], [0.5], [1.0], [2.0])[0])


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("wrong_dlc", Reason.LENGTH), ("bus_silent", Reason.MISSING), ("saturate", Reason.SATURATED),
     ("zero", Reason.IDENTIFIER)],
)  # fmt: skip
def test_can_faults_that_the_decoder_names(can_robot, kind, reason):
    fault = Fault(t=0, kind=kind) if kind in BUS_KINDS else corrupt(kind)
    faults, found = faults_on(can_robot, fault), set()
    for seq in range(100):
        frames = faults.can(0, REPLY, seq)
        found.add(CODEC.unpack([frames[0].data if frames else None], [2]).reasons[0])
    assert reason in found and (found == {reason} or kind == "wrong_dlc")


def test_foreign_frames_come_beside_the_good_one_and_jumps_move_the_position(can_robot):
    good, foreign = faults_on(can_robot, Fault(t=0, kind="foreign_id")).can(0, REPLY, 0)
    assert good == REPLY and foreign.data[0] >= 100
    for seq in range(20):
        (frame,) = faults_on(can_robot, corrupt("jump"), seed=seq).can(0, REPLY, 0)
        assert abs(CODEC.unpack([frame.data]).position[0] - 0.5) > 0.7


def test_frames_that_wait_together_can_come_in_another_order(can_robot):
    faults = faults_on(can_robot, Fault(t=0, kind="reordered"))
    frames = [CanFrame(n) for n in range(6)]
    out = [faults.order(0, frames, seq) for seq in range(20)]
    assert all(sorted(f) == frames for f in out) and any(f != frames for f in out)


def test_the_imus_line_has_faults_of_its_own(hardware, spine_robot):
    def packets(*faults):
        hw = hardware(spine_robot, faults=[Fault(t=0, channel="imu", **f) for f in faults])
        parser, spi = Parser(MIT_HEADER), []
        out = []
        for seq in range(30):
            hw.tick(1, seq)
            out += parser.feed(hw.imu_bytes())
            spi.append(hw.exchange(0, bytes(132)))
            hw.done()
        return len(out), parser.bad_crc, spi

    clean = packets()
    assert clean[:2] == (30, 0)
    for mode in ("flip", "zero"):
        many, _bad, spi = packets({"kind": "bus_corrupt", "mode": mode})
        assert many < 3 and spi == clean[2]
    assert packets({"kind": "bus_silent"})[0] == 0
    assert packets({"kind": "bus_corrupt", "mode": "shift"})[0] == 30
    assert packets({"kind": "stale"})[0] == 30
    assert packets({"kind": "wrong_dlc"})[0] == 0


def test_a_motors_fault_comes_and_goes_with_its_span(hardware, can_robot):
    fault = Fault(t=0.02, duration=0.02, kind="motor_fault", joint="FL.hip", value=1)
    hw = hardware(can_robot, faults=[fault])
    errors = []
    for seq in range(40):
        hw.tick(1, seq)
        errors.append([drive.error for drive in hw.drives])
    errors = np.array(errors)
    assert errors[:10].max() == 0 and (errors[10:20, 4] == 1).all() and errors[20:].max() == 0
    assert np.delete(errors, 4, axis=1).max() == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [({"line": 2}, "no line 2"), ({"joint": "XX.hip"}, "no joint 'XX.hip'"), ({"channel": "joint_state"}, "only imu")],
)
def test_what_is_not_there_cannot_be_faulty(spine_robot, change, words):
    with pytest.raises(ValueError, match=words):
        faults_on(spine_robot, Fault(t=0, kind="bus_silent", **change))


def test_the_plain_simulator_has_no_bus_and_takes_the_scenario_all_the_same(spine_robot):
    from config.scenario import PlantOptions
    from sim.plant import SimPlant

    faults = [Fault(t=0, kind="bus_silent"), corrupt("nan", channel="imu"),
              Fault(t=0, kind="motor_fault", joint="FR.hip", value=1)]  # fmt: skip
    plant = SimPlant(spine_robot, PlantOptions(imu_noise=False), seed=1, faults=faults)
    plant.start(1)
    imu, joints = plant.read()
    plant.stop()
    assert imu.finite() and joints.finite() and imu.valid
