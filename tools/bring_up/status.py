"""Hardware-integration status: a table of claims with the tests that prove them, written into the bring-up guide.

`python -m tools.bring_up.status` prints it, `--write` puts it into the guide, `--check` says if the guide's is old.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "procs" / "bridge" / "BRING_UP.md"
BEGIN = "<!-- status: written by `python -m tools.bring_up.status --write` -->"
END = "<!-- /status -->"
EMULATED, REAL, NOT = "proven on emulated bytes", "proven on real recordings", "not on hardware"

# claim, test (file::name), status
CLAIMS: tuple[tuple[str, str, str], ...] = (
    ("MIT-mode commands and replies, byte for byte", "wire/test_mit_can.py::test_command_vectors", EMULATED),
    ("… equal to an independent driver's", "wire/test_other_packages.py::test_mit_frames_of_the_dfki_driver", EMULATED),
    ("… replies of a real robot", "wire/test_mit_can.py::test_r3_replies_of_the_real_robot", REAL),
    ("SPIne replies: every recorded checksum", "wire/test_scotty_log.py::test_all_5928_reply_checksums_verify", REAL),
    (
        "SPIne replies: every recorded position and velocity",
        "wire/test_scotty_log.py::test_35568_positions_and_velocities_decode_to_the_logged_values",
        REAL,
    ),
    (
        "SPIne replies: every recorded torque",
        "wire/test_scotty_log.py::test_35568_torques_decode_to_the_logged_values",
        REAL,
    ),
    (
        "Ranges told by the quanta of a stream",
        "wire/test_scotty_log.py::test_positions_and_velocities_are_raw_integers_of_the_ak10_9_table",
        REAL,
    ),
    (
        "Motor model: friction and inertia of a test bench",
        "real_data/test_motor_fit.py::test_identified_friction_and_inertia_reproduce_all_runs",
        REAL,
    ),
    (
        "CyberGear frames equal an independent driver's",
        "wire/test_other_packages.py::test_cybergear_frames_of_cybergeardriver",
        EMULATED,
    ),
    (
        "GIM6010 frames equal the CANSimple table's",
        "wire/test_other_packages.py::test_odrive_frames_of_the_cansimple_dbc",
        EMULATED,
    ),
    (
        "Decoders bear any bytes",
        "wire/test_fuzz.py::test_decoders_raise_nothing_but_decode_errors_and_mark_what_is_not_a_number",
        EMULATED,
    ),
    ("Signs, ratios, offsets, gains", "bridge/test_joint_map.py::test_the_motors_law_is_the_joints_law", EMULATED),
    (
        "Safe start: no gains before drives are settled",
        "bridge/test_spine.py::test_gains_are_zero_while_drives_are_entered_and_ramp_up_after",
        EMULATED,
    ),
    (
        "Exit frames on every way out, SPIne",
        "bridge/test_live.py::test_every_way_out_switches_spine_drives_off",
        EMULATED,
    ),
    ("Exit frames on every way out, CAN", "bridge/test_live.py::test_every_way_out_switches_can_drives_off", EMULATED),
    (
        "Lasting faults end in damping, named",
        "contract/test_bus_faults.py::test_a_lasting_fault_ends_in_damping_and_is_named",
        EMULATED,
    ),
    (
        "Drives that protect themselves are heard",
        "sim/emulators/test_electrics.py::test_beyond_its_limits_a_drive_lets_go_says_why_and_comes_back_only_when_asked",
        EMULATED,
    ),
    (
        "A CAN bus that was off is no longer blamed",
        "contract/test_bus_faults.py::test_a_bus_that_was_off_and_is_back_is_no_longer_blamed",
        EMULATED,
    ),
    (
        "Spoiled messages move no believed value far",
        "contract/test_bus_faults.py::test_messages_spoiled_in_every_way_move_no_believed_value_far",
        EMULATED,
    ),
    (
        "Estop: damping at every motor within a tick",
        "bridge/test_stop_on_the_wire.py::test_an_estop_is_damping_at_every_motor_within_a_tick",
        EMULATED,
    ),
    (
        "Commands that stop: damping within 20 ms and a tick, then as described",
        "bridge/test_stop_on_the_wire.py::"
        "test_commands_that_stop_are_damping_within_20_ms_and_a_tick_and_then_as_the_description_says",
        EMULATED,
    ),
    (
        "An unplugged bus gets its exit frames when it comes back",
        "bridge/test_unplugged.py::test_a_bus_that_comes_back_while_the_bridge_runs_gets_its_exit_frames",
        EMULATED,
    ),
    (
        "A joint that is hit while replies are lost is believed",
        "bridge/test_sensing.py::test_a_joint_that_is_hit_at_any_time_of_a_gap_is_believed",
        EMULATED,
    ),
    ("Walks through emulated boards and drives", "contract/test_walk.py::test_it_walks_through_the_bytes", EMULATED),
    (
        "Bring-up: listening transmits nothing",
        "bring_up/test_nodes.py::test_listening_and_leaving_transmits_nothing",
        EMULATED,
    ),
    ("Bring-up: missing nodes", "bring_up/test_nodes.py::test_a_missing_node_is_named", EMULATED),
    ("Bring-up: duplicate ids", "bring_up/test_nodes.py::test_a_duplicate_id_is_named", EMULATED),
    ("Bring-up: nodes on another bus", "bring_up/test_nodes.py::test_a_node_on_another_bus_is_named", EMULATED),
    ("Bring-up: swapped nodes", "bring_up/test_wiring.py::test_swapped_nodes_are_found_and_put_right", EMULATED),
    ("Bring-up: inverted signs", "bring_up/test_wiring.py::test_an_inverted_sign_is_found_and_put_right", EMULATED),
    ("Bring-up: wrong ratios", "bring_up/test_wiring.py::test_a_wrong_ratio_is_found_and_put_right", EMULATED),
    (
        "Bring-up: wrong ranges",
        "bring_up/test_wiring.py::test_a_wrong_velocity_range_is_found_and_the_firmware_named",
        EMULATED,
    ),
    (
        "Bring-up: swaps within a leg of a board",
        "bring_up/test_wiring.py::test_motors_swapped_within_a_leg_of_a_board_are_found_and_written_as_slots",
        EMULATED,
    ),
    (
        "Bring-up: wrong bit rates",
        "bring_up/test_bit_rate.py::test_a_wrong_rate_is_named_with_the_right_one_and_nothing_is_sent",
        EMULATED,
    ),
    ("Bring-up: second encoders", "bring_up/test_witness.py::test_a_wrong_gear_between_the_two_is_named", EMULATED),
    (
        "Bring-up: slipped couplings",
        "bring_up/test_witness.py::test_a_coupling_that_slips_on_the_way_is_named",
        EMULATED,
    ),
    ("Bring-up: over-travel", "bring_up/test_safety.py::test_over_travel_switches_the_motor_off", EMULATED),
    (
        "Bring-up: what a drive does in silence",
        "bring_up/test_safety.py::test_a_drives_watchdog_is_found_and_timed",
        EMULATED,
    ),
    ("Bring-up: Ctrl-C and kill", "bring_up/test_command_line.py::test_ctrl_c_and_kill_leave_the_motors_off", EMULATED),
    ("spidev on a real board; byte order on the line", "", NOT),
    ("socketcan with real drives; reply times, bus load, bus-off", "", NOT),
    ("VN-100 on a real serial line", "", NOT),
    ("A real drive's first reply, zeroing time and silence", "", NOT),
    ("Standing and walking", "", NOT),
)


def proven(test: str) -> bool:
    """Whether the test of a claim exists."""
    file, _, name = test.partition("::")
    path = ROOT / "tests" / file
    return path.exists() and re.search(rf"^def {re.escape(name)}\(", path.read_text(encoding="utf-8"), re.M) is not None


def table() -> str:
    """Rows of all claims; a test that is not there stands out."""
    rows = ["| claim | test that proves it | status |", "|---|---|---|"]
    for claim, test, status in CLAIMS:
        shown = f"`tests/{test}`" if test else "-"
        rows.append(f"| {claim} | {shown} | {status if not test or proven(test) else 'NOT PROVEN: no such test'} |")
    counts = [f"{sum(s == kind for _, _, s in CLAIMS)} {kind}" for kind in (EMULATED, REAL, NOT)]
    return "\n".join([*rows, "", f"{len(CLAIMS)} claims: {', '.join(counts)}."])


def renewed(text: str) -> str:
    """The guide with the table of today; ValueError without the markers."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"{GUIDE.name} has no block from {BEGIN!r} to {END!r}")
    head, rest = text.split(BEGIN, 1)
    return f"{head}{BEGIN}\n{table()}\n{END}{rest.split(END, 1)[1]}"


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m tools.bring_up.status", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="renew the guide")
    what.add_argument("--check", action="store_true", help="exit code 1 if the guide's table is old")
    args = parser.parse_args()
    if not (args.write or args.check):
        print(table())
        return 0
    text = GUIDE.read_text(encoding="utf-8")
    new = renewed(text)
    if args.check and text != new:
        print("the table in the guide is old: python -m tools.bring_up.status --write", file=sys.stderr)
        return 1
    if args.write and text != new:
        GUIDE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
