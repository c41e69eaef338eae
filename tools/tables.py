"""Tables of metrics in the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table


def flat(values: object, prefix: str = "") -> dict[str, object]:
    """Nested metrics as dotted names."""
    if isinstance(values, dict):
        items: Any = values.items()
    elif isinstance(values, list):
        items = enumerate(values)
    else:
        return {prefix: values}
    out: dict[str, object] = {}
    for key, value in items:
        out.update(flat(value, f"{prefix}.{key}" if prefix else str(key)))
    return out


def number(value: object) -> str:
    """Short text of a metric."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "-" if value is None else str(value)
    return f"{value:.4g}"


def print_result(console: Console, values: dict[str, Any]) -> None:
    """What a person wants to know of one run."""
    est = values.get("estimator") or {}
    table = Table(
        title=f"{values['scenario']} · {values['robot']} · seed {values['seed']} · {values['runner']}",
        show_header=False,
        title_justify="left",
    )
    table.add_column(style="bold")
    table.add_column()
    rows: list[tuple[str, object]] = [
        ("fell", "no" if values.get("fell") is False else f"YES at {number(values.get('fall_time_s'))} s"),
        ("mode at the end", values.get("mode_final")),
        ("way", f"{number(values.get('distance_m'))} m straight, {number(values.get('path_m'))} m along the track"),
    ]
    for name, unit in (("height_m", "m"), ("roll_deg", "deg"), ("pitch_deg", "deg")):
        stats = values.get(name) or {}
        rows.append((name.split("_")[0], "  ".join(f"{k} {number(v)}" for k, v in stats.items()) + f"  {unit}"))
    slip = values.get("foot_slip_mm") or {}
    rows.append(("foot slip", "  ".join(f"{k} {number(v)}" for k, v in slip.items()) + "  mm"))
    torque = values.get("torque_nm") or {}
    rows.append(
        (
            "torque",
            f"rms {number(torque.get('rms'))}  max {number(torque.get('max'))} N m  "
            f"at a limit {100 * (values.get('torque_saturation') or 0):.2f} %",
        )
    )
    rows.append(("cost of transport", number(values.get("cost_of_transport"))))
    rows.append(
        (
            "estimator",
            f"velocity rmse {' '.join(number(x) for x in est.get('velocity_rmse', []))} m/s  "
            f"drift {number(est.get('drift_percent'))} %  "
            f"rpy {' '.join(number(x) for x in est.get('rpy_rmse_deg', []))} deg",
        )
    )
    mpc, lat = values.get("mpc") or {}, values.get("latency_ms") or {}
    rows.append(
        (
            "mpc",
            f"{mpc.get('solves')} solves, {mpc.get('failures')} failed"
            + (
                f", controller step p50 {number(mpc['p50_ms'])} p99 {number(mpc['p99_ms'])} ms"
                if mpc.get("p50_ms")
                else ""
            ),
        )
    )
    if lat.get("p50"):
        rows.append(("latency", f"p50 {number(lat['p50'])}  p99 {number(lat['p99'])}  max {number(lat['max'])} ms"))
    factor = f"{values['real_time_factor']:.2f} x real time"
    rows.append(("time", f"{values['sim_time_s']:g} s in {values['wall_time_s']:.1f} s: {factor}"))
    for name, text in rows:
        table.add_row(name, str(text))
    console.print(table)
    print_segments(console, values.get("segments") or [])
    for reason in values.get("refusals") or []:
        console.print(f"note     {reason}")
    if values["passed"]:
        console.print("[green]passed[/]")
    for failure in values["failures"]:
        console.print(f"[red]not met[/]  {failure}", highlight=False)


def print_segments(console: Console, segments: list[dict[str, Any]]) -> None:
    """Speeds wanted and true per commanded segment."""
    table = Table(title="speeds in the heading frame, wanted and true", title_justify="left")
    for name in ("t, s", "vx", "mean", "vy", "mean", "yaw rate", "mean"):
        table.add_column(name, justify="right")
    for s in segments:
        table.add_row(
            f"{s['t0']:g}-{s['t1']:g}",
            *(x for k in ("vx", "vy", "yaw_rate") for x in (number(s[k]), number(s[f"{k}_mean"]))),
        )
    if segments:
        console.print(table)


def print_sweep(console: Console, results: list[dict[str, Any]]) -> None:
    """Pass rate and spread over seeds."""
    passed = sum(r["passed"] for r in results)
    table = Table(title=f"{results[0]['scenario']}: {passed} of {len(results)} seeds passed", title_justify="left")
    for name in ("metric", "min", "median", "max"):
        table.add_column(name, justify="left" if name == "metric" else "right")
    rows = [flat(r) for r in results]
    skip = ("seed", "wall_time_s", "t0", "t1")
    for key in rows[0]:
        xs = [float(x) for r in rows if isinstance(x := r.get(key), int | float) and not isinstance(x, bool)]
        if xs and not key.endswith(skip):
            table.add_row(key, *(number(x) for x in (min(xs), float(np.median(xs)), max(xs))))
    console.print(table)
    for r in results:
        for failure in r["failures"]:
            console.print(f"[red]seed {r['seed']}[/]  {failure}", highlight=False)
