"""Flight files: complete, in order, merged within their time, and not too many of them."""

from __future__ import annotations

import os

import pytest

from config.load import load_robot
from lcmtypes.channels import JOINT_STATE, ROBOT_CONFIG
from procs.runtime.logs import raw_events
from tools.flight_recorder.saving import AFTER, LONGEST, Flight, prune, slug
from tools.record import robot_config, unused


@pytest.fixture(scope="module")
def config():
    return robot_config(load_robot("mini_cheetah"))


def seqs(path):
    events = list(raw_events(path))
    assert events[0][1] == ROBOT_CONFIG.name
    stamps = [stamp for stamp, _, _ in events]
    assert stamps == sorted(stamps)
    return [JOINT_STATE.type.decode(data).seq for _, name, data in events if name == JOINT_STATE.name]


def test_a_file_holds_robot_config_then_all_of_before_and_after_in_order_written_in_slices(
    tmp_path, config, block, msg
):
    def at(k):
        return block(0.01 * k, *(msg(JOINT_STATE, seq=3 * k + j, run=1, utime=2000 * (3 * k + j)) for j in range(3)))

    before = [at(k) for k in range(10)]
    flight = Flight(tmp_path, config, before, "fall: roll 70 deg", 0.1)
    assert all(b.saved for b in before)
    assert not flight.write(7), "a slice is not all"
    for k in range(10, 14):
        flight.add(at(k))
    said = flight.close()
    assert said == f"{flight.path} (fall: roll 70 deg)"
    assert flight.path.name.endswith("_fall_roll_70_deg.lcmlog")
    assert seqs(flight.path) == list(range(42))


def test_reasons_within_its_time_lengthen_a_file_up_to_a_limit(tmp_path, config):
    flight = Flight(tmp_path, config, [], "estop", 100.0)
    assert flight.until == 100.0 + AFTER
    flight.again("fall", 103.0)
    assert flight.until == 103.0 + AFTER
    for k in range(100):
        flight.again("fall", 103.0 + 4.0 * k)
    assert flight.until == 100.0 + LONGEST
    assert flight.close().endswith("(estop and 1 more)")


def test_two_files_of_one_second_and_reason_do_not_overwrite_each_other(tmp_path, config, monkeypatch):
    monkeypatch.setattr("time.strftime", lambda text: "20260101_000000_")
    paths = []
    for _ in range(3):
        flight = Flight(tmp_path, config, [], "x", 0.0)
        flight.close()
        paths.append(flight.path.name)
    assert paths == [f"flight_20260101_000000_x{end}.lcmlog" for end in ("", "-2", "-3")]
    assert unused(tmp_path / "new.lcmlog") == tmp_path / "new.lcmlog"


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        ("fall: roll 70 deg, pitch 3 deg", "fall_roll_70_deg_pitch"),
        ("../../etc/passwd", "etc_passwd"),
        ("", "unknown"),
        ("ü/\0" + "x" * 500, "x" * 48),
    ],
)
def test_a_reason_as_part_of_a_file_name(reason, name):
    assert slug(reason) == name


def test_the_oldest_files_go_first_by_number_and_by_size_and_no_other_file(tmp_path):
    for k in range(6):
        path = tmp_path / f"flight_{k}.lcmlog"
        path.write_bytes(bytes(100))
        os.utime(path, (k, k))
    for other in ("up_1.lcmlog", "flight_note.txt"):
        (tmp_path / other).write_bytes(bytes(10_000))
    assert [p.name for p in prune(tmp_path, files=4, size=10_000)] == ["flight_0.lcmlog", "flight_1.lcmlog"]
    assert [p.name for p in prune(tmp_path, files=4, size=250)] == ["flight_2.lcmlog", "flight_3.lcmlog"]
    assert prune(tmp_path, files=4, size=250) == []
    assert {p.name for p in tmp_path.iterdir()} == {
        "flight_4.lcmlog", "flight_5.lcmlog", "up_1.lcmlog", "flight_note.txt",
    }  # fmt: skip
