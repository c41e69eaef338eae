"""What is said of a log whose contents are known, and of broken and foreign ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcmtypes.channels import CHANNELS
from procs.runtime.eventfile import EventFile
from procs.runtime.logs import LogWriter, raw_events, read_log
from tests.tools import made_log
from tools.inspect.__main__ import main
from tools.inspect.losses import Losses
from tools.inspect.show import mode_bar
from tools.inspect.spans import Span
from tools.inspect.summary import scan
from tools.inspect.watch import FIELDS, WATCHED


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return made_log.write(tmp_path_factory.mktemp("log") / "made.lcmlog")


@pytest.fixture
def told(log, command_line, capsys):
    assert command_line(main, log, "--json") == 0
    return json.loads(capsys.readouterr().out)


def channel(told, name):
    return next(c for c in told["channels"] if c["channel"] == name)


def test_counts_times_and_rates(told, log):
    events = list(raw_events(log))
    assert told["events"] == len(events) == sum(c["messages"] for c in told["channels"])
    assert told["duration_s"] == pytest.approx((events[-1][0] - events[0][0]) / 1e6)
    assert channel(told, "imu")["messages"] == 400
    assert channel(told, "from elsewhere")["rate_hz"] == pytest.approx(125, rel=0.02)
    assert channel(told, "motion_command")["longest_gap_s"] == pytest.approx(0.02, abs=0.003)


def test_runs_robot_revision_and_cpu(told):
    assert [(r["run"], r["first_seq"], r["last_seq"]) for r in told["runs"]] == [(7, 0, 299), (8, 0, 99)]
    (robot,) = told["robots"]
    assert (robot["robot"], robot["hash"], robot["revision"], robot["cpu"]) == (
        "a_robot",
        "abcdef0123456789",
        "r1",
        "a CPU",
    )


def test_losses_late_and_resent_per_run(told):
    assert channel(told, "leg_state")["runs"]["7"] | {"count": 0} == {
        "first": 0, "last": 299, "count": 0, "lost": 4, "late": 1, "resent": 0, "holes": [[100, 102], [140, 140]],
    }  # fmt: skip
    assert channel(told, "leg_state")["runs"]["8"]["lost"] == 0
    assert channel(told, "body_state")["runs"]["7"]["resent"] == 1
    assert channel(told, "motion_command")["runs"] == {}, "an operator's counter is no tick"


def test_modes_as_a_timeline(told):
    modes = [(m["mode"], m["busy"]) for m in told["modes"]]
    assert modes == 2 * [("ready", 0), ("stand", 1), ("stand", 0), ("walk", 0)]
    assert told["modes"][1]["t0"] - told["modes"][0]["t0"] == pytest.approx(20 * 0.002)


def test_faults_estops_and_refusals(told):
    notes = {(n["kind"], n["where"]): n for n in told["notes"]}
    assert notes["estop", "estop"]["text"] == "by teleop: a key"
    assert notes["mode", "mode_state"]["text"] == "no way from ready to fly"
    assert (notes["mode", "mode_state"]["times"], notes["mode", "mode_state"]["messages"]) == (2, 20)
    fault = notes["fault", "joint_state"]
    assert (fault["text"], fault["messages"]) == ("1 joints rejected; joint 3 predicted", 6)
    assert set(told["processes"]) == {"estimator", "packer"}


def test_foreign_types_are_told_by_fingerprint_whatever_the_channel(told):
    assert channel(told, "from elsewhere")["type"] == "leg_control_data_lcmt"
    assert channel(told, "mystery") | {"type": None, "fingerprint": "deadbeef00112233"} == channel(told, "mystery")


def test_text_for_a_person(log, command_line, capsys):
    assert command_line(main, log) == 0
    out = capsys.readouterr().out
    for words in (
        "leg_control_data_lcmt (MIT)", "0xdeadbeef00112233", "run 7: ticks 100-102, 140", "by teleop: a key",
        "a_robot, description abcdef012345, revision r1, CPU a CPU", "walk",
    ):  # fmt: skip
        assert words in out


def test_watched_values_are_those_that_decoding_every_message_gives(log, monkeypatch):
    """Only changes are decoded; here all messages are, and the blocks are small."""
    want: dict[tuple[str, str], list[tuple[object, int]]] = {}
    for event in read_log(log):
        name = event.channel.name
        if name in WATCHED:
            fields = event.message.fields()
            value = tuple(tuple(v) if isinstance(v := fields[f], list) else v for f in WATCHED[name].fields)
            spans = want.setdefault((name, fields[WATCHED[name].by] if WATCHED[name].by else ""), [])
            if spans and spans[-1][0] == value:
                spans[-1] = (value, spans[-1][1] + 1)
            else:
                spans.append((value, 1))
    monkeypatch.setattr(EventFile.__init__, "__defaults__", (7000,))
    got = {key: [(s.value, s.count) for s in spans.spans] for key, spans in scan(log).watched.items()}
    assert got == want
    assert len(want) > 5


def test_every_watched_field_exists():
    for name, fields in FIELDS.items():
        assert set(fields) <= set(CHANNELS[name].type.FIELDS), name


def test_a_damaged_log_is_told_as_far_as_it_can_be_read(log, tmp_path, command_line, capsys):
    data = bytearray(log.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 100] = bytes(100)
    broken = tmp_path / "broken.lcmlog"
    broken.write_bytes(data[:-10])
    assert command_line(main, broken, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    first, last = told["damages"]
    assert (first["kind"], last["kind"]) == ("damaged", "cut off")
    assert middle - 1200 < first["at"] < middle + 100
    assert told["bytes_skipped"] == first["skipped"] + last["skipped"]
    assert told["events"] > 2500
    assert command_line(main, broken) == 1
    assert f"damaged at byte {first['at']} (event {first['event']})" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "is empty"), (b"no log" * 50, "not an LCM event log"), (None, "no log")]
)
def test_what_is_no_log_is_refused(tmp_path, command_line, capsys, content, said):
    path = tmp_path / "x.lcmlog"
    if content is not None:
        path.write_bytes(content)
    assert command_line(main, path) == 2
    assert said in capsys.readouterr().err


def test_another_revisions_types_still_give_losses(tmp_path, command_line, capsys):
    path = tmp_path / "old.lcmlog"
    message = CHANNELS["leg_state"].type(4, 12)
    with LogWriter(path) as log:
        for seq in (0, 1, 2, 5):
            message.run, message.seq = 3, seq
            log.write_raw("leg_state", bytes(8) + message.encode()[8:], made_log.START + seq)
    assert command_line(main, path) == 0
    out = capsys.readouterr().out
    assert "not this revision's" in out
    assert "ticks 3-4" in out


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=30), st.integers(1, 30))
def test_losses_are_what_a_count_one_by_one_gives(seqs, piece):
    import numpy as np

    losses = Losses()
    for k in range(0, len(seqs), piece):
        losses.add(np.array(seqs[k : k + piece]))
    seen: set[int] = set()
    late = resent = 0
    for seq in seqs:
        resent += seq in seen
        late += seq not in seen and bool(seen) and seq < max(seen)
        seen.add(seq)
    assert (losses.first, losses.last, losses.count) == (min(seqs), max(seqs), len(seqs))
    assert losses.lost == max(seqs) - min(seqs) + 1 - len(seen)
    assert (losses.late, losses.resent) == (late, resent)


def test_mode_bar_shows_what_holds_longest_in_each_cell():
    spans = [Span(0, 40, ("stand", "", 0), 1), Span(50, 100, ("walk", "", 0), 1)]
    bar = mode_bar(spans, 0, 100, width=4)
    assert bar.plain == "████"
    assert [str(s.style) for s in bar.spans] == ["green", "green", "bright_magenta", "bright_magenta"]
    assert mode_bar([Span(50, 100, ("walk", "", 0), 1)], 0, 100, width=4).plain == "··██"
