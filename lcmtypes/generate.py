"""Generates lcmtypes/generated/*.py from lcmtypes/*.lcm: python -m lcmtypes.generate [--check].

Our own generator instead of lcm-gen's Python back end because the cores work on numpy arrays: here all double
arrays of a message are views of one block (encode and decode are one copy), lcm-gen makes lists of floats.
The bytes are the same; a test compares both.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lcmtypes import lcmfile
from lcmtypes.lcmfile import Member, Struct

HERE = Path(__file__).parent
OUT = HERE / "generated"
HEADER = ("utime", "run", "seq", "used")  # slots of the base class
CODE = {"int8_t": "b", "int16_t": "h", "int32_t": "i", "int64_t": "q", "float": "f", "double": "d", "boolean": "b"}
BYTES = {"int8_t": 1, "int16_t": 2, "int32_t": 4, "int64_t": 8, "float": 4, "double": 8, "boolean": 1}


def class_name(struct: Struct) -> str:
    """body_state_t -> BodyState."""
    return "".join(part.capitalize() for part in struct.name.removesuffix("_t").split("_"))


def _check(struct: Struct) -> None:
    blocks = [bool(m.dims) and m.type == "double" for m in struct.members]
    if sorted(blocks) != blocks:
        raise ValueError(f"{struct.name}: double arrays must come last, so that they form one block")
    if [m.name for m in struct.members[:5]] != ["utime", "run", "seq", "num_used", "used"]:
        raise ValueError(f"{struct.name}: does not begin with the common header")


def _split(struct: Struct) -> tuple[list[Member], list[Member], list[str], list[str]]:
    """Members before the block, members of the block, sizes given to __init__, sizes derived from lists."""
    block = [m for m in struct.members if m.dims and m.type == "double"]
    plain = [m for m in struct.members if m not in block]
    named = [m.name for m in plain if any(m.name in other.dims for other in struct.members)]
    given = [n for n in named if any(n in m.dims and m.type in ("double", "int8_t") for m in struct.members)]
    return plain, block, given, [n for n in named if n not in given]


def _count(member: Member) -> str:
    return " * ".join(member.dims)


def _total(block: list[Member]) -> str:
    return " + ".join(_count(m) for m in block) or "0"


def _views(block: list[Member]) -> list[str]:
    lines, start = [], ["0"]
    for m in block:
        begin = " + ".join(start[1:]) or "0"
        start.append(_count(m))
        view = f"block[{begin} : {' + '.join(start[1:])}]"
        lines.append(f"self.{m.name} = {view}" + (f".reshape({', '.join(m.dims)})" if len(m.dims) > 1 else ""))
    return lines


def _encode(plain: list[Member], block: list[Member], derived: list[str]) -> list[str]:
    parts: list[str] = []
    fmt, args = "Q", ["self.FINGERPRINT"]

    def flush() -> None:
        nonlocal fmt, args
        if args:
            parts.append(f'pack(">{fmt}", {", ".join(args)})')
        fmt, args = "", []

    for m in plain:
        if not m.dims and m.type != "string":
            fmt += CODE[m.type]
            owner = next((o.name for o in plain if m.name in o.dims and m.name in derived), None)
            args.append(f"len(self.{owner})" if owner else f"self.{m.name}")
            continue
        flush()
        if m.type == "string":
            parts.append(f"*map(raw_text, self.{m.name})" if m.dims else f"raw_text(self.{m.name})")
        elif m.type == "int8_t":
            parts.append(f"self.{m.name}.tobytes()")
        else:
            parts.append(f'pack(f">{{len(self.{m.name})}}{CODE[m.type]}", *self.{m.name})')
    flush()
    if block:
        parts.append('self.block.astype(">f8").tobytes()')
    return ["return b''.join((", *[f"    {p}," for p in parts], "))"]


def _decode(
    struct: Struct, plain: list[Member], block: list[Member], given: list[str], derived: list[str]
) -> list[str]:
    out = ["if data[:8] != FINGERPRINT:", '    raise DecodeError("fingerprint of another type")', "at = 8"]
    run: list[Member] = []

    def flush() -> None:  # one unpack for a run of scalars
        if run:
            names = "".join(m.name + "_, " for m in run).strip()
            code = "".join(CODE[m.type] for m in run)
            size = sum(BYTES[m.type] for m in run)
            out.append(f'{names} = unpack_from(">{code}", data, at)')
            out.append(f"at += {size}")
            sizes = [m.name for m in run if m.name in given + derived]
            for name in sizes:
                out.extend((f"if not 0 <= {name}_ <= MOST:", f'    raise DecodeError(f"{name} is {{{name}_}}")'))
        run.clear()

    for m in plain:
        if not m.dims and m.type != "string":
            run.append(m)
            continue
        flush()
        count = " * ".join(d if d.isdigit() else d + "_" for d in m.dims)
        if m.type == "string" and m.dims:
            out += [
                f"{m.name}_: list[str] = []",
                f"for _ in range({count}):",
                "    item, at = text(data, at)",
                f"    {m.name}_.append(item)",
            ]
        elif m.type == "string":
            out.append(f"{m.name}_, at = text(data, at)")
        elif m.type == "int8_t":
            out += [f"{m.name}_ = np.frombuffer(data, np.int8, {count}, at).copy()", f"at += {count}"]
        else:
            out += [
                f'{m.name}_ = list(unpack_from(f">{{{count}}}{CODE[m.type]}", data, at))',
                f"at += {BYTES[m.type]} * {count}",
            ]
    flush()
    total = _total(block)
    for name in given:
        total = total.replace(name, name + "_")
    out += [f"if len(data) != at + 8 * ({total}):", '    raise DecodeError(f"{len(data)} bytes")']
    out.append("self = cls.__new__(cls)")
    for m in plain:
        if m.name not in derived:
            out.append(f"self.{m.name} = {m.name}_")
    if block:
        out.append(f'self._views(np.frombuffer(data, ">f8", {total}, at).astype(float))')
    out.append("return self")
    return [
        "try:",
        *["    " + line for line in out],
        "except (struct_error, ValueError, OverflowError) as error:",
        f'    raise DecodeError(f"{struct.name}: {{error}}") from error',
    ]


def source(struct: Struct) -> str:
    """Python source of one message class."""
    _check(struct)
    plain, block, given, derived = _split(struct)
    stored = [m for m in plain if m.name not in derived]
    slots = [m.name for m in stored if m.name not in HEADER] + [m.name for m in block] + (["block"] if block else [])
    kinds = {"string": "str", "double": "float", "float": "float"}
    w: list[str] = [
        f'"""Generated from {struct.name}.lcm by lcmtypes.generate; do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        "from struct import error as struct_error",
        "from struct import pack, unpack_from",
        "from typing import Self",
        "",
        "import numpy as np",
        "",
        "from lcmtypes.message import DecodeError, Message, finite_block, raw_text, text",
        "",
        f'FINGERPRINT = bytes.fromhex("{struct.fingerprint:016x}")',
        "MOST = 4096  # no array of ours is longer",
        "",
        "",
        f"class {class_name(struct)}(Message):",
        f'    """{struct.comment}"""',
        "",
        f"    __slots__ = ({''.join(repr(s) + ', ' for s in slots)})".replace("'", '"'),
        f'    TYPE = "{struct.name}"',
        f"    FINGERPRINT = 0x{struct.fingerprint:016x}",
        f"    FIELDS = ({', '.join(repr(m.name) for m in struct.members if m.name not in given + derived)},)".replace(
            "'", '"'
        ),
        "",
    ]
    for m in stored + block:
        kind = kinds.get(m.type, "int")
        if m.dims:
            kind = "np.ndarray" if m.type in ("double", "int8_t") else f"list[{kind}]"
        w.append(f"    {m.name}: {kind}" + (f"  # {m.comment}" if m.comment else ""))
    w += ["", f"    def __init__(self{''.join(f', {g}: int' for g in given)}) -> None:"]
    for m in stored:
        if m.name in given:
            value = m.name
        elif m.dims and m.type == "int8_t":
            value = f"np.zeros({_count(m)}, np.int8)"
        elif m.dims and m.type == "string" and m.dims[0] in given:
            value = f'[""] * {_count(m)}'
        elif m.dims:
            value = "[]"
        else:
            value = {"string": '""', "double": "0.0"}.get(m.type, "0")
        w.append(f"        self.{m.name} = {value}")
    if block:
        w += [
            f"        self._views(np.zeros({_total(block)}))",
            "",
            "    def _views(self, block: np.ndarray) -> None:",
            "        self.block = block",
        ]
        w += [f"        {name} = self.{name}" for name in given if any(name in m.dims for m in block)]
        w += ["        " + line for line in _views(block)]
    w += ["", "    def encode(self) -> bytes:"]
    w += ["        " + line for line in _encode(plain, block, derived)]
    w += ["", "    @classmethod", "    def decode(cls, data: bytes) -> Self:"]
    w += ["        " + line for line in _decode(struct, plain, block, given, derived)]
    scalars = "".join(f", self.{m.name}" for m in plain if m.type == "double" and not m.dims)
    w += [
        "",
        "    def finite(self) -> bool:",
        f"        return finite_block({'self.block' if block else 'NOTHING'}{scalars})",
    ]
    text = "\n".join(w) + "\n"
    if not block:
        text = text.replace("MOST = 4096", "NOTHING = np.zeros(0)\nMOST = 4096")
    return text


