"""The gamepad's map by faked events: stick shape, enable button, buttons, lost events, devices that come and go."""

import errno
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcmtypes.channels import ESTOP, MOTION_COMMAND
from tools.teleop import gamepad as g
from tools.teleop.evdev_gamepad import SEARCH, EvdevGamepad, GamepadError, load_evdev
from tools.teleop.gamepad import DEAD_ZONE, LAYOUTS, Event, Pad, shaped

STICKS = {code: (-32768, 32767) for code in (g.ABS_X, g.ABS_Y, g.ABS_RX)}
unit = st.floats(-1.0, 1.0)


def press(code):
    return Event(g.EV_KEY, code, 1)


def stick(code, value):
    return Event(g.EV_ABS, code, round(32767.5 * value - 0.5))


@pytest.fixture
def pad():
    return Pad(LAYOUTS[0], STICKS)


@given(unit, unit)
def test_the_shape_is_odd_grows_and_keeps_within_one(a, b):
    low, high = sorted((a, b))
    assert -1.0 <= shaped(low) <= shaped(high) <= 1.0
    assert shaped(-a) == -shaped(a)
    assert (shaped(a) == 0.0) == (abs(a) <= DEAD_ZONE)


def test_the_shape_in_closed_form():
    assert shaped(1.0) == 1.0
    assert shaped(DEAD_ZONE + 1e-9) == pytest.approx(0.0, abs=1e-8), "no jump at the edge of the dead zone"
    assert shaped(0.5, dead_zone=0.0, expo=0.6) == pytest.approx(0.4 * 0.5 + 0.6 * 0.125)
    assert shaped(0.55, dead_zone=0.1, expo=0.0) == pytest.approx(0.5)


def test_sticks_count_only_while_enable_is_held(pad):
    pad.feed([stick(g.ABS_Y, -1.0), stick(g.ABS_X, 1.0)])
    assert pad.fractions() == {}
    pad.feed([press(LAYOUTS[0].enable)])
    held = pad.fractions()
    assert held["vx"] == pytest.approx(1.0)  # forward is up, which evdev counts as negative
    assert held["vy"] == pytest.approx(-1.0)  # right
    pad.feed([Event(g.EV_KEY, LAYOUTS[0].enable, 0)])
    assert pad.fractions() == {}


def test_the_right_stick_to_the_left_turns_left(pad):
    pad.feed([press(LAYOUTS[0].enable), stick(g.ABS_RX, -1.0)])
    assert pad.fractions() == {"yaw_rate": pytest.approx(1.0)}


def test_lost_events_let_go(pad):
    pad.feed([press(LAYOUTS[0].enable), stick(g.ABS_Y, -1.0)])
    pad.feed([Event(g.EV_SYN, g.SYN_DROPPED, 0)])
    assert pad.fractions() == {}


def test_a_button_acts_when_it_is_pressed_not_when_it_repeats_or_is_let_go(pad):
    assert [a.do for a in pad.feed([press(g.BTN_EAST)])] == ["estop"]
    assert pad.feed([Event(g.EV_KEY, g.BTN_EAST, 2), Event(g.EV_KEY, g.BTN_EAST, 0)]) == []
    assert [a[:2] for a in pad.feed([press(g.BTN_START), press(g.BTN_SOUTH)])] == [
        ("request", "walk"),
        ("request", "stand"),
    ]
    assert [a for a in pad.feed([Event(g.EV_ABS, g.ABS_HAT0Y, -1), Event(g.EV_ABS, g.ABS_HAT0Y, 0)])] == [
        ("change", "height", 1)
    ]


def test_a_stick_of_eight_bits_reaches_both_ends():
    pad = Pad(LAYOUTS[0], dict.fromkeys(STICKS, (0, 255)), enabled=True)
    for raw, want in ((0, 1.0), (255, -1.0)):
        pad.feed([Event(g.EV_ABS, g.ABS_Y, raw)])
        assert pad.fractions()["vx"] == pytest.approx(want)
    pad.feed([Event(g.EV_ABS, g.ABS_Y, 128)])
    assert pad.fractions() == {}


def test_codes_are_those_of_the_kernel():
    ecodes = pytest.importorskip("evdev").ecodes
    codes = [n for n in dir(g) if n.startswith(("EV_", "ABS_", "BTN_", "SYN_"))]
    assert len(codes) > 15
    for name in codes:
        assert getattr(g, name) == getattr(ecodes, name), name


