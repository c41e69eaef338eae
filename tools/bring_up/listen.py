"""Steps `listen` (not one frame sent) and `roll-call` (every id asked by an exit frame): who is on which bus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from procs.model.robot import Robot
from tools.bring_up.ask import Asker
from tools.bring_up.bench import Bench
from tools.bring_up.nodes import BEATS, TALKATIVE, Book, Node, question
from tools.bring_up.session import Record, Verdict

LISTEN = 1.0  # s
QUESTIONS = 2  # to each id: one answer more is another drive
TRANSFERS = 20  # of each board
FEW = 3  # heartbeats fewer than due are no fault
HIGHEST_TRIED = 15  # besides the ids of the description


def listen(bench: Bench, seconds: float = LISTEN) -> list[Record]:
    """What the buses say unasked."""
    can = bench.bus.can
    if can is None:
        words = "SPIne boards say nothing unless the host clocks them: use roll-call"
        return [Record("listen", name, Verdict.UNHEARD, words) for name in bench.robot.joint_names]
    book = Book(can)
    for now, line, frame in bench.hear(seconds):
        book.hear(now, line, frame)
    talk = can.protocol in TALKATIVE
    return judge("listen", bench, book, expect_answer=talk, most_beats=BEATS * seconds + FEW)


def roll_call(bench: Bench, asker: Asker) -> list[Record]:
    """Ask every node; SPIne boards by transfers with everything disabled."""
    can = bench.bus.can
    if can is None:
        return _boards(bench, asker)
    ids = sorted({w.id for w in bench.wires} | (set(range(1, 1 + HIGHEST_TRIED)) if can.protocol == "mit" else set()))
    book, many = Book(can), f"{len(ids)} ids x {QUESTIONS}"
    before = [link.errors for link in bench.links]
    said: dict[int, str] = {}  # by bus
    how = "a request" if can.protocol == "gim6010" else "an exit frame (switches off, moves nothing)"
    asked = 0
    for line, place in enumerate(can.buses):
        if not asker.consent(f"roll-call.{place.channel}.transmit", f"{place.channel}: {how} to {many}."):
            continue
        asked += 1
        for number in ids:
            for _ in range(QUESTIONS):
                for now, heard_on, frame in bench.ask(line, question(can, number)):
                    book.hear(now, heard_on, frame)
                if bench.links[line].errors > before[line]:
                    said[line] = bench.links[line].last_error or said.get(line, "error frames")
    if not asked:
        return [Record("roll-call", name, Verdict.REFUSED, "not asked") for name in bench.robot.joint_names]
    for now, line, frame in bench.hear(0.2):
        book.hear(now, line, frame)
    talk = can.protocol in TALKATIVE
    most = None if talk else QUESTIONS
    return judge("roll-call", bench, book, expect_answer=True, most_answers=most, errors=said)


def judge(
    step: str, bench: Bench, book: Book, *, expect_answer: bool, most_answers: int | None = None,
    most_beats: float | None = None, errors: Mapping[int, str] = MappingProxyType({}),
) -> list[Record]:  # fmt: skip
    """A record for each joint's node, then one for each node and stranger that nobody expects.

    `errors`: by bus, what its controller had to say while it was asked.
    """
    can = book.can
    due: dict[Node, str] = {(w.line, w.id): name for name, w in zip(bench.robot.joint_names, bench.wires, strict=True)}
    out = []
    for (line, number), name in due.items():
        node = book.nodes.get((line, number))
        bus = can.buses[line].channel
        data = {"bus": bus, "id": number, "state": "", "age": None}
        verdict, words = Verdict.OK, f"node {number} on {bus}"
        elsewhere = [on for on in range(len(can.buses)) if (on, number) in book.nodes and (on, number) not in due]
        if node is None:
            verdict, words = _absent(number, bus, [can.buses[k].channel for k in elsewhere], expect_answer)
            doubles = [x for x in book.nodes.values() if x.id == number and _doubled(x, most_answers, most_beats)]
            if verdict is Verdict.MISSING and line in errors and not any(on == line for on, _ in book.nodes):
                verdict, words = Verdict.ERROR, f"nobody answers on {bus}, only errors: {errors[line]}"
            elif verdict is Verdict.MISSING and doubles:
                words += f"; two answer as {number} on {can.buses[doubles[0].line].channel}: it may hang there"
        else:
            data |= {"state": node.state, "age": round(bench.now - node.last, 3), "answers": node.answers}
            if _doubled(node, most_answers, most_beats):
                verdict = Verdict.DUPLICATE
                words = f"two drives answer as node {number} on {bus}: unplug one, give it another id"
            elif node.faults:
                verdict, words = Verdict.ERROR, f"node {number} on {bus} reports {'; '.join(node.faults)}"
        out.append(Record(step, name, verdict, words, data))
    return out + _unexpected(step, bench, book, due)


def _doubled(node: object, most_answers: int | None, most_beats: float | None) -> bool:
    answers, beats = getattr(node, "answers", 0), getattr(node, "beats", 0)
    return (most_answers is not None and answers > most_answers) or (most_beats is not None and beats > most_beats)


def _absent(number: int, bus: str, elsewhere: Sequence[str], expect_answer: bool) -> tuple[Verdict, str]:
    if elsewhere:
        return (
            Verdict.WRONG_BUS,
            f"node {number} is on {', '.join(elsewhere)}, not on {bus}: swap the cable or bus.wiring",
        )
    if not expect_answer:
        return Verdict.UNHEARD, f"node {number} on {bus}: such drives speak only when asked, use roll-call"
    return Verdict.MISSING, f"no node {number} on {bus}: power, cable, termination, bit rate, its id"


def _unexpected(step: str, bench: Bench, book: Book, due: dict[Node, str]) -> list[Record]:
    out = []
    for (line, number), node in book.nodes.items():
        if (line, number) not in due:
            bus = book.can.buses[line].channel
            data = {"bus": bus, "id": number, "state": node.state, "age": round(bench.now - node.last, 3)}
            words = f"node {number} on {bus} belongs to no joint of {bench.robot.name}"
            out.append(Record(step, f"{bus}:{number}", Verdict.FOREIGN, words, data))
    for (line, can_id), many in book.strangers.items():
        bus = book.can.buses[line].channel
        words = f"{many} frames with id {can_id:#x} on {bus}: another host, or a drive with another protocol or host id"
        out.append(Record(step, f"{bus}:{can_id:#x}", Verdict.FOREIGN, words, {"bus": bus, "id": can_id}))
    return out


def _boards(bench: Bench, asker: Asker) -> list[Record]:
    """A drive behind a board that never answered has left the board's zeros untouched."""
    names = bench.robot.joint_names
    if not asker.consent("roll-call.boards.transmit", "All boards: disabled frames with zero gains."):
        return [Record("roll-call", name, Verdict.REFUSED, "not asked") for name in names]
    heard = [bench.transfer() for _ in range(TRANSFERS)]
    out = []
    for j, name in enumerate(names):
        samples = [s[j] for s in heard[TRANSFERS // 2 :]]
        good = [s for s in samples if s.valid]
        board = bench.all.boards[bench.wires[j].line].name  # type: ignore[attr-defined]
        data = {"bus": board, "id": bench.wires[j].id, "state": "answers" if good else "",
                "age": round(bench.now - good[-1].time, 3) if good else None}  # fmt: skip
        verdict, words = Verdict.OK, f"leg {bench.wires[j].id} of {board}"
        if not good:
            verdict, words = Verdict.ERROR, f"{board}: {samples[-1].why}"
        elif all(s.position == 0.0 and s.velocity == 0.0 for s in good):  # a drive's own zero is half a quantum off
            verdict = Verdict.MISSING
            words = f"leg {bench.wires[j].id} of {board}: its numbers have never changed from 0: power, CAN cable, id"
        elif samples[-1].faults:
            verdict, words = Verdict.ERROR, samples[-1].faults
        out.append(Record("roll-call", name, verdict, words, data))
    return out


def passed(robot: Robot, records: Sequence[Record]) -> bool:
    """All joints there and nobody else."""
    return {r.target for r in records if r.passed} >= set(robot.joint_names) and all(r.passed for r in records)
