"""Style sheet of the dashboard, and small pieces of HTML. viser gives every control its uuid as the element's id."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

LEVEL_COLOURS = {"info": "#9aa3ad", "warning": "#f0a83c", "error": "#ff6b6b"}
MODE_COLOURS = {
    "idle": "#6b7280", "ready": "#3b82c4", "down": "#3b82c4", "stand": "#2f9e5b", "walk": "#1fa37a",
    "recover": "#b7791f", "joint_test": "#8b5cf6", "shutdown": "#6b7280", "damping": "#d9822b", "estop": "#e03131",
}  # fmt: skip
BAR = 54  # px

# The bar's last element shows itself when nobody replaces it for 3 s: then the page is cut off and all of it is old.
SHEET = f"""
[data-dock-region]{{top:{BAR}px!important}}
[data-dock-region="right"]{{z-index:450!important}}
.mantine-Notifications-root{{top:{BAR + 8}px!important}}
[data-dock-region-handle],[data-dock-griphandle]{{display:none!important}}
.d-bar{{position:fixed;top:0;left:0;right:0;height:{BAR}px;z-index:300;display:flex;align-items:center;gap:18px;
 padding:0 500px 0 16px;background:#15171a;border-bottom:1px solid #33373d;color:#d5d9de;font-size:14px;
 white-space:nowrap;overflow:hidden}}
.d-bar b{{font-weight:650}} .d-dim{{color:#8a929b}}
.d-badge{{padding:4px 12px;border-radius:4px;color:#fff;font-weight:650;letter-spacing:.02em}}
.d-dot{{display:inline-block;width:10px;height:10px;border-radius:50%;margin-right:7px}}
.d-lost{{position:fixed;top:{BAR}px;left:0;right:0;padding:9px;text-align:center;background:#e03131;color:#fff;
 font-weight:650;visibility:hidden;animation:d-lost 0s 3s forwards;z-index:301}}
@keyframes d-lost{{to{{visibility:visible}}}}
.d-reason{{margin:0 12px 6px;font-size:12.5px;line-height:1.45;overflow-wrap:anywhere}}
.d-table{{border-collapse:collapse;font-size:12px;width:calc(100% - 20px);margin:4px 10px 10px;
 font-variant-numeric:tabular-nums}}
.d-table th{{text-align:left;color:#8a929b;font-weight:500;padding:2px 6px 2px 0;border-bottom:1px solid #3a3f46}}
.d-table td{{padding:2px 6px 2px 0;border-bottom:1px solid #2a2d32;vertical-align:top;overflow-wrap:break-word}}
.d-table .r{{text-align:right}}
.d-log{{font:12px/1.5 ui-monospace,Menlo,Consolas,monospace;margin:2px 10px 10px;overflow-wrap:anywhere}}
.d-log div{{border-bottom:1px solid #26292d;padding:1px 0}}
.d-head{{margin:6px 12px 2px;font-size:12px;color:#8a929b;text-transform:uppercase;letter-spacing:.06em}}
"""


def element_id(handle: Any) -> str:
    """The id of a control's element in the page."""
    return str(handle._impl.uuid)


def pinned(handle: Any, right: int, width: int, size: int) -> str:
    """Rule that pins a button to the bar, over everything: no notification may cover it, no panel hide it."""
    return (
        f'[id="{element_id(handle)}"]{{position:fixed!important;top:6px;right:{right}px;width:{width}px!important;'
        f"height:{BAR - 12}px!important;z-index:400;font-size:{size}px}}"
        f'[id="{element_id(handle)}"] span{{font-weight:750!important}}'
    )


def in_columns(handles: Iterable[Any], columns: int) -> str:
    """Rules that put buttons side by side."""
    boxes = ",".join(f'div:has(> [id="{element_id(h)}"])' for h in handles)
    width = f"calc({100 / columns:.3f}% - {(20 + 6 * (columns - 1)) / columns:.2f}px)"
    return (
        f"{boxes}{{display:inline-block;width:{width};margin-inline:10px -4px!important;vertical-align:top}}"
        f"{boxes.replace('])', ']) button')}{{padding-inline:2px}}"
    )


def sheet(*rules: str) -> str:
    """A style element."""
    return f"<style>{''.join(rules)}</style>"


def safe(text: object) -> str:
    """Text of messages, harmless in HTML."""
    return html.escape(str(text))


def dim(text: object) -> str:
    """Secondary text."""
    return f'<span class="d-dim">{safe(text)}</span>'


def coloured(text: object, level: str) -> str:
    """Text in the colour of a level."""
    return f'<span style="color:{LEVEL_COLOURS[level]}">{safe(text)}</span>'


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """HTML table; cells are HTML already, columns in `right` are numbers."""
    numbers = set(right)

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(f"<{tag}{' class=r' if i in numbers else ''}>{cell}</{tag}>" for i, cell in enumerate(row))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<table class="d-table"><tr>{cells("th", [safe(t) for t in titles])}</tr>{body}</table>'
