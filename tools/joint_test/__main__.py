"""Test joints of a robot in a rig, one after the other: hold, sine or step; prints the tracking error per class.

    python -m tools.joint_test FR.hip --wave sine --amplitude 0.1 --period 2
    python -m tools.joint_test all --wave step --amplitude 0.05 --csv errors.csv

The stack must run (make up) and the robot must hang in its rig, in mode `ready`. All other joints are damped. Gains
begin low and ramp in the controller; packer and plant keep their limits. It asks before it moves anything (--yes: not).
Ctrl-C, or the end of this program in any way, lets go of the joint in 0.3 s.
Exit code 0; 1: a joint was not driven; 2: usage, no LCM, no robot.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from config.load import ConfigError, load_robot
from lcmtypes.channels import JOINT_COMMAND, JOINT_STATE, MODE_STATE
from lcmtypes.generated import JointState, ModeState, MotionCommand
from procs.model.robot import Robot
from procs.runtime.bus import DEFAULT_URL, Bus, BusError
from tools.joint_test.signals import WAVES, Motion, Settings
from tools.joint_test.tracking import Error, Tracking, write_csv
from tools.operator import Operator
from tools.parameters import description_on
from tools.progress import bar

RATE = 50.0  # Hz of joint_test and motion_command
PATIENCE = 5.0  # s for a mode


class TestError(RuntimeError):
    """The robot does not do what the test needs."""


class Bench:
    """The running robot as the test sees it."""

    def __init__(self, bus: Bus, robot: Robot, ended: threading.Event) -> None:
        self.bus, self.robot, self.ended = bus, robot, ended
        self.operator = Operator(bus, "joint_test")
        self.tracking = Tracking(robot)
        self.mode: ModeState | None = None
        self.joints: JointState | None = None
        self._tested: tuple[int, float] | None = None
        bus.subscribe((JOINT_COMMAND,), lambda _c, m: self.tracking.command(m))
        bus.subscribe((JOINT_STATE,), self._on_joints)
        bus.subscribe((MODE_STATE,), self._on_mode)

    def _on_joints(self, _channel: object, message: JointState) -> None:
        self.joints = message
        if self._tested is not None:
            self.tracking.state(message, *self._tested)

    def _on_mode(self, _channel: object, message: ModeState) -> None:
        self.mode = message

    def enter(self, mode: str) -> None:
        """Hold a mode until the controller is in it; TestError with its reason if it does not come."""
        end = time.monotonic() + PATIENCE
        while not self.ended.is_set():
            self.hold(mode)
            self._wait(1.0 / RATE)
            if self.mode is not None and self.mode.mode == mode:
                return
            if time.monotonic() > end:
                raise TestError(self._why(mode))

    def _why(self, mode: str) -> str:
        if self.mode is None:
            return f"no mode_state on {self.bus.url}: does the stack run (make up)?"
        return (
            f"the controller is in {self.mode.mode} and does not go to {mode}: {self.mode.reason or 'no reason given'}"
        )

    def hold(self, mode: str) -> None:
        """One motion_command."""
        message = MotionCommand()
        message.mode = mode
        self.operator.motion(message)

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.bus.wait(left)

    def test(self, settings: Settings, seconds: float, progress: object) -> None:
        """Drive one joint for `seconds` after its approach; afterwards it is let go."""
        if self.joints is None:
            raise TestError("no joint_state: does the plant run?")
        motion = Motion(settings, float(self.joints.q[settings.joint]))
        begin = time.monotonic()
        while not self.ended.is_set() and (t := time.monotonic() - begin) < motion.approach + seconds:
            if self.mode is not None and self.mode.mode != "joint_test":
                raise TestError(f"the controller left joint_test for {self.mode.mode}: {self.mode.reason}")
            self._tested = (settings.joint, settings.kp) if t > motion.approach else None
            self.hold("joint_test")
            self.operator.joint_test(motion.message(t))
            self._wait(1.0 / RATE)
            progress(t / (motion.approach + seconds))  # type: ignore[operator]
        self._tested = None
        let_go = motion.message(0.0)
        let_go.hold = 0
        self.operator.joint_test(let_go)


def table(title: str, errors: dict[str, Error]) -> Table:
    """Mean and sigma in rad."""
    out = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in (title, "mean |error| rad", "sigma", "max", "ticks"):
        out.add_column(heading, justify="left" if heading == title else "right")
    for name, e in errors.items():
        out.add_row(name, f"{e.mean:.4f}", f"{e.sigma:.4f}", f"{e.most:.4f}", str(e.count))
    return out


def settings_of(args: argparse.Namespace, robot: Robot, joint: int) -> Settings:
    """A joint's test, around the middle between the stand pose and where it may go."""
    lower, upper = float(robot.q_lower[joint]), float(robot.q_upper[joint])
    centre = float(robot.pose("stand")[joint]) if args.centre is None else args.centre
    centre = min(max(centre, lower + args.amplitude), upper - args.amplitude)
    return Settings(joint, args.wave, centre, args.amplitude, args.period, args.kp, args.kd, args.tau)


