"""Exports give back every number of the log exactly, in every format; what fails leaves nothing."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from mcap.reader import make_reader
from scipy.io import loadmat

from lcmtypes.channels import BODY_STATE, LEG_STATE, MODE_STATE, MPC_DEBUG
from lcmtypes.layout import sizes_of
from procs.runtime.eventfile import SYNC_BYTES, EventFile
from procs.runtime.logs import LogWriter, raw_events, read_log
from tests.tools import made_log
from tools.export import export as export_module
from tools.export import mcap_file
from tools.export.__main__ import main


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return made_log.write(tmp_path_factory.mktemp("log") / "made.lcmlog")


@pytest.fixture
def messages(log):
    """Per channel (stamp, message) as decoded one by one."""
    out = {}
    for event in read_log(log):
        out.setdefault(event.channel.name, []).append((event.stamp, event.message))
    return out


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(EventFile.__init__, "__defaults__", (6000,))


def start(log):
    return next(raw_events(log))[0]


def column(rows, name):
    """A field of all messages; `used` of changing length filled with -1."""
    values = [getattr(m, name) for _, m in rows]
    if name == "used":
        width = max(map(len, values))
        return np.array([[*v, *[-1] * (width - len(v))] for v in values])
    return np.array(values)


def numeric(message):
    return [n for n in message.FIELDS if not isinstance(getattr(message, n), str) and n not in ("allowed",)]


def test_npz_holds_every_numeric_field_of_every_channel(log, messages, tmp_path, command_line, small_blocks):
    assert command_line(main, log, tmp_path / "a.npz") == 0
    data = np.load(tmp_path / "a.npz")
    assert data["log_start_us"] == start(log)
    for name, rows in messages.items():
        stamps = np.array([stamp for stamp, _ in rows])
        assert np.array_equal(data[f"{name}.t"], (stamps - start(log)) / 1e6), name
        for field in numeric(rows[0][1]):
            want = column(rows, field)
            assert np.array_equal(data[f"{name}.{field}"], want, equal_nan=want.dtype.kind == "f"), (name, field)
    mit = data["from elsewhere.q"]
    assert mit.dtype == np.float32
    assert np.array_equal(mit[:, 1], (0.1 * np.r_[0:300:4, 0:100:4] + 1).astype(np.float32))
    assert not any(key.startswith("mystery") for key in data.files)


def test_mat_holds_a_struct_per_channel(log, messages, tmp_path, command_line, small_blocks):
    fields = ("--field", "leg_state", "--field", "mode_state.mode", "--field", "body_state.v_world[1]")
    assert command_line(main, log, tmp_path / "a.mat", *fields) == 0
    data = loadmat(tmp_path / "a.mat", simplify_cells=True)
    rows = messages["leg_state"]
    assert np.array_equal(data["leg_state"]["p"], column(rows, "p"))
    assert np.array_equal(data["leg_state"]["run"], column(rows, "run"))
    assert data["mode_state"]["mode"].tolist() == [m.mode for _, m in messages["mode_state"]]
    assert np.array_equal(data["body_state"]["v_world_1"], column(messages["body_state"], "v_world")[:, 1])
    assert set(data) - {"__header__", "__version__", "__globals__"} == {
        "log_start_us", "leg_state", "mode_state", "body_state",
    }  # fmt: skip


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def same(text, number):
    """True if the text is this very double, sign and not-a-number too."""
    return np.float64(text).tobytes() == np.float64(number).tobytes() or (text == "nan" and np.isnan(number))


def test_csv_gives_every_number_back_bit_for_bit_one_row_per_tick(log, messages, tmp_path, command_line, small_blocks):
    assert command_line(main, log, tmp_path / "a.csv") == 0
    table = read_csv(tmp_path / "a.csv")
    assert [(int(r["run"]), int(r["seq"])) for r in table] == [(7, k) for k in range(300)] + [
        (8, k) for k in range(100)
    ]
    row = {(int(r["run"]), int(r["seq"])): r for r in table}
    for name in ("body_state", "leg_state", "joint_command", "imu"):
        there = set()
        for _, message in messages[name]:
            there.add((message.run, message.seq))
            cells = row[message.run, message.seq]
            for field in set(numeric(message)) - {"used", "utime", "run", "seq"}:
                values = np.asarray(getattr(message, field))
                for index in np.ndindex(values.shape):
                    title = f"{name}.{field}" + "".join(f"[{i}]" for i in index)
                    assert same(cells[title], values[index]), title
        missing = [r for key, r in row.items() if key not in there]
        assert len(missing) == (len(made_log.LOST) if name == "leg_state" else 0)
        assert all(r[title] == "" for r in missing for title in r if title.startswith(name))
    first = min(stamp for stamp, m in messages["imu"])
    assert same(table[0]["t"], (first - start(log)) / 1e6)


def test_csv_channels_without_ticks_have_files_of_their_own(log, messages, tmp_path, command_line):
    fields = ("--field", "imu.gyro", "--field", "motion_command", "--field", "from elsewhere.q[2]")
    assert command_line(main, log, tmp_path / "a.csv", *fields) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.csv", "a.from_elsewhere.csv", "a.motion_command.csv",
    ]  # fmt: skip
    assert list(read_csv(tmp_path / "a.csv")[0]) == ["t", "run", "seq", *(f"imu.gyro[{k}]" for k in range(3))]
    commands = read_csv(tmp_path / "a.motion_command.csv")
    assert len(commands) == len(messages["motion_command"]) == 40
    for cells, (stamp, message) in zip(commands, messages["motion_command"], strict=True):
        assert same(cells["t"], (stamp - start(log)) / 1e6)
        assert same(cells["motion_command.vx"], message.vx)
        assert cells["motion_command.source"] == message.source
        assert int(cells["motion_command.seq"]) == message.seq
    assert command_line(main, log, tmp_path / "b.csv", "--field", "from elsewhere.q") == 0
    assert len(read_csv(tmp_path / "b.csv")) == 100, "a single channel without ticks is the file itself"


def test_csv_can_hold_the_newest_values(log, messages, tmp_path, command_line):
    fields = ("--field", "leg_state.q[0]", "--field", "motion_command.vx", "--field", "mode_state.mode", "--hold")
    assert command_line(main, log, tmp_path / "a.csv", *fields) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    q = {(m.run, m.seq): m.q[0] for _, m in messages["leg_state"]}
    last = None
    for cells in read_csv(tmp_path / "a.csv"):
        key = int(cells["run"]), int(cells["seq"])
        last = q.get(key, last)
        assert same(cells["leg_state.q[0]"], last)
        assert same(cells["motion_command.vx"], 0.01 * (key[1] - key[1] % 10))
        assert cells["mode_state.mode"] == max(m for m in made_log.MODES if m[0] <= key[1])[1]


def test_mcap_opens_with_its_reader_stamps_and_values_intact(log, messages, tmp_path, command_line, small_blocks):
    assert command_line(main, log, tmp_path / "a.mcap") == 0
    order = [(stamp, name) for stamp, name, _ in raw_events(log) if name != "mystery"]
    got: dict[str, list] = {}
    with (tmp_path / "a.mcap").open("rb") as file:
        reader = make_reader(file)
        schemas = {s.name: s for s in reader.get_summary().schemas.values()}
        found = [(c.topic, m) for _, c, m in reader.iter_messages(log_time_order=False)]
    assert [(m.log_time // 1000, topic) for topic, m in found] == order
    for topic, message in found:
        assert message.log_time == message.publish_time
        got.setdefault(topic, []).append(json.loads(message.data))
    for name, rows in messages.items():
        for values, (_, message) in zip(got[name], rows, strict=True):
            want = json.loads(json.dumps(message.fields()), parse_constant=lambda _: None)
            width = len(values["used"])
            want["used"] += [-1] * (width - len(want["used"]))
            assert values == want, name
    schema = json.loads(schemas["body_state_t"].data)
    assert (schemas["body_state_t"].encoding, schema["type"]) == ("jsonschema", "object")
    assert set(schema["properties"]) == set(BODY_STATE.type.FIELDS)
    assert schema["properties"]["quat"]["description"] == "w x y z, body to world"
    assert schema["properties"]["quat"]["maxItems"] == 4
    assert "leg_control_data_lcmt" in schemas


def test_every_schema_names_the_fields_that_its_class_has():
    from lcmtypes.channels import CHANNELS
    from lcmtypes.known import known_types
    from tools.export.select import Source, _all
    from tools.inspect.summary import Stream

    for channel in CHANNELS.values():
        known = known_types()[channel.type.FINGERPRINT]
        columns = _all(Stream(channel.name, channel.type.FINGERPRINT, known), text=True)
        schema = mcap_file.schema(
            Source(channel.name, channel.name, channel.type.FINGERPRINT, known, tuple(columns), 1)
        )
        assert tuple(schema["properties"]) == channel.type.FIELDS
        assert not sizes_of(known.struct) & set(schema["properties"])


@pytest.mark.parametrize("kind", ["npz", "mat", "csv"])
def test_strings_lists_of_strings_and_empty_arrays(tmp_path, command_line, kind):
    log, out = tmp_path / "a.lcmlog", tmp_path / f"a.{kind}"
    with LogWriter(log) as writer:
        for seq, allowed in enumerate([[], ["walk", "a, b"], ["down"]]):
            message = MODE_STATE.type()
            message.seq, message.mode, message.allowed = seq, f"mode {seq}", allowed
            writer.write(MODE_STATE, message, made_log.START)
    assert command_line(main, log, out, "--field", "mode_state") == 0
    want = [["", ""], ["walk", "a, b"], ["down", ""]]
    if kind == "csv":
        rows = read_csv(out)
        assert [[r["mode_state.allowed[0]"], r["mode_state.allowed[1]"]] for r in rows] == want
        return
    data = np.load(out) if kind == "npz" else loadmat(out, simplify_cells=True)["mode_state"]
    allowed, mode, reason, used = (
        data[f"mode_state.{name}" if kind == "npz" else name] for name in ("allowed", "mode", "reason", "used")
    )
    assert [["" if np.size(x) == 0 else str(x) for x in row] for row in allowed] == want
    assert mode.tolist() == ["mode 0", "mode 1", "mode 2"]
    assert [np.size(x) and str(x) for x in reason] in (["", "", ""], [0, 0, 0])
    assert used.size == 0


def test_a_span_and_a_run_can_be_chosen(log, messages, tmp_path, command_line):
    assert command_line(main, log, tmp_path / "a.npz", "--from", 0.1, "--to", 0.2, "--field", "imu.gyro") == 0
    data, t = np.load(tmp_path / "a.npz"), np.array([s - start(log) for s, _ in messages["imu"]]) / 1e6
    assert np.array_equal(data["imu.t"], t[(t >= 0.1) & (t <= 0.2)])
    assert command_line(main, log, tmp_path / "a.npz", "--from", t[9], "--to", t[11], "--field", "imu.seq") == 0
    assert np.load(tmp_path / "a.npz")["imu.seq"].tolist() == [9, 10, 11], "both ends belong to it"
    for run in ("8", "last"):
        assert command_line(main, log, tmp_path / "b.npz", "--run", run) == 0
        data = np.load(tmp_path / "b.npz")
        assert data["leg_state.seq"].tolist() == list(range(100))
        assert len(data["motion_command.vx"]) == 9, "the first was sent before the run began"
        assert len(data["from elsewhere.q"]) == 25
    assert command_line(main, log, tmp_path / "b.npz", "--run", "longest", "--field", "imu.seq") == 0
    assert np.load(tmp_path / "b.npz")["imu.seq"].tolist() == list(range(300))


@pytest.mark.parametrize("chunk", [100, 1 << 20], ids=["a block each", "one block"])
def test_arrays_of_changing_length_are_filled_up(tmp_path, command_line, monkeypatch, chunk):
    monkeypatch.setattr(EventFile.__init__, "__defaults__", (chunk,))
    log = tmp_path / "a.lcmlog"
    with LogWriter(log) as writer:
        for horizon in (3, 1, 5):
            message = MPC_DEBUG.type(horizon, 4)
            message.block[:] = horizon
            writer.write(MPC_DEBUG, message, made_log.START)
    assert command_line(main, log, tmp_path / "a.npz") == 0
    path = np.load(tmp_path / "a.npz")["mpc_debug.path"]
    assert path.shape == (3, 5, 3)
    assert np.isnan(path[:, :, 0]).sum(1).tolist() == [2, 4, 0]
    assert np.nanmean(path, (1, 2)).tolist() == [3, 1, 5]
    assert command_line(main, log, tmp_path / "b.npz", "--field", "mpc_debug.path[4]") == 0
    assert np.isnan(np.load(tmp_path / "b.npz")["mpc_debug.path[4]"][:, 0]).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a.xls",), "must be one of csv, npz, mat, mcap"),
        (("a.npz", "--field", "leg_stat.q"), "no such channel"),
        (("a.npz", "--field", "leg_state.Q"), "leg_state_t has utime"),
        (("a.npz", "--field", "leg_state.q[12]"), "the arrays in the log are shorter"),
        (("a.npz", "--field", "body_state.quat[4]"), "4 elements"),
        (("a.npz", "--field", "body_state.quat[0][0]"), "1 dimensions"),
        (("a.npz", "--field", "mystery"), "no such channel of a known type"),
        (("a.npz", "--from", "99"), "the log ends at"),
        (("a.npz", "--from", "0.3", "--to", "0.2"), "is behind"),
        (("a.npz", "--from", "nan"), "not a number of seconds"),
        (("a.npz", "--run", "9"), "the log has 7, 8"),
        (("a.csv", "--hold", "--field", "motion_command"), "--hold needs a channel that ticks"),
        (("a.npz", "--field", "estop", "--to", "0.1"), "no message of the wanted channels"),
    ],
)
def test_what_cannot_be_done_is_said_and_leaves_nothing(log, tmp_path, command_line, capsys, arguments, said):
    assert command_line(main, log, tmp_path / arguments[0], *arguments[1:]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["csv", "npz", "mat", "mcap"])
def test_an_interruption_leaves_the_old_file_and_nothing_else(log, tmp_path, command_line, monkeypatch, capsys, kind):
    out = tmp_path / f"a.{kind}"
    out.write_text("the old one")
    calls = []

    def interrupted(*_: object) -> None:
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt

    real = export_module.export
    monkeypatch.setattr("tools.export.__main__.export", lambda wish, report: real(wish, lambda *_: interrupted()))
    monkeypatch.setattr(EventFile.__init__, "__defaults__", (300_000,))
    assert command_line(main, log, out) == 130
    assert [p.name for p in tmp_path.iterdir()] == [out.name]
    assert out.read_text() == "the old one"
    assert "interrupted" in capsys.readouterr().err


def test_a_damaged_log_gives_what_is_left_and_says_so(log, messages, tmp_path, command_line, capsys):
    data = bytearray(log.read_bytes())
    head = data.index(SYNC_BYTES, len(data) // 2)
    data[head : head + 50] = bytes(50)
    broken = tmp_path / "b.lcmlog"
    broken.write_bytes(data)
    assert command_line(main, broken, tmp_path / "a.npz") == 1
    assert "damaged at byte" in capsys.readouterr().err
    seqs = np.load(tmp_path / "a.npz")["imu.seq"]
    assert 398 <= len(seqs) <= 400
    (tmp_path / "none.lcmlog").write_bytes(b"")
    assert command_line(main, tmp_path / "none.lcmlog", tmp_path / "c.npz") == 2
    assert "is empty" in capsys.readouterr().err
    assert command_line(main, log, log) == 2


def test_messages_that_cannot_be_decoded_are_counted(tmp_path, command_line, capsys):
    log = tmp_path / "a.lcmlog"
    mode, legs = MODE_STATE.type(), LEG_STATE.type(4, 12)
    with LogWriter(log) as writer:
        writer.write(LEG_STATE, legs, made_log.START)
        writer.write(MODE_STATE, mode, made_log.START)
        writer.write_raw("leg_state", legs.encode()[:-5], made_log.START)
    assert command_line(main, log, tmp_path / "a.npz") == 1
    assert "leg_state: 1 messages cannot be decoded" in capsys.readouterr().err
    assert len(np.load(tmp_path / "a.npz")["leg_state.q"]) == 1