def generate() -> dict[str, str]:
    """File name to source for all types and the package file."""
    structs = [lcmfile.read(path) for path in sorted(HERE.glob("*.lcm"))]
    files = {struct.name.removesuffix("_t") + ".py": source(struct) for struct in structs}
    lines = ['"""Generated by lcmtypes.generate; do not edit."""', ""]
    lines += [f"from lcmtypes.generated.{s.name.removesuffix('_t')} import {class_name(s)}" for s in structs]
    lines += ["", "__all__ = [", *[f'    "{class_name(s)}",' for s in structs], "]"]
    files["__init__.py"] = "\n".join(lines) + "\n"
    return files


def main() -> int:
    """Write the files, or with --check say whether they are current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 if the generated code is not current")
    check = parser.parse_args().check
    files = generate()
    old = {p.name: p.read_text() for p in OUT.glob("*.py")}
    if check:
        wrong = sorted(n for n in files.keys() | old.keys() if files.get(n) != old.get(n))
        print(f"not current: {', '.join(wrong)}; run: make types" if wrong else f"{len(files) - 1} types are current")
        return bool(wrong)
    OUT.mkdir(exist_ok=True)
    for name in old.keys() - files.keys():
        (OUT / name).unlink()
    for name, content in files.items():
        if old.get(name) != content:
            (OUT / name).write_text(content)
    print(f"{len(files) - 1} message types written to {OUT.name}/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
