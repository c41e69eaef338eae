"""Live plant on a bus in memory: pause, lock step, who is missing, watchdog, estop and reset."""

from __future__ import annotations

import pytest

from config.scenario import Command
from lcmtypes.channels import (
    BODY_STATE,
    ESTOP,
    JOINT_COMMAND,
    JOINT_STATE,
    LEG_COMMAND,
    LEG_STATE,
    MOTION_COMMAND,
    PROC_HEALTH,
    RESET,
)
from lcmtypes.generated import BodyState, Estop, JointCommand, LegCommand, LegState, MotionCommand, Reset
from procs.runtime import live_plant
from procs.runtime.commands import CommandPlayer
from procs.runtime.live_plant import LivePlant
from procs.runtime.single import DuplicateProcessError

CHAIN = {
    BODY_STATE: lambda: BodyState(4),
    LEG_STATE: lambda: LegState(4, 12),
    LEG_COMMAND: lambda: LegCommand(4, 12),
    JOINT_COMMAND: lambda: JointCommand(12),
}


class Pipeline:
    """Answers each sample as the processes would, up to the channel `lacks`; `at` runs things at a tick."""

    def __init__(self, bus):
        self.bus, self.lacks = bus, None
        self.samples, self.health, self.at = [], [], {}
        bus.subscribe((JOINT_STATE,), self.on_sample)
        bus.subscribe((PROC_HEALTH,), lambda c, m: self.health.append(m))

    def on_sample(self, _channel, sample):
        self.samples.append(sample)
        action = self.at.pop((len(self.runs()), sample.seq), None)
        if action is not None:
            action()
        for channel, make in CHAIN.items():
            if channel is self.lacks:
                return
            message = make()
            message.run, message.seq = sample.run, sample.seq
            self.bus.publish(channel, message)

    def runs(self):
        return list(dict.fromkeys(s.run for s in self.samples))

    def seqs(self, run=-1):
        run = self.runs()[run]
        return list(dict.fromkeys(s.seq for s in self.samples if s.run == run))

    def last_error(self):
        return self.health[-1].last_error


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(live_plant, "PATIENCE", 0.1)
    monkeypatch.setattr(live_plant, "RESEND", 0.02)


@pytest.fixture
def pipeline(memory_bus):
    return Pipeline(memory_bus)


@pytest.fixture
def plant(loop, memory_bus):
    """A live plant; lock step as fast as it can unless told otherwise."""

    def make(**options):
        return LivePlant("sim", loop, memory_bus, **{"lock_step": True, "pace": None, "duration": 0.2, **options})

    return make


def published(bus, kind, channel, **fields):
    message = kind()
    message.utime = message.seq = 5
    for name, value in fields.items():
        setattr(message, name, value)
    return lambda: bus.publish(channel, message)


def test_lock_step_runs_the_whole_duration_with_an_answer_to_every_tick(plant, pipeline, loop, toy_plant):
    plant().run()
    pipeline.bus.drain()
    assert pipeline.seqs() == list(range(100))
    assert loop.counts.accepted == 100
    assert [m.seq for m in toy_plant.written] == list(range(100))
    assert toy_plant.stopped == 1
    assert all(s.lock_step == 1 for s in pipeline.samples)
    assert (pipeline.health[-1].state, pipeline.health[-1].missed) == ("stopping", 0)


@pytest.mark.parametrize("lacks", list(CHAIN), ids=lambda c: c.name)
def test_without_answers_lock_step_is_left_the_first_lacking_channel_named_and_damping_begins(
    plant, pipeline, loop, toy_plant, lacks
):
    pipeline.at[1, 30] = lambda: setattr(pipeline, "lacks", lacks)
    live = plant()
    live.run()
    pipeline.bus.drain()
    assert live.lost == lacks.name
    assert f"lock step left at tick 30: no {lacks.name} of this tick" in pipeline.last_error()
    assert pipeline.seqs()[-1] == 99  # it kept ticking
    assert [s.lock_step for s in pipeline.samples if s.seq > 30] == [0] * 69
    first = next(k for k, m in enumerate(toy_plant.written) if m.reason == "watchdog")
    assert first - 29 <= 15  # 30 ms after the sample of the last accepted command
    assert loop.state == "damping"


