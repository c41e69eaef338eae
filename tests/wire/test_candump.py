"""candump lines, read back by us and by python-can."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from procs.wire.candump import Logged, format_line, parse_line
from procs.wire.decode import DecodeError, Reason
from procs.wire.frame import CanFrame


@st.composite
def entries(draw: st.DrawFn) -> Logged:
    extended, remote = draw(st.booleans()), draw(st.booleans())
    frame = CanFrame(
        draw(st.integers(0, 0x1FFFFFFF if extended else 0x7FF)),
        b"" if remote else draw(st.binary(max_size=8)),
        extended,
        remote,
        draw(st.integers(0, 8)) if remote else 0,
    )
    stamp = draw(st.integers(0, 4_000_000_000_000_000))
    return Logged(
        stamp, draw(st.sampled_from(["can0", "vcan12", "FL.bus"])), frame, draw(st.sampled_from([None, True, False]))
    )


@given(entries())
def test_lines_come_back(entry: Logged) -> None:
    assert parse_line(format_line(entry)) == entry
    assert parse_line(format_line(entry) + "\n") == entry


def test_lines_look_like_candumps() -> None:
    entry = Logged(1436509052249713, "vcan0", CanFrame(0x44, bytes.fromhex("2a366c2bba")))
    assert format_line(entry) == "(1436509052.249713) vcan0 044#2A366C2BBA"
    assert (
        format_line(Logged(1, "can0", CanFrame(0x0300FD7F, bytes(2), True), True))
        == "(0000000000.000001) can0 0300FD7F#0000 T"
    )
    assert format_line(Logged(0, "can0", CanFrame(0x0F4, remote=True))) == "(0000000000.000000) can0 0F4#R"


def test_python_can_reads_our_lines(tmp_path: Path) -> None:
    can = pytest.importorskip("can", reason="python-can reads our lines")
    entries = [
        Logged(1_700_000_000_123_456, "can0", CanFrame(0x0A7, b"\x08" + bytes(7))),
        Logged(1_700_000_000_123_999, "can1", CanFrame(0x01E2A90B, bytes.fromhex("83947fff051e9999"), True), True),
        Logged(1_700_000_001_000_000, "can1", CanFrame(0x0F4, remote=True), False),
        Logged(1_700_000_001_000_001, "can0", CanFrame(0x0F4, remote=True, length=8)),
        Logged(1_700_000_001_000_002, "can0", CanFrame(0x001)),
    ]
    path = tmp_path / "frames.log"
    path.write_text("".join(format_line(entry) + "\n" for entry in entries))
    with can.CanutilsLogReader(path) as reader:
        messages = list(reader)
    for entry, message in zip(entries, messages, strict=True):
        frame = entry.frame
        assert (message.arbitration_id, bytes(message.data), message.channel) == (
            frame.can_id,
            frame.data,
            entry.channel,
        )
        assert (message.is_extended_id, message.is_remote_frame) == (frame.extended, frame.remote)
        assert message.dlc == (frame.length if frame.remote else len(frame.data))
        assert message.timestamp == pytest.approx(entry.stamp_us / 1e6, abs=1e-6)
        assert message.is_rx == (not entry.sent)


def test_we_read_python_cans_lines(tmp_path: Path) -> None:
    can = pytest.importorskip("can", reason="python-can writes lines for us")
    path = tmp_path / "frames.log"
    with can.CanutilsLogWriter(path) as writer:
        writer.on_message_received(can.Message(5.25, 0x123, is_extended_id=False, data=b"\x01\x02", channel="can3"))
        writer.on_message_received(can.Message(6.0, 0x1234567, data=b"", is_rx=False, channel=2))
    first, second = map(parse_line, path.read_text().splitlines())
    assert first == Logged(5_250_000, "can3", CanFrame(0x123, b"\x01\x02"), False)
    assert (second.frame, second.sent) == (CanFrame(0x1234567, b"", True), True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", Reason.SYNTAX),
        ("(1.5) can0 123#00", Reason.SYNTAX),
        ("(1.000000) can0 123#0", Reason.SYNTAX),
        ("(1.000000) can0 123##1ABCD", Reason.SYNTAX),
        ("(1.000000) can0 123#112233445566778899", Reason.SYNTAX),
        ("(1.000000) can0 800#00", Reason.IDENTIFIER),
        ("(1.000000) can0 20000004#0000", Reason.UNKNOWN),
        ("(1.000000) can0 9FFFFFFF#0000", Reason.IDENTIFIER),
    ],
)
def test_other_lines_are_rejected_with_their_reason(line: str, reason: Reason) -> None:
    with pytest.raises(DecodeError) as info:
        parse_line(line)
    assert info.value.reason is reason


@pytest.mark.parametrize(
    "entry",
    [
        Logged(0, "can0", CanFrame(0x800)),
        Logged(0, "can 0", CanFrame(1)),
        Logged(-1, "can0", CanFrame(1)),
        Logged(0, "can0", CanFrame(1, bytes(9))),
        Logged(0, "can0", CanFrame(1, b"1", remote=True)),
    ],
)
def test_refusals(entry: Logged) -> None:
    with pytest.raises(ValueError, match="want"):
        format_line(entry)
