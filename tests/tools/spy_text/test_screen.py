"""The spy's screen by its pilot, and --once and --json."""

import asyncio
import io
import json

import pytest

from lcmtypes.generated import BodyState, Imu
from tools.spy_text import __main__ as command
from tools.spy_text.rowlist import RowList
from tools.spy_text.screen import Spy
from tools.spy_text.sources import Arrival


class FakeSource:
    """Gives what is put into it."""

    exact, nap, dropped = True, 0.01, 0

    def __init__(self):
        self.coming, self.closed = [], False

    def put(self, message, name, t=100.0):
        self.coming.append(
            Arrival(t, ("127.0.0.1", 1), name, message if isinstance(message, bytes) else message.encode())
        )

    def read(self, most=5000):
        came, self.coming = self.coming, []
        return came

    def lost(self):
        return 0

    def close(self):
        self.closed = True


def body(vx, seq=0):
    message = BodyState(4)
    message.v_body[0], message.seq, message.reason = vx, seq, "none at all"
    return message


@pytest.fixture
def source():
    source = FakeSource()
    for k in range(11):
        source.put(Imu(), "imu", 100 + 0.01 * k)
        source.put(body(0.1 * k, k), "body_state", 100 + 0.01 * k)
    source.put(bytes.fromhex("0123456789abcdef") + b"hello", "other", 100.1)
    return source


def on_screen(source, actions, words=""):
    """Run the screen without a terminal; time stands still at 100.1 s."""
    app = Spy(source, "memq://", words, lambda: 100.1)

    async def play():
        async with app.run_test(size=(140, 30)) as pilot:
            app.take()
            app.draw()
            await pilot.pause()
            await actions(app, pilot)

    asyncio.run(play())
    return app


def text(app):
    """All that stands on the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def look(app, pilot):
    app.take()
    app.sample()
    app.draw()
    await pilot.pause()
    return text(app)


def test_the_list_shows_channels_with_type_and_rate(source):
    async def actions(app, pilot):
        shown = text(app)
        for words in ("body_state_t", "imu_t", "0123456789abcdef", "100", "3 channels"):
            assert words in shown, words

    on_screen(source, actions)


def test_a_channel_opens_shows_its_fields_and_their_course_and_closes(source):
    async def actions(app, pilot):
        await pilot.press("enter")
        assert app.opened == "body_state"
        for k in range(11, 15):
            source.put(body(0.1 * k, k), "body_state")
            shown = await look(app, pilot)
        assert "v_body" in shown and "'none at all'" in shown
        assert "▁▃▅▆█" in shown.replace(" ", "") or "▁▃▅▇█" in shown.replace(" ", "")
        while app.query_one(RowList).key != "v_body":
            await pilot.press("down")
        await pilot.press("enter")
        assert "v_body[0]" in await look(app, pilot)
        await pilot.press("enter")
        assert "v_body[0]" not in await look(app, pilot)
        await pilot.press("escape")
        assert app.opened is None
        assert app.query_one(RowList).key == "body_state"
        assert "3 channels" in await look(app, pilot)

    on_screen(source, actions)


def test_an_unknown_type_is_shown_as_bytes(source):
    async def actions(app, pilot):
        await pilot.press("end", "enter")
        shown = await look(app, pilot)
        assert "68 65 6c 6c 6f" in shown and "unknown type" in shown

    on_screen(source, actions)


def test_typing_filters_and_letters_are_no_commands_there(source):
    async def actions(app, pilot):
        await pilot.press("slash", *"im")
        shown = await look(app, pilot)
        assert "imu_t" in shown and "body_state_t" not in shown
        await pilot.press("q", "p")
        assert app.is_running and not app.paused
        assert app.words["list"] == "imqp"
        await pilot.press("backspace", "backspace", "enter")
        assert app.query_one(RowList).key == "imu"
        await pilot.press("enter")
        assert app.opened == "imu"
        await pilot.press("slash", *"gyro", "enter")
        shown = await look(app, pilot)
        assert "+ gyro" in shown and "accel" not in shown

    on_screen(source, actions)


def test_pause_freezes_the_picture_and_counts_on(source):
    async def actions(app, pilot):
        await pilot.press("enter", "p")
        source.put(body(77.25, 99), "body_state")
        shown = await look(app, pilot)
        assert "PAUSED" in shown and "77.25" not in shown
        assert app.traffic.channels["body_state"].total == 12
        await pilot.press("p")
        assert "77.25" in await look(app, pilot)

    on_screen(source, actions)


def test_clear_counts_from_zero_and_the_cursor_keeps_to_its_channel(source):
    async def actions(app, pilot):
        await pilot.press("down")
        assert app.query_one(RowList).key == "imu"
        await pilot.press("c")
        assert app.traffic.channels == {}
        for name in ("a", "b", "imu"):
            source.put(Imu(), name)
        await look(app, pilot)
        assert app.traffic.channels["imu"].total == 1

    on_screen(source, actions)


def test_an_empty_list_says_why(source):
    async def actions(app, pilot):
        app.words["list"] = "camera"
        assert "no channel matches" in await look(app, pilot)
        await pilot.press("enter", "c")
        assert app.opened is None
        assert "nothing heard" in await look(app, pilot)

    on_screen(source, actions)


def test_a_filter_from_the_command_line(source):
    async def actions(app, pilot):
        assert "1 channels" in text(app) and "filter: imu" in text(app)

    on_screen(source, actions, "imu")


@pytest.fixture
def heard(monkeypatch, source):
    """The command line's source is the fake one, and the process stays as nice as it is."""
    monkeypatch.setattr(command, "open_source", lambda url: source)
    monkeypatch.setattr(command, "stand_back", lambda: None)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return source


def test_once_prints_the_table(command_line, capsys, heard):
    assert command_line(command.main, "--once", "0.05") == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split()[:2] == ["channel", "Hz"]
    assert [line.split()[0] for line in out[1:4]] == ["body_state", "imu", "other"]
    assert heard.closed


def test_json_is_json(command_line, capsys, heard):
    assert command_line(command.main, "--json", "--once", "0.05", "--filter", "imu") == 0
    (channel,) = json.loads(capsys.readouterr().out)["channels"]
    assert (channel["name"], channel["type"], channel["total"]) == ("imu", "imu_t", 11)


@pytest.mark.parametrize(("words", "said"), [("camera", "none matches"), ("", "nothing heard")])
def test_nothing_to_show_is_code_1(command_line, capsys, heard, words, said):
    if not words:
        heard.coming = []
    assert command_line(command.main, "--once", "0.05", "--filter", words) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--once", "-1"), "--once is -1"),
        (("--once", "nan"), "--once is nan"),
        ((), "no terminal"),
        (("--once", "--lcm-url", "udpm://nowhere"), "no multicast URL"),
    ],
)
def test_bad_usage_is_one_clear_error(command_line, capsys, monkeypatch, arguments, words):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert command_line(command.main, *arguments) == 2
    assert words in capsys.readouterr().err