def test_an_answer_that_comes_late_but_in_time_keeps_lock_step(plant, pipeline):
    live = plant()
    pipeline.at[1, 30] = lambda: setattr(pipeline, "lacks", BODY_STATE)

    def wake():
        if len([s for s in pipeline.samples if s.seq == 30]) == 3:
            pipeline.lacks = None

    pipeline.bus.subscribe((JOINT_STATE,), lambda c, m: wake())
    live.run()
    assert live.lost == ""
    assert [s.seq for s in pipeline.samples].count(30) >= 3  # it was sent again


def test_the_plant_begins_paused_says_for_whom_it_waits_and_goes_on_once_answered(plant, pipeline):
    pipeline.lacks = LEG_STATE
    live = plant()

    def wake(_channel, health):
        if "leg_state of tick 0" in health.last_error:
            assert health.state == "paused"
            pipeline.lacks = None

    pipeline.bus.subscribe((PROC_HEALTH,), wake)
    live.run()
    pipeline.bus.drain()
    assert pipeline.seqs() == list(range(100))
    assert pipeline.last_error() == ""


def test_after_a_reset_a_new_run_is_in_lock_step_again(plant, pipeline, loop):
    live = plant()

    def revive():
        pipeline.lacks = None
        published(pipeline.bus, Reset, RESET, source="test")()

    pipeline.at[1, 10] = lambda: setattr(pipeline, "lacks", LEG_COMMAND)
    pipeline.at[1, 60] = revive
    live.run()
    assert len(pipeline.runs()) == 2
    assert pipeline.seqs() == list(range(100))
    assert [s.lock_step for s in pipeline.samples if s.run == pipeline.runs()[1]] == [1] * 100
    assert (live.lost, loop.state) == ("", "running")


def test_an_estop_damps_and_a_reset_makes_a_new_run_without_it(plant, pipeline, loop, toy_plant):
    pipeline.at[1, 20] = published(pipeline.bus, Estop, ESTOP, source="hand", reason="test")
    pipeline.at[1, 40] = published(pipeline.bus, Reset, RESET, source="hand")
    plant().run()
    reasons = [m.reason for m in toy_plant.written]
    assert reasons[25] == "estop by hand: test"
    assert len(pipeline.runs()) == 2
    assert (loop.latched, loop.state) == ("", "running")


def test_an_estop_after_a_reset_that_was_not_obeyed_yet_stays_latched(plant, pipeline, loop):
    reset = published(pipeline.bus, Reset, RESET, source="hand")
    estop = published(pipeline.bus, Estop, ESTOP, source="hand", reason="test")
    pipeline.at[1, 20] = lambda: (reset(), estop())
    plant().run()
    assert len(pipeline.runs()) == 1
    assert loop.state == "latched"


def test_a_reset_is_refused_while_motion_is_asked_for(plant, pipeline, loop):
    walk = published(pipeline.bus, MotionCommand, MOTION_COMMAND, mode="walk", vx=0.3, source="teleop")
    reset = published(pipeline.bus, Reset, RESET, source="hand")
    pipeline.at[1, 20] = lambda: (walk(), reset())
    plant().run()
    pipeline.bus.drain()
    assert len(pipeline.runs()) == 1
    assert "reset by hand refused: teleop asks for motion" in pipeline.last_error()


def test_motion_that_nobody_asks_for_any_more_does_not_stop_a_reset(plant, pipeline, monkeypatch):
    monkeypatch.setattr(live_plant, "FRESH", 0.0)
    walk = published(pipeline.bus, MotionCommand, MOTION_COMMAND, mode="walk", vx=0.3, source="teleop")
    reset = published(pipeline.bus, Reset, RESET, source="hand")
    pipeline.at[1, 20] = lambda: (walk(), reset())
    plant().run()
    assert len(pipeline.runs()) == 2