class FakeDevice:
    """As evdev.InputDevice."""

    def __init__(self, name, axes=(g.ABS_X, g.ABS_Y, g.ABS_RX), keys=(g.BTN_TL, g.BTN_EAST)):
        self.name, self.axes, self.keys = name, axes, keys
        self.events, self.error, self.closed = [], None, False

    def capabilities(self, absinfo):
        assert absinfo
        info = SimpleNamespace(min=-32768, max=32767)
        return {g.EV_KEY: list(self.keys), g.EV_ABS: [(code, info) for code in self.axes]}

    def read(self):
        if self.error:
            raise self.error
        if not self.events:
            raise BlockingIOError
        events, self.events = self.events, []
        return iter(events)

    def close(self):
        self.closed = True


class FakeEvdev:
    """As the package evdev; `devices`: path -> device or the error that opening gives."""

    def __init__(self, **devices):
        self.devices = {f"/dev/input/{name}": device for name, device in devices.items()}

    def list_devices(self):
        return list(self.devices)

    def InputDevice(self, path):  # noqa: N802 - evdev's name
        device = self.devices.get(path, OSError(errno.ENOENT, "No such file or directory"))
        if isinstance(device, OSError):
            raise device
        return device


def test_the_first_device_that_is_a_pad_is_taken():
    mouse, pad = FakeDevice("Mouse", axes=(), keys=(272,)), FakeDevice("Pad")
    found = EvdevGamepad(evdev=FakeEvdev(event0=mouse, event1=pad))
    assert found.poll(0.0) == []
    assert found.connected and found.name == "Pad"
    assert mouse.closed and not pad.closed


def test_an_older_pad_turns_with_z():
    old = FakeDevice("Old", axes=(g.ABS_X, g.ABS_Y, g.ABS_Z, g.ABS_RZ))
    found = EvdevGamepad(evdev=FakeEvdev(event0=old))
    found.poll(0.0)
    old.events = [press(g.BTN_TL), stick(g.ABS_Z, -1.0)]
    found.poll(0.1)
    assert found.fractions() == {"yaw_rate": pytest.approx(1.0)}


def test_a_pad_can_be_chosen_by_part_of_its_name_or_by_path():
    devices = FakeEvdev(event0=FakeDevice("Acme Pad"), event1=FakeDevice("Other Stick"))
    by_name, by_path = EvdevGamepad("stick", devices), EvdevGamepad("/dev/input/event0", devices)
    by_name.poll(0.0)
    by_path.poll(0.0)
    assert (by_name.name, by_path.name) == ("Other Stick", "Acme Pad")


def test_what_is_wrong_is_said():
    refused = EvdevGamepad(evdev=FakeEvdev(event0=OSError(errno.EACCES, "Permission denied")))
    refused.poll(0.0)
    assert "event0: Permission denied" in refused.problem
    mouse = EvdevGamepad("/dev/input/event0", FakeEvdev(event0=FakeDevice("Mouse", axes=())))
    mouse.poll(0.0)
    assert "Mouse" in mouse.problem and "no pad" in mouse.problem
    absent = EvdevGamepad("/dev/input/event7", FakeEvdev())
    absent.poll(0.0)
    assert "No such file" in absent.problem
    none = EvdevGamepad(evdev=FakeEvdev())
    none.poll(0.0)
    assert "/dev/input" in none.problem


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "evdev", None)
    with pytest.raises(GamepadError, match="pip install evdev"):
        load_evdev()


def test_unplugging_silences_the_source_and_plugging_in_again_asks_for_enable_anew(make_stage):
    device = FakeDevice("Pad")
    evdev = FakeEvdev(event0=device)
    stage = make_stage(EvdevGamepad(evdev=evdev))
    device.events = [press(g.BTN_TL), stick(g.ABS_Y, -1.0)]
    driven = stage.run(1.0)
    assert driven[-1].source.startswith("gamepad:")
    assert driven[-1].vx > 0.5

    device.error, evdev.devices = OSError(errno.ENODEV, "No such device"), {}
    assert stage.run(2.0) == [], "a dead source says nothing"
    assert "unplugged" in " ".join(stage.session.warnings())
    stage.session.key("space", g.ESTOP, stage.t)
    assert len(stage.of(ESTOP)) == 3, "the keyboard's E-STOP works without the pad"

    again = FakeDevice("Pad")
    again.events = [stick(g.ABS_Y, -1.0)]  # still pushed, enable was held all the time
    evdev.devices = {"/dev/input/event0": again}
    back = stage.run(SEARCH + 1.0)
    assert back and not any(m.vx for m in back)
    again.events = [press(g.BTN_TL)]
    assert stage.run(0.5)[-1].vx > 0


def test_with_a_gamepad_driving_keys_do_nothing(make_stage):
    stage = make_stage(EvdevGamepad(evdev=FakeEvdev(event0=FakeDevice("Pad"))))
    stage.run(0.1)
    stage.session.key("w", None, stage.t)
    assert not any(m.vx for m in stage.run(0.5))
    assert stage.of(MOTION_COMMAND)
