"""A self-contained HTML page and its parts: text in, text out. Nothing is loaded from outside of it."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def document(title: str, parts: Iterable[str], data: dict[str, Any] | None = None, nav: str = "") -> str:
    """The whole page; `data` is what page.js draws."""
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    script = ""
    if data is not None:
        # Within <script> only "</" would end it; a JSON string may spell it otherwise.
        text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
        code = (FOLDER / "page.js").read_text(encoding="utf-8")
        script = f'<script type="application/json" id="data">{text}</script><script>{code}</script>'
    body = "\n".join(part for part in parts if part)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body>{nav}<main>\n{body}\n</main>{script}</body></html>\n"
    )


def heading(text: str, level: int = 2, anchor: str = "") -> str:
    """A heading."""
    mark = f' id="{escape(anchor)}"' if anchor else ""
    return f"<h{level}{mark}>{escape(text)}</h{level}>"


def paragraph(text: str, kind: str = "") -> str:
    """One paragraph; kinds: m (muted), ok, warn, bad."""
    return f"<p{_class(kind)}>{escape(text)}</p>"


def listed(lines: Iterable[str]) -> str:
    """A list."""
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


class Html(str):
    """Text that is HTML already and is put in as it is."""

    __slots__ = ()


def cell(value: object, kind: str = "") -> Html:
    """A table's cell of a kind."""
    inner = value if isinstance(value, Html) else escape(str(value))
    return Html(f"<td{_class(kind)}>{inner}</td>")


def table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: Container[int] = ()) -> str:
    """A table; columns in `numbers` are set to the right. Html cells made by `cell` stay as they are."""
    top = "".join(f"<th{_class('n' if k in numbers else '')}>{escape(h)}</th>" for k, h in enumerate(head))
    body = []
    for row in rows:
        attributes = row.attributes if isinstance(row, Row) else ""
        cells = (
            c if isinstance(c, Html) and c.startswith("<td") else cell(c, "n" if k in numbers else "")
            for k, c in enumerate(row)
        )
        body.append(f"<tr{attributes}>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


class Row(list[object]):
    """A table's row with a class, and a moment that the charts show on a click."""

    def __init__(self, cells: Iterable[object], kind: str = "", at: float | None = None, end: float = 0.0) -> None:
        super().__init__(cells)
        moment = "" if at is None else f' data-t="{at:.4f}" data-end="{end:.4f}"'
        self.attributes = _class(kind) + moment


def cards(figures: Iterable[tuple[str, str, str]]) -> str:
    """Key figures: (name, value, remark)."""
    one = "".join(
        f'<div class="card"><span>{escape(name)}</span><b>{escape(value)}</b> <small>{escape(remark)}</small></div>'
        for name, value, remark in figures
    )
    return f'<div class="cards">{one}</div>'


def verdict(kind: str, head: str, lines: Iterable[str]) -> str:
    """The result in one box; kinds: ok, warn, bad."""
    rest = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return f'<div class="verdict {kind}"><b>{escape(head)}</b>{rest}</div>'


def folded(title: str, inner: str) -> str:
    """What is shown on a click (and in print)."""
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
