"""MIT relay: a tick's messages in, the same tick on MIT's channels out. It only looks: nobody of ours reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lcmtypes import mit_channels as mit
from lcmtypes.channels import BODY_STATE, GROUND_TRUTH, IMU, JOINT_COMMAND, LEG_COMMAND, LEG_STATE, Channel
from lcmtypes.generated import BodyState, GroundTruth, Imu, JointCommand, LegCommand, LegState
from lcmtypes.mit_types import MitMessage
from procs.mit_relay.convert import Converter
from procs.mit_relay.layout import Layout
from procs.model.robot import Robot
from procs.runtime.spec import Inputs, Outputs, ProcessSpec, latest, same

# What is published, in MIT's order of a tick, at MIT's rate, Hz; 0: each tick. MIT samples the microstrain at 1 kHz:
# here it has the plant's rate.
RATES: dict[Channel, float] = {
    mit.SIMULATOR_STATE: 0,
    mit.MICROSTRAIN: 0,
    mit.HW_VECTORNAV: 200,
    mit.LEG_CONTROL_COMMAND: 0,
    mit.LEG_CONTROL_DATA: 0,
    mit.STATE_ESTIMATOR: 0,
    mit.MAIN_CHEETAH_VISUALIZATION: 60,
    mit.SPI_DATA: 0,
    mit.SPI_COMMAND: 0,
}
# What each is made of; without it there is none in that tick.
NEEDS: dict[Channel, tuple[Channel, ...]] = {
    mit.SIMULATOR_STATE: (GROUND_TRUTH, LEG_STATE),
    mit.MICROSTRAIN: (IMU,),
    mit.HW_VECTORNAV: (IMU,),
    mit.LEG_CONTROL_COMMAND: (LEG_COMMAND,),
    mit.LEG_CONTROL_DATA: (LEG_STATE,),
    mit.STATE_ESTIMATOR: (BODY_STATE,),
    mit.MAIN_CHEETAH_VISUALIZATION: (BODY_STATE, LEG_STATE),
    mit.SPI_DATA: (LEG_STATE,),
    mit.SPI_COMMAND: (),
}
EMPTY: dict[Channel, Any] = {  # of the size that fits MIT's
    JOINT_COMMAND: JointCommand(12),
    LEG_COMMAND: LegCommand(4, 12),
    LEG_STATE: LegState(4, 12),
    BODY_STATE: BodyState(4),
    IMU: Imu(),
    GROUND_TRUTH: GroundTruth(4, 12),
}


class MitRelay:
    """Core of the process."""

    def __init__(self, robot: Robot) -> None:
        self._convert = convert = Converter(Layout(robot))
        self._sizes = {c: len(message.block) for c, message in EMPTY.items()}
        self._every = {c: max(1, round(1 / (rate * robot.dt))) if rate else 1 for c, rate in RATES.items()}
        self._make: dict[Channel, Callable[[Inputs], MitMessage]] = {
            mit.SIMULATOR_STATE: self._simulator_state,
            mit.MICROSTRAIN: lambda i: convert.microstrain(i[IMU], self._good, self._bad),
            mit.HW_VECTORNAV: lambda i: convert.hw_vectornav(i[IMU]),
            mit.LEG_CONTROL_COMMAND: lambda i: convert.leg_control_command(i[LEG_COMMAND]),
            mit.LEG_CONTROL_DATA: lambda i: convert.leg_control_data(i[LEG_STATE], i[JOINT_COMMAND]),
            mit.STATE_ESTIMATOR: lambda i: convert.state_estimator(i[BODY_STATE]),
            mit.MAIN_CHEETAH_VISUALIZATION: lambda i: convert.main_cheetah_visualization(i[BODY_STATE], i[LEG_STATE]),
            mit.SPI_DATA: lambda i: convert.spi_data(i[LEG_STATE]),
            mit.SPI_COMMAND: lambda i: convert.spi_command(i[JOINT_COMMAND]),
        }
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self._good = self._bad = 0  # IMU samples
        self._simulated: MitMessage | None = None

    def step(self, inputs: Inputs) -> Outputs:
        """One tick; a message whose sources are not there is left out."""
        seq = inputs[JOINT_COMMAND].seq
        there = {c for c, message in inputs.items() if message is not None and self._fits(c, message)}
        if IMU in there:
            good = bool(inputs[IMU].valid)
            self._good, self._bad = self._good + good, self._bad + (not good)
        truth = inputs[GROUND_TRUTH]
        if truth is not None and (truth.run, truth.seq) != (inputs[JOINT_COMMAND].run, seq):
            there.discard(GROUND_TRUTH)  # of another tick than the joints
        if JOINT_COMMAND not in there:
            return [None] * len(RATES)
        with np.errstate(all="ignore"):  # what 32 bits cannot hold is caught as not finite
            return [
                self._make[c](inputs) if seq % self._every[c] == 0 and there.issuperset(NEEDS[c]) else None
                for c in RATES
            ]

    def _fits(self, channel: Channel, message: Any) -> bool:
        return len(message.block) == self._sizes[channel] and getattr(message, "num_legs", 4) == 4

    def _simulator_state(self, inputs: Inputs) -> MitMessage:
        self._simulated = self._convert.simulator_state(inputs[GROUND_TRUTH], inputs[LEG_STATE], self._simulated)
        return self._simulated


# joint_command ends a tick, so that all inputs are there when it comes and nobody waits for the relay. ground_truth is
# there only in simulation: `latest`, because nobody may wait for what never comes.
SPEC = ProcessSpec(
    name="mit_relay",
    trigger=JOINT_COMMAND,
    reads=(same(LEG_COMMAND), same(LEG_STATE), same(BODY_STATE), same(IMU), latest(GROUND_TRUTH)),
    writes=tuple(RATES),
    core=MitRelay,
)
