"""Session: one operator at one robot. Input devices in, 50 commands a second out, the robot's answers kept."""

from __future__ import annotations

from config.schema import RobotDescription
from lcmtypes.channels import MODE_STATE
from procs.runtime.bus import Bus
from tools.operator import Operator
from tools.teleop.drive import FORGET, Drive
from tools.teleop.envelope import Envelope
from tools.teleop.gamepad import Gamepad
from tools.teleop.keyhold import KeyHold
from tools.teleop.keymap import DRIVING, Action
from tools.teleop.view import RobotView

PERIOD = 0.02  # s between two commands
CONFIRM = 2.0  # s within which a reset in mid-motion must be asked for twice
BEFORE_RESET = 0.06  # s of commands without motion before a reset: it is refused while motion is asked for
NOTE = 4.0  # s for which a note to the operator stands


class Session:
    """Keys or a gamepad, a Drive, an Operator. Times are seconds of one clock; `tick` is called every PERIOD.

    With a gamepad only that drives; keys still press. While it is unplugged nothing is published: the robot's
    controller drops the source and stops, as it does when this program dies.
    """

    def __init__(
        self,
        bus: Bus,
        description: RobotDescription | None = None,
        gamepad: Gamepad | None = None,
        keys: KeyHold | None = None,
    ) -> None:
        self.bus, self.gamepad = bus, gamepad
        self.view = RobotView(bus)
        self.drive = Drive(Envelope.of(description) if description else None)
        self.keys = keys or KeyHold()
        self.operator = Operator(bus, "gamepad" if gamepad else "keyboard")
        self.quitting = self.wants_help = False
        self.handed_over = False  # by choice: silent, so that others may drive
        self._given = description is not None
        self._note, self._noted = "", -1e9
        self._reset_pressed, self._reset_due = -1e9, -1.0
        self._now = 0.0

    # -- input --------------------------------------------------------------------------------------------------------

    def key(self, key: str, action: Action | None, t: float) -> None:
        """A driving key (no action) or a pressed one."""
        if action is not None:
            self.do(action, t)
        elif self.gamepad is None and key in DRIVING:
            self.keys.press(key, *DRIVING[key], t)
            self._hint(t)

    def do(self, action: Action, t: float) -> None:
        """An action of the key map or of a gamepad's button."""
        drive = self.drive
        match action.do:
            case "estop":
                self.let_go()
                self.operator.estop("pressed")
                self.note("E-STOP sent", t)
            case "reset":
                self._press_reset(t)
            case "request":
                drive.request(action.what, t)
                mode = self.view.mode
                if mode is not None and mode.mode == "estop":
                    self.note("the E-STOP is latched: reset first (U)", t)
            case "choose_gait":
                self.note(drive.choose_gait(int(action.amount)), t)
            case "next_gait":
                drive.next_gait(int(action.amount))
            case "change_level":
                drive.change_level(int(action.amount))
            case "change":
                drive.change(action.what, int(action.amount))
            case "level_out":
                drive.level_out()
            case "hand_over":
                self.handed_over = not self.handed_over
            case "help":
                self.wants_help = not self.wants_help
            case "quit":
                self.quitting = True
            case _:
                raise ValueError(f"no action {action.do!r}")

    def let_go(self) -> None:
        """Nothing is held or asked for any more (E-STOP, the terminal lost the focus)."""
        self.keys.release()
        self.drive.let_go()

    def note(self, text: str, t: float) -> None:
        """Tell the operator something for a while."""
        if text:
            self._note, self._noted = text, t

    def _press_reset(self, t: float) -> None:
        mode = self.view.mode
        harmless = mode is None or mode.mode in FORGET
        if not harmless and t - self._reset_pressed > CONFIRM:
            self._reset_pressed = t
            self.note(f"reset while the robot is in {mode.mode if mode else '?'}: press again within {CONFIRM:g} s", t)
            return
        self._reset_pressed = -1e9
        self.let_go()
        self.drive.level_out()
        self._reset_due = t + BEFORE_RESET

    def _hint(self, t: float) -> None:
        mode = self.view.mode
        if self.drive.envelope is None:
            self.note("the robot's limits are not known yet: start the stack with tools.up, or give --robot", t)
        elif mode is not None and mode.mode != "walk" and self.drive.mode != "walk":
            self.note(f"the robot is in {mode.mode}: press V to walk", t)

    # -- every PERIOD -------------------------------------------------------------------------------------------------

    def tick(self, t: float) -> bool:
        """Take what has come and publish one command; False if nothing was published."""
        self._now = t
        self.bus.drain()
        self.view.look(t)
        self._follow(t)
        if self.gamepad is not None:
            for action in self.gamepad.poll(t):
                self.do(action, t)
        if self.handed_over or (self.gamepad is not None and not self.gamepad.connected):
            self.let_go()
            return False
        self.drive.hold(self.keys.fractions(t) if self.gamepad is None else self.gamepad.fractions())
        self.operator.motion(self.drive.command(t))
        if 0 <= self._reset_due <= t:
            self._reset_due = -1.0
            self.operator.reset("pressed")
            self.note("reset sent", t)
        return True

    def close(self) -> None:
        """The last word: no motion. Then the source falls silent, and the controller drops it."""
        self.let_go()
        self.operator.motion(self.drive.command(self._now))

    def _follow(self, t: float) -> None:
        self.drive.follow(self.view.mode, t)
        if not self._given and self.view.description is not None:
            self.drive.set_envelope(Envelope.of(self.view.description))

    # -- what the screen asks -----------------------------------------------------------------------------------------

    def in_control(self) -> bool:
        """The controller obeys us."""
        mode = self.view.mode
        return mode is not None and mode.source == self.operator.source

    def warnings(self) -> list[str]:
        """Notes and warnings, the newest note first."""
        out = [self._note] if self._now - self._noted < NOTE else []
        known, mode = self.view.description, self.view.mode
        if self._given and known is not None and self.drive.envelope and known.name != self.drive.envelope.robot:
            out.append(f"the robot on the bus is {known.name}, not {self.drive.envelope.robot}")
        if self.gamepad is not None and not self.gamepad.connected:
            out.append(f"no gamepad: {self.gamepad.problem}; nothing is sent, the robot stops")
        elif self.handed_over:
            out.append("handed over: nothing is sent; P takes control again")
        elif mode is not None and not self.in_control():
            out.append(f"not in control: {mode.source or 'nobody'} is obeyed")
        return out + self.view.warnings()

    def age(self) -> float:
        """s of the newest mode_state."""
        return self.view.age(MODE_STATE)