def test_on_hardware_a_reset_releases_the_latch_and_the_run_goes_on(plant, pipeline, loop):
    pipeline.at[1, 20] = published(pipeline.bus, Estop, ESTOP, source="hand", reason="test")
    pipeline.at[1, 40] = published(pipeline.bus, Reset, RESET, source="hand")
    plant(hardware=True, lock_step=False, pace=1.0).run()
    assert len(pipeline.runs()) == 1
    assert (loop.latched, loop.state, loop.counts.estops) == ("", "running", 1)


def test_a_scenarios_own_estop_and_reset_make_no_new_run(plant, pipeline, loop, robot):
    commands = [Command(t=0, mode="stand"), Command(t=0.05, estop=True), Command(t=0.1, reset=True)]
    plant(player=CommandPlayer(commands, robot.dt)).run()
    pipeline.bus.drain()
    assert len(pipeline.runs()) == 1
    assert (loop.counts.estops, loop.latched, loop.state) == (1, "", "running")


def test_a_scenarios_command_comes_before_the_sample_of_its_tick(plant, pipeline, robot):
    order = []
    pipeline.bus.subscribe((MOTION_COMMAND, JOINT_STATE), lambda c, m: order.append((m.seq, c)))
    commands = [Command(t=0, mode="stand"), Command(t=0.004, mode="walk")]
    plant(player=CommandPlayer(commands, robot.dt), duration=0.02).run()
    assert [seq for seq, channel in order if channel is JOINT_STATE] == list(range(10))
    for seq in (0, 2):
        assert order.index((seq, MOTION_COMMAND)) == order.index((seq, JOINT_STATE)) - 1


def test_real_time_keeps_ticking_without_answers_and_damps(plant, pipeline, toy_plant):
    pipeline.at[1, 10] = lambda: setattr(pipeline, "lacks", LEG_COMMAND)
    plant(lock_step=False, pace=1.0).run()
    assert pipeline.seqs() == list(range(100))
    assert all(s.lock_step == 0 for s in pipeline.samples)
    assert toy_plant.written[-1].reason == "watchdog"


def test_commands_of_a_foreign_run_are_refused_counted_and_named(plant, pipeline):
    intruder = JointCommand(12)
    intruder.run, intruder.seq = 99, 20
    pipeline.at[1, 20] = lambda: pipeline.bus.publish(JOINT_COMMAND, intruder)
    plant().run()
    pipeline.bus.drain()
    assert pipeline.health[-1].refused == 1
    assert "joint_command of run 63" in pipeline.last_error()


def test_missed_is_never_negative_after_a_reset(plant, pipeline):
    pipeline.at[1, 80] = published(pipeline.bus, Reset, RESET, source="hand")
    plant().run()
    pipeline.bus.drain()
    assert all(h.missed >= 0 for h in pipeline.health)


def test_a_plant_beside_an_elder_of_its_name_ends_and_releases_everything(plant, pipeline, toy_plant):
    live = plant(duration=None)
    elder = live.health.message()
    elder.instance, elder.state = live.health.instance - 1, "running"
    pipeline.at[1, 20] = lambda: pipeline.bus.publish(PROC_HEALTH, elder)
    with pytest.raises(DuplicateProcessError, match="a process named sim already runs"):
        live.run()
    assert toy_plant.stopped == 1


def test_a_plant_answers_a_younger_one_of_its_name_at_once_also_while_paused(plant, pipeline):
    pipeline.lacks = JOINT_COMMAND
    live = plant()
    younger = live.health.message()
    younger.instance, younger.state = live.health.instance + 1, "starting"
    answers = []

    def note(_channel, health):
        if health.instance == live.health.instance and health.state == "paused" and len(answers) < 3:
            answers.append(health)
            pipeline.bus.publish(PROC_HEALTH, younger)
            if len(answers) == 3:
                live.stop()

    pipeline.bus.subscribe((PROC_HEALTH,), note)
    live.run()
    assert len(answers) == 3
