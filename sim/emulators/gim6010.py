"""GIM6010-8 / ODrive-style drive: 11-bit frames in, frames out, time in ticks (Steadywin's manual, chapter 4).

Speaks by itself: heartbeat every 100 ms, encoder estimates every 10 ms. Positions are turns, torques N m at the ROTOR,
except mit_control (0x08): rad and N m at the output. After an axis error the axis is idle, and inputs are ignored
silently until clear_errors and a new closed loop.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import numpy as np

from procs.wire.frame import CanFrame
from procs.wire.gim6010_tables import COMMANDS, AxisState, ControlMode, Heartbeat, InputMode, Way
from procs.wire.mit_motors import MOTORS
from sim.emulators.can_motor import pack_reply, unpack_command, whole
from sim.emulators.condition import Condition
from sim.emulators.robot import Shaft

NUMBER = {command.name: number for number, command in COMMANDS.items()}
MOTOR_FAILED, WATCHDOG_EXPIRED, ESTOP_REQUESTED, OVER_TEMPERATURE = 0x40, 0x800, 0x4000, 0x40000  # of the axis
MOTOR_HOT, SYSTEM = 0x20000, 0x1000000  # of the motor; system: here the bus voltage
KT = 0.097  # N m/A at the rotor


@dataclass(frozen=True)
class GimQuirks:
    """What differs between units and firmwares."""

    layout: Heartbeat = Heartbeat.FROM_5_13
    heartbeat: float = 0.1  # s
    encoder: float = 0.01  # s, 0: only when asked
    watchdog: float = 0.0  # s, 0: off, the factory's setting; recommended 0.1
    gear: float = 8.0
    mit_control: bool = True  # firmware knows 0x08
    answers_remote: bool = True  # get commands by a remote frame or DLC 0
    answers_data: bool = True  # get commands by eight zeros (vendor SDK)
    boot_turns: float = 0.0  # of the output: absolute only within a rotor turn (0.1425 was seen after a reboot)
    pos_gain: float = 20.0  # 1/s
    vel_gain: float = 0.1  # N m/(turn/s) at the rotor
    velocity_limit: float = 30.0  # turn/s at the rotor
    input_filter: float = 10.0  # 1/s, bandwidth of input mode "position filter", as it leaves the factory
    supply_report: float = 0.0  # s between unasked reports of the bus voltage, 0: only when asked
    temperature_max: float = 120.0  # deg C, ODrive's default for a motor's thermistor
    voltage_range: tuple[float, float] = (8.0, 59.92)  # V, ODrive's defaults


class Gim6010:
    """One drive, `node` on its bus."""

    def __init__(
        self, shaft: Shaft, node: int, dt: float, rng: np.random.Generator, quirks: GimQuirks = GimQuirks(),
        condition: Condition | None = None,
    ) -> None:  # fmt: skip
        self.condition = condition or Condition()
        self.shaft, self.node, self.dt, self.rng, self.quirks = shaft, node, dt, rng, quirks
        self.limits = MOTORS["GIM6010-8"]
        self._boot()
        self.state = AxisState.IDLE

    def _boot(self) -> None:
        q = self.quirks
        self.axis_error = self.motor_error = 0
        self.mode = (int(ControlMode.POSITION), int(InputMode.DIRECT))
        self.pos_gain, self.vel_gain, self.limit = q.pos_gain, q.vel_gain, q.velocity_limit
        self.zero = -q.boot_turns * 2 * math.pi
        self.setpoint = 0.0  # torque, N m at the rotor
        self._wanted: tuple[float, float] | None = None  # turns and torque that the position filter goes after
        self._filtered = (0.0, 0.0)  # turns, turn/s
        self.life = 0
        self.mute = False
        self._tick = self._heard = 0
        self.state = AxisState.IDLE
        self.shaft.limp()

    def tick(self, tick: int) -> list[CanFrame]:
        """A new tick; heartbeat and encoder estimates that are due."""
        self._tick = tick
        q, closed = self.quirks, self.state == AxisState.CLOSED_LOOP
        self._protect()
        self._filter()
        if q.watchdog and closed and (tick - self._heard) * self.dt > q.watchdog:
            self._error(WATCHDOG_EXPIRED)
        if self.mute:
            return []
        out = []
        if self._due(q.heartbeat):
            out.append(self._heartbeat())
        if q.encoder and self._due(q.encoder):
            out.append(self._answer("get_encoder_estimates"))
        if q.supply_report and self._due(q.supply_report):
            out.append(self._answer("get_bus_voltage_current"))
        return out

    def _protect(self) -> None:
        """What is wrong now; errors stay until they are cleared, and come again if their cause is still there."""
        low, high = self.quirks.voltage_range
        hot = self.condition.temperature > self.quirks.temperature_max
        if hot and not self.motor_error & MOTOR_HOT:
            self.motor_error |= MOTOR_HOT
            self._error(MOTOR_FAILED | OVER_TEMPERATURE)
        if not low <= self.condition.voltage <= high and not self.motor_error & SYSTEM:
            self.motor_error |= SYSTEM
            self._error(MOTOR_FAILED)

    def fail(self, code: int) -> None:
        """A fault of the motor (its own error word); 0: the cause is gone, the error stays until cleared."""
        if code:
            self.motor_error = code
            self._error(MOTOR_FAILED)

    def receive(self, frame: CanFrame) -> list[CanFrame]:
        """A frame on the bus; the answer if it is for this drive."""
        node, number = frame.can_id >> 5, frame.can_id & 0x1F
        command = COMMANDS.get(number)
        if frame.extended or node != self.node or command is None or self.mute:
            return []
        self._heard = self._tick
        if command.way is Way.FROM_DRIVE:
            asked = frame.remote or not frame.data
            if self.quirks.answers_remote if asked else self.quirks.answers_data:
                return [self._answer(command.name)]
            return []
        if frame.remote:
            return []
        handler = getattr(self, f"_on_{command.name}", None)
        data = frame.data.ljust(8, b"\0")
        return (handler(data) or []) if handler is not None else []

    def _on_estop(self, _data: bytes) -> None:
        self._error(ESTOP_REQUESTED)

    def _on_get_error(self, data: bytes) -> list[CanFrame]:
        value = self.motor_error if data[0] == 0 else 0
        return [self._frame("get_error", struct.pack("<Q", value))]

    def _on_set_axis_node_id(self, data: bytes) -> None:
        self.node = data[0] & 0x3F

    def _on_set_axis_state(self, data: bytes) -> None:
        (wanted,) = struct.unpack_from("<I", data)
        if wanted == AxisState.CLOSED_LOOP:
            if not self.axis_error:
                self.state = AxisState.CLOSED_LOOP
                self._hold()
        elif wanted == AxisState.IDLE:
            self._idle()
        else:
            self._error(0x1)  # invalid state: nothing here can be calibrated

    def _on_mit_control(self, data: bytes) -> list[CanFrame]:
        if not self.quirks.mit_control:
            return []
        p, v, kp, kd, t = unpack_command(self.limits, data)
        shaft = self.shaft
        if self.state == AxisState.CLOSED_LOOP:
            self.shaft.drive(p + self.zero + shaft.position - shaft.output, v, kp, kd, t)
            self.setpoint = t / self.quirks.gear
        reply = pack_reply(self.limits, self.node, shaft.output - self.zero, shaft.velocity, shaft.torque)
        return [self._frame("mit_control", reply)]

    def _on_set_controller_mode(self, data: bytes) -> None:
        control, kind = struct.unpack("<II", data)
        self.mode = (control, kind)

    def _on_set_input_pos(self, data: bytes) -> None:
        position, velocity, torque = struct.unpack("<fhh", data)
        if not self._listens(ControlMode.POSITION, position):
            return
        if self.mode[1] == InputMode.POSITION_FILTER:
            if self._wanted is None:
                self._filtered = (self._turns(), 0.0)
            self._wanted = (position, 0.001 * torque)
        else:
            self._wanted = None
            self._drive(position, 0.001 * velocity, 0.001 * torque, self.pos_gain * self.vel_gain)

    def _filter(self) -> None:
        """Input mode "position filter": critically damped, so a ramp is followed 2 / bandwidth late (ODrive)."""
        if self._wanted is None or self.state != AxisState.CLOSED_LOOP:
            self._wanted = None
            return
        (wanted, torque), (turns, turn_s), b = self._wanted, self._filtered, self.quirks.input_filter
        turn_s += (b * b * (wanted - turns) - 2 * b * turn_s) * self.dt
        turns += turn_s * self.dt
        self._filtered = (turns, turn_s)
        self._drive(turns, turn_s, torque, self.pos_gain * self.vel_gain)

    def _on_set_input_vel(self, data: bytes) -> None:
        velocity, torque = struct.unpack("<ff", data)
        if self._listens(ControlMode.VELOCITY, velocity, torque):
            self._drive(0.0, min(max(velocity, -self.limit), self.limit), torque, 0.0)

    def _on_set_input_torque(self, data: bytes) -> None:
        (torque,) = struct.unpack_from("<f", data)
        if self._listens(ControlMode.TORQUE, torque):
            self._drive(0.0, 0.0, torque, 0.0, damped=False)

    def _on_set_limits(self, data: bytes) -> None:
        velocity, _current = struct.unpack("<ff", data)
        if math.isfinite(velocity):
            self.limit = velocity

    def _on_set_pos_gain(self, data: bytes) -> None:
        (self.pos_gain,) = struct.unpack_from("<f", data)

    def _on_set_vel_gains(self, data: bytes) -> None:
        self.vel_gain, _integrator = struct.unpack("<ff", data)

    def _on_reboot(self, _data: bytes) -> None:
        self._boot()

    def _on_save_configuration(self, _data: bytes) -> None:
        self._boot()

    def _on_clear_errors(self, _data: bytes) -> None:
        self.axis_error = self.motor_error = 0

    def _on_set_linear_count(self, data: bytes) -> None:
        (count,) = struct.unpack_from("<i", data)
        self.zero = self.shaft.position - count / 16384 * 2 * math.pi / self.quirks.gear

    def _on_disable_can(self, _data: bytes) -> None:
        self.mute = True

    def _listens(self, mode: ControlMode, *numbers: float) -> bool:
        return self.state == AxisState.CLOSED_LOOP and self.mode[0] == mode and all(math.isfinite(x) for x in numbers)

    def _drive(self, turns: float, turn_s: float, torque: float, stiffness: float, damped: bool = True) -> None:
        """Rotor units to the output shaft: gains per rotor turn times gear^2 / 2 pi."""
        gear, circle = self.quirks.gear, 2 * math.pi
        per_rad = gear * gear / circle
        damping = self.vel_gain * per_rad if damped else 0.0
        self.setpoint = torque
        self.shaft.drive(
            turns * circle / gear + self.zero, turn_s * circle / gear, stiffness * per_rad, damping, torque * gear
        )

    def _hold(self) -> None:
        """Closed loop begins where the shaft is."""
        if self.mode[0] == ControlMode.POSITION:
            self._drive(self._turns(), 0.0, 0.0, self.pos_gain * self.vel_gain)
        else:
            self._drive(0.0, 0.0, 0.0, 0.0, damped=self.mode[0] == ControlMode.VELOCITY)

    def _idle(self) -> None:
        self.state = AxisState.IDLE
        self.shaft.limp()

    def _error(self, bit: int) -> None:
        self.axis_error |= bit
        self._idle()

    def _turns(self) -> float:
        return (self.shaft.position - self.zero) * self.quirks.gear / (2 * math.pi)

    def _due(self, period: float) -> bool:
        every = max(1, round(period / self.dt))
        return (self._tick + self.node) % every == 0  # drives that were switched on together do not speak together

    def _heartbeat(self) -> CanFrame:
        place = self.quirks.layout.value
        body = bytearray(struct.pack("<IB", self.axis_error, self.state).ljust(8, b"\0"))
        body[place.motor[0]] |= (self.motor_error != 0) << place.motor[1]
        if place.system is not None:
            body[place.system[0]] |= (self.motor_error & SYSTEM != 0) << place.system[1]
        if place.life is not None:
            body[place.life] = self.life = (self.life + 1) & 0xFF
        return self._frame("heartbeat", bytes(body))

    def _answer(self, name: str) -> CanFrame:
        turns, turn_s = self._turns(), self.shaft.velocity * self.quirks.gear / (2 * math.pi)
        torque = self.shaft.torque / self.quirks.gear
        if name == "get_encoder_count":
            count = whole(16384 * turns)
            return self._frame(name, struct.pack("<ii", count, count % 16384))
        pairs = {
            "get_encoder_estimates": (turns, turn_s),
            "get_iq": (self.setpoint / KT, torque / KT),
            "get_bus_voltage_current": (self.condition.voltage, self.condition.current),
            "get_torques": (self.setpoint, torque),
            "get_powers": (torque * turn_s * 2 * math.pi, torque * turn_s * 2 * math.pi),
        }
        return self._frame(name, struct.pack("<ff", *pairs.get(name, (0.0, 0.0))))

    def _frame(self, name: str, data: bytes) -> CanFrame:
        return CanFrame(self.node << 5 | NUMBER[name], data)