def run(bus: Bus, robot: Robot, args: argparse.Namespace, console: Console) -> int:
    """Test all joints asked for; exit code."""
    names = robot.joint_names if args.joints == ["all"] else args.joints
    tests = [settings_of(args, robot, robot.joint_names.index(name)) for name in names]
    wrong = [problem for settings in tests for problem in settings.problems(robot)]
    if wrong:
        console.print("\n".join(wrong), highlight=False)
        return 2
    for name, s in zip(names, tests, strict=True):
        console.print(
            f"{name}: {s.wave} +-{s.amplitude:g} rad around {s.centre:.3f}, {s.period:g} s, kp {s.kp:g}, kd {s.kd:g}, "
            f"at most {s.tau_limit:g} N m, {args.seconds:g} s",
            highlight=False,
        )
    if not args.yes and console.input("Does the robot hang in its rig? Enter: go on, anything else: no ") != "":
        return 2
    ended = threading.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: ended.set())
    bench = Bench(bus, robot, ended)
    bench.enter("joint_test")
    with bar(console) as progress:
        for name, settings in zip(names, tests, strict=True):
            task = progress.add_task(name, total=1.0)
            bench.test(settings, args.seconds, lambda x, task=task: progress.update(task, completed=x))
            progress.remove_task(task)
    ended.clear()
    bench.enter("ready")
    console.print(table("joint", bench.tracking.by_joint()), table("class", bench.tracking.by_class()))
    if args.csv:
        write_csv(args.csv, bench.tracking)
    missing = [n for n in names if n not in bench.tracking.by_joint()]
    if missing:
        console.print(f"not driven with full gains: {', '.join(missing)}", highlight=False)
    return int(bool(missing))


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.joint_test", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("joints", nargs="+", metavar="JOINT", help="such as FR.hip; or all")
    parser.add_argument("--wave", choices=tuple(WAVES), default="sine")
    parser.add_argument("--centre", type=float, help="rad (default: the stand pose's)")
    parser.add_argument("--amplitude", type=float, default=0.1, help="rad (0.1)")
    parser.add_argument("--period", type=float, default=2.0, help="s (2)")
    parser.add_argument("--seconds", type=float, default=4.0, help="s per joint (4)")
    parser.add_argument("--kp", type=float, default=10.0, help="N m/rad (10)")
    parser.add_argument("--kd", type=float, default=0.5, help="N m s/rad (0.5)")
    parser.add_argument("--tau", type=float, default=3.0, help="N m, torque limit (3)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--robot", help="name or path (default: the description that runs)")
    parser.add_argument("--lcm-url", default=DEFAULT_URL)
    args = parser.parse_args()
    console = Console()
    try:
        bus = Bus(args.lcm_url)
        description = load_robot(args.robot) if args.robot else description_on(bus)
        if description is None:
            print(f"joint_test: nobody publishes robot_config on {args.lcm_url}; give --robot", file=sys.stderr)
            return 2
        robot = Robot(description)
        unknown = [n for n in args.joints if n not in (*robot.joint_names, "all")]
        if unknown:
            parser.error(f"no joint {', '.join(unknown)}; there are {', '.join(robot.joint_names)}, or all")
        return run(bus, robot, args, console)
    except TestError as error:
        print(f"joint_test: {error}", file=sys.stderr)
        return 1
    except (BusError, ConfigError) as error:
        print(f"joint_test: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
