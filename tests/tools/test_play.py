"""The player: a schedule without a clock, and the shell around it on a made-up one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcmtypes.channels import JOINT_COMMAND, MODE_STATE, PROC_HEALTH
from procs.runtime.bus import DEFAULT_URL, Bus
from procs.runtime.eventfile import SYNC_BYTES, EventFile
from procs.runtime.logs import raw_events
from tests.tools import made_log
from tools.launch import private_url
from tools.play import session as session_module
from tools.play.__main__ import REPLAY_URL, chooser, is_live, main
from tools.play.index import build
from tools.play.keys import split
from tools.play.player import Player
from tools.play.session import Session


def player(stamps, streams=None, **options):
    stamps = np.array(stamps)
    streams = np.zeros(len(stamps), int) if streams is None else np.array(streams)
    options = {"begin": int(stamps[0]), "end": int(stamps[-1]), **options}
    return Player(stamps, streams, **options)


@settings(max_examples=200, deadline=None)
@given(
    steps=st.lists(st.sampled_from([0, 1, 700, 2000, 40_000]), min_size=1, max_size=40),
    looks=st.lists(st.floats(0, 0.05), min_size=1, max_size=60),
    speed=st.sampled_from([0.1, 0.5, 1.0, 3.0, 20.0]),
    most=st.integers(1, 50),
)
def test_every_message_once_in_order_never_early_and_never_late(steps, looks, speed, most):
    stamps = np.cumsum([0, *steps])
    play, now, sent = player(stamps, speed=speed), 5.0, []
    play.start(now)
    for look in looks:
        now += look
        while new := play.due(now, most):
            assert len(new) <= most
            sent += new
        position = 1e6 * speed * (now - 5.0)
        assert sent == list(range(len(sent)))
        assert all(stamps[k] <= position + 1 for k in sent)
        assert all(stamps[k] >= position - 1 for k in range(len(sent), len(stamps)))
    now += 1e3
    while new := play.due(now, most):
        sent += new
    assert sent == list(range(len(stamps)))
    assert play.finished(now)


def test_no_time_is_lost_however_late_the_looks_are():
    play = player(np.arange(0, 60_000_001, 2000))
    play.start(100.0)
    now, count = 100.0, 0
    while not play.finished(now):
        wait = play.wait(now)
        now += max(wait, 0.0) + 0.0013  # each sleep is too long
        count += len(play.due(now, 1000))
    assert count == 30_001
    assert now - 100.0 == pytest.approx(60.0, abs=0.002)


def test_pause_speed_and_the_time_to_the_next_message():
    play = player([0, 1_000_000, 2_000_000])
    play.start(0.0)
    assert play.due(0.0, 9) == [0]
    play.pause(0.4, True)
    assert (play.due(50.0, 9), play.wait(50.0), play.position(50.0)) == ([], None, 400_000)
    assert play.until_next(50.0) == pytest.approx(0.6)
    play.pause(50.0, False)
    play.set_speed(50.1, 2.0)  # at 0.5 s
    assert play.wait(50.1) == pytest.approx(0.25)
    assert play.due(50.36, 9) == [1]
    play.set_speed(50.36, 1000)
    assert play.speed == 20
    play.set_speed(50.36, 0.0)
    assert play.speed == 0.1


def test_a_jump_gives_the_newest_message_of_each_state_before_it():
    #            0  1  2   3   4   5   6
    stamps = [0, 0, 10, 20, 20, 30, 40]
    streams = [0, 1, -1, 0, -1, 1, 0]  # -1: an event, said once
    play = player(stamps, streams)
    assert play.seek(0.0, 20) == [0, 1], "what has the stamp itself is still to come"
    assert play.due(0.0, 9) == [3, 4]
    assert play.seek(0.0, 35) == [3, 5]
    assert play.due(0.0, 9) == []
    assert play.seek(0.0, -5) == []
    assert play.position(0.0) == 0
    assert play.seek(0.0, 99) == [3, 5]
    assert play.due(0.0, 9) == [6]
    assert play.finished(0.0)


def test_a_step_sends_the_next_stamp_and_pauses():
    play = player([0, 10, 10, 30])
    play.start(0.0)
    assert play.step(0.0) == [0]
    assert play.step(7.0) == [1, 2]
    assert (play.paused, play.position(9.0)) == (True, 10)
    assert play.step(9.0) == [3]
    assert play.step(9.0) == []


def test_a_loop_begins_again_with_the_state_and_on_time():
    play = player([0, 500_000, 1_000_000, 2_000_000], [0, 1, 0, 1], begin=500_000, end=1_500_000, loop=True)
    assert play.start(0.0) == [0]
    assert play.due(0.0, 9) == [1]
    assert play.due(1.2, 9) == [2, 0], "and the state at the loop's beginning"
    assert play.due(1.2, 9) == [1]
    assert play.wait(1.2) == pytest.approx(0.3), "the next is due 0.5 s after the turn at 1.0 s"
    assert not play.finished(50.0)
    sent = [k for t in range(1200, 11_001, 100) for k in play.due(t / 1000, 9)]
    assert sent.count(2) == 10


class Clock:
    """Time that passes only while the session waits, always a little too long; keys at given times."""

    def __init__(self, keys=()):
        self.now, self.active, self._keys = 1000.0, bool(keys), sorted(keys)

    def monotonic(self):
        return self.now

    def wait(self, seconds):
        self.now += max(seconds, 0.0) + 0.0002
        out = [key for t, key in self._keys if t <= self.now - 1000.0]
        self._keys = self._keys[len(out) :]
        return out


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return made_log.write(tmp_path_factory.mktemp("log") / "made.lcmlog")


@pytest.fixture
def play(log, monkeypatch):
    """play(keys, **options) -> what was sent as (time, channel, bytes), the player, the session."""

    def run(keys=(), begin=None, end=None, channels=None, everything=False, **options):
        clock, sent = Clock(keys), []
        monkeypatch.setattr(session_module.time, "monotonic", clock.monotonic)
        with EventFile(log, 50_000) as file:
            wanted = chooser(channels, everything)
            index = build(file, lambda name: bool(wanted.fullmatch(name)), lambda at: None)
            first, last = round(1e6 * (begin or 0)), index.end if end is None else round(1e6 * end)
            it = Player(index.stamp, index.stream, first, last, **options)
            session = Session(file, index, it, lambda name, data: sent.append((clock.now - 1000.0, name, data)))
            session.run(clock)
        return sent, it, session

    return run


def test_a_log_is_played_as_it_is_on_time_without_joint_command(play, log):
    sent, _, session = play()
    events = list(raw_events(log))
    assert [(name, data) for _, name, data in sent] == [e[1:] for e in events if e[1] != JOINT_COMMAND.name]
    played = [e for e in events if e[1] != JOINT_COMMAND.name]
    late = [t - (e[0] - events[0][0]) / 1e6 for (t, *_), e in zip(sent, played, strict=True)]
    assert min(late) >= -1e-6
    assert max(late) < 0.001
    assert session.latest < 0.001
    assert [(n, d) for _, n, d in play(everything=True, speed=20.0)[0]] == [e[1:] for e in events]


def test_channels_and_a_span_can_be_chosen(play, log):
    sent, *_ = play(channels="imu|mode_.*", begin=0.3, end=0.4, speed=2.0)
    start, *_ = (stamp for stamp, *_ in raw_events(log))
    chosen = [e for e in raw_events(log) if e[1] in ("imu", "mode_state")]
    inside = [e[1:] for e in chosen if 300_000 <= e[0] - start <= 400_000]
    before = [e for e in chosen if e[0] - start < 300_000]
    assert [e[1:] for e in sent[2:]] == inside
    assert [e[1:] for e in sent[:2]] == [e[1:] for e in before[-2:]], "first the state at the beginning"
    assert sent[-1][0] == pytest.approx(0.05, abs=0.003)


def test_after_a_jump_viewers_are_given_every_state_but_no_event(play):
    sent, *_ = play([(0.1, " "), (0.2, "up"), (0.3, "q")], channels="(?!joint).*")
    jumped = [(name, data) for t, name, data in sent if 0.1999 < t < 0.2999]
    names = [name for name, _ in jumped]
    assert "estop" not in names, "an estop of long ago is not pressed again"
    assert names.count(PROC_HEALTH.name) == 2, "one of each process"
    assert set(names) >= {"imu", "mode_state", "motion_command", "robot_config", "from elsewhere"}
    (mode,) = (MODE_STATE.type.decode(data) for name, data in jumped if name == "mode_state")
    assert (mode.run, mode.mode) == (8, "walk")


def test_keys_pause_step_seek_change_the_speed_loop_and_quit(play):
    keys = [
        (0.1, " "),
        (0.2, "."),
        (0.3, "."),
        (0.4, " "),
        (0.5, "+"),
        (0.6, "home"),
        (0.7, "l"),
        (5.0, "-"),
        (6.0, "q"),
    ]
    sent, it, session = play(keys, channels="imu")
    paused = [t for t, *_ in sent if 0.101 < t < 0.399]
    assert [round(t, 1) for t in paused] == [0.2, 0.3]
    assert (it.speed, it.loop) == (1.0, True)
    assert it.loops >= 8
    assert sent[-1][0] < 6.01
    line = session.line(1006.0)
    assert "1x loop" in line
    assert "next in" in line


def test_the_live_url_is_known_in_every_spelling():
    for url in (DEFAULT_URL, "udpm://239.255.76.67:7667?ttl=1", "udpm://", "", "udpm://239.255.76.67", "udpm://?ttl=1"):
        assert is_live(url), url
    for url in (REPLAY_URL, private_url(), "memq://"):
        assert not is_live(url), url


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--lcm-url", DEFAULT_URL), "is where robots listen"),
        (("--lcm-url", "udpm://", "--all"), "is where robots listen"),
        (("--speed", "0.05"), "want 0.1 to 20"),
        (("--speed", "nan"), "want 0.1 to 20"),
        (("--channels", "("), "no regular expression"),
        (("--channels", "nobody"), "no message to play; the log has"),
        (("--channels", "joint_command"), "no message to play"),
        (("--to", "inf"), "not a number of seconds"),
        (("--from", "3"), "nothing to play"),
        (("--from", "0.3", "--to", "0.2"), "nothing to play"),
    ],
)
def test_what_makes_no_sense_is_refused(log, command_line, capsys, arguments, said):
    assert command_line(main, log, *arguments) == 2
    assert said in capsys.readouterr().err


def test_no_log_is_an_error(tmp_path, command_line, capsys):
    (tmp_path / "a.lcmlog").write_bytes(b"")
    for name, said in (("a.lcmlog", "is empty"), ("b.lcmlog", "no log at")):
        assert command_line(main, tmp_path / name, "--lcm-url", private_url()) == 2
        assert said in capsys.readouterr().err


def test_a_damaged_log_is_played_over_lcm_as_far_as_it_can_be_read(log, tmp_path, command_line, capsys):
    data = bytearray(log.read_bytes())
    head = data.index(SYNC_BYTES, len(data) // 2)
    data[head : head + 50] = bytes(50)
    broken = tmp_path / "b.lcmlog"
    broken.write_bytes(data[:-20])
    url, got = private_url(), []
    bus = Bus(url)
    bus.subscribe_raw(".*", lambda name, data: got.append((name, data)))
    assert command_line(main, broken, "--speed", 20, "--lcm-url", url) == 0
    while bus.wait(0.3):
        pass
    captured = capsys.readouterr()
    assert "damaged at byte" in captured.err
    assert "cut off at byte" in captured.err
    assert "without 399 of joint_command" in captured.out or "without 400 of joint_command" in captured.out
    want = [e[1:] for e in raw_events(broken) if e[1] != "joint_command"]
    assert [g for g in got if g[0] != "LCM_SELF_TEST"] == want


def test_arrows_and_characters_are_told_apart():
    assert split(b"\x1b[C \x1b[D.q") == ["right", " ", "left", ".", "q"]
    assert split(b"\x1b[A\x1b[B\x1b[H\x1b[15~+") == ["up", "down", "home", "+"]
    assert split(b"\x1b") == ["\x1b"]
