"""The textual screen by its pilot, and the command line."""

import asyncio
import io

import pytest
from textual.events import AppBlur
from textual.widgets import Static

from lcmtypes.channels import ESTOP, MOTION_COMMAND
from tools.teleop import __main__ as command
from tools.teleop.screen import Teleop
from tools.teleop.status import WIDTH, bar, line


def on_screen(stage, actions):
    """Run the screen without a terminal while `actions(app, pilot)` does things; time stands still."""
    app = Teleop(stage.session, lambda: stage.t)

    async def play():
        async with app.run_test(size=(120, 40)) as pilot:
            await actions(app, pilot)

    asyncio.run(play())
    return app


def text(app):
    """All that stands on the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def test_keys_reach_the_session_and_the_screen_shows_what_the_robot_says(stage):
    stage.say(mode="stand", target="walk", reason="walk refused: feet in the air", allowed=["down", "walk"])

    async def actions(app, pilot):
        await pilot.press("v")
        assert stage.session.drive.mode == "walk"
        await pilot.press("W")  # shift lock
        assert set(stage.session.keys.fractions(stage.t)) == {"vx"}
        await pilot.press("2", "r", "up", "right_square_bracket")
        app._tick()
        app._show()
        await pilot.pause()
        shown = text(app)
        for words in ("stand", "-> walk", "walk refused: feet in the air", "down, walk", "you", "2 walk", "35%"):
            assert words in shown, words
        assert f"{stage.session.drive.settings['height']:.3f} m" in shown
        await pilot.press("space")
        assert len(stage.of(ESTOP)) == 3
        assert stage.session.drive.mode == ""

    on_screen(stage, actions)


def test_help_opens_and_closes(stage):
    async def actions(app, pilot):
        for shown in (True, False):
            await pilot.press("h")
            await pilot.pause()
            assert ("sideways, left and right" in text(app)) == shown

    on_screen(stage, actions)


@pytest.mark.parametrize("key", ["x", "escape", "ctrl+c", "ctrl+q"])
def test_quitting_ends_with_a_command_without_motion(stage, key):
    async def actions(app, pilot):
        await pilot.press("w")
        app._tick()
        await pilot.press(key)
        await pilot.pause()

    app = on_screen(stage, actions)
    assert not app.is_running and app.return_code == 0
    last = stage.of(MOTION_COMMAND)[-1]
    assert (last.mode, last.vx) == ("", 0.0)


def test_losing_the_focus_lets_go(stage):
    async def actions(app, pilot):
        await pilot.press("v", "w")
        app.post_message(AppBlur())
        await pilot.pause()
        assert stage.session.keys.fractions(stage.t) == {} and stage.session.drive.mode == ""

    on_screen(stage, actions)


def test_the_screen_says_that_nobody_answers(make_stage):
    stage = make_stage(known=False)

    async def actions(app, pilot):
        await pilot.pause()
        assert "no controller" in str(app.query_one("#warnings", Static).content)
        assert "not known" in text(app)

    on_screen(stage, actions)
    assert "no controller" in line(stage.session)


def test_the_bar_shows_wanted_and_measured_in_their_places():
    drawn = bar(0.5, -1.0, -1.0, 1.0).plain
    middle = WIDTH // 2
    assert len(drawn) == WIDTH + 1
    assert drawn[0] == "o" and drawn[middle] == "|"
    assert drawn[middle + 1 : middle + 1 + middle // 2] == "=" * (middle // 2)
    assert bar(9.0, 9.0, -1.0, 1.0).plain[-1] == "o"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--no-screen",), "--no-screen is for --gamepad"),
        (("--repeat-delay", "9"), "--repeat-delay is 9 s"),
        ((), "no terminal"),
        (("--gamepad", "--no-screen", "--robot", "no_such_robot"), "no_such_robot"),
    ],
)
def test_bad_usage_is_one_clear_error(command_line, capsys, monkeypatch, arguments, words):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert command_line(command.main, *arguments) == 2
    assert words in capsys.readouterr().err
