"""From raw measurements to one list of figures with their targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One line of the table. A target is the most (`<=`) or the least (`>=`) that is wanted."""

    part: str
    name: str
    value: float
    unit: str = "us"
    sign: str = ""
    target: float | None = None
    text: str = ""  # as shown; made from value and unit if empty

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(self, "text", f"{_short(self.value)} {self.unit}")

    @property
    def met(self) -> bool | None:
        """None without a target."""
        if self.target is None:
            return None
        return self.value <= self.target if self.sign == "<=" else self.value >= self.target

    @property
    def target_text(self) -> str:
        """As shown."""
        return "" if self.target is None else f"{self.sign} {self.target:g} {self.unit}"

    def as_dict(self) -> dict[str, Any]:
        """For the JSON."""
        return asdict(self) | {"met": self.met}


def _short(x: float) -> str:
    return f"{x:.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def _spread(part: str, name: str, times: dict[str, float]) -> Figure:
    return Figure(part, name, times["p50"], text=_together(times))


def _together(times: dict[str, float]) -> str:
    return "  ".join(f"{name} {_short(us)}" for name, us in times.items()) + " us"


def figures(raw: dict[str, Any]) -> list[Figure]:
    """All figures of the parts that were measured."""
    makers = {
        "rollout": _rollout,
        "mpc": _mpc,
        "estimator": _estimator,
        "messages": _messages,
        "bridge": _bridge,
        "lock_step": _lock_step,
        "watchers": _watchers,
        "real_time": _real_time,
        "long_walk": _long_walk,
    }
    return [figure for name, make in makers.items() if name in raw for figure in make(raw[name])]


def _rollout(raw: dict[str, Any]) -> Iterator[Figure]:
    part = "rollout"
    for name, times in raw["step_us"].items():
        yield _spread(part, name, times)
    rest, mean = raw["step_us"]["everything but physics"]["p50"], raw["mean_us"]
    yield Figure(part, "everything but physics, median tick", rest, sign="<=", target=350)
    yield Figure(part, "everything but physics, mean", mean["rest"])
    yield Figure(part, "physics, mean", mean["physics"])
    yield Figure(part, "real-time factor, one core", raw["real_time_factor"], "x", ">=", 3.0)
    yield Figure(part, "real-time factor of CPU time", raw["real_time_factor_of_cpu_time"], "x")


def _mpc(raw: dict[str, Any]) -> Iterator[Figure]:
    for name, result in raw.items():
        ours, base = result["ours_us"], result["baseline_us"]["total"]
        for step in ("build", "solve", "total"):
            yield Figure("mpc", f"{name} {step}", ours[step]["median"], text=_together(ours[step]))
        yield Figure("mpc", f"{name} numpy + daqp", base["median"], text=_together(base))
        wanted: tuple[str, float | None] = (">=", 10.0) if name in ("trot_10", "trot_20") else ("", None)
        yield Figure("mpc", f"{name} times faster, medians", result["speedup_median"], "x", *wanted)
        if name.startswith("mixed"):
            ratio = result["our_worst_over_baseline_median"]
            yield Figure("mpc", f"{name} (all gaits) our worst / their median", ratio, "x", "<=", 1.0)


def _estimator(raw: dict[str, float]) -> Iterator[Figure]:
    times = {"p50": raw["step_p50_us"], "p99": raw["step_p99_us"]}
    yield Figure("estimator", "whole step", times["p50"], text=_together(times))
    yield Figure("estimator", "filter, median", raw["array_filter_p50_us"])
    yield Figure("estimator", "filterpy predict + update, median", raw["filterpy_p50_us"])
    yield Figure("estimator", "filter: times faster than filterpy", raw["speed_up"], "x", ">=", 10.0)


def _messages(raw: dict[str, dict[str, float]]) -> Iterator[Figure]:
    for operation in ("encode", "decode", "finite", "publish"):
        costs = {name: row[operation] for name, row in raw.items()}
        name = max(costs, key=lambda n: costs[n])
        text = f"{_short(sum(costs.values()))} us (most: {name} {_short(costs[name])})"
        yield Figure("messages", f"{operation}, all {len(costs)} of a tick", sum(costs.values()), text=text)


def _bridge(raw: dict[str, dict[str, float]]) -> Iterator[Figure]:
    for kind, name, target in (("spine", "SPIne", 400), ("can", "CAN", 800)):
        times = raw[kind]
        yield Figure("bridge", f"{name}, own work in a tick, median", times["p50"], sign="<=", target=target)
        yield _spread("bridge", f"{name}, own work in a tick", times)
    drives = raw["set_input_pos"]
    yield Figure("bridge", "12 GIM6010 by Set_Input_Pos at 200 Hz", drives["rate_hz"], "Hz", ">=", 199)
    yield Figure("bridge", f"its frames lost, of {drives['frames']:.0f}", drives["lost"], "", "<=", 0)
    yield Figure("bridge", "its load of a bus of 1 Mbit/s", drives["bus_load_percent"], "%", "<=", 50)


def _lock_step(raw: dict[str, Any]) -> Iterator[Figure]:
    yield Figure("lock step", "real-time factor over LCM", raw["real_time_factor"], "x", ">=", 1.5)
    for name, times in raw["step_us"].items():
        yield _spread("lock step", f"{name} step with sending", times)


def _real_time(raw: dict[str, Any], part: str = "real time") -> Iterator[Figure]:
    latency, late, losses = raw["latency_ms"], raw["late_p99_ms"], raw["losses"]
    yield Figure(part, "latency p50, sample to command", latency["p50"], "ms", "<=", 1.2)
    yield Figure(part, "latency p99 (median second)", latency["p99"], "ms", "<=", 3.0)
    yield Figure(part, "latency p99 (worst second)", latency["p99_worst_second"], "ms")
    yield Figure(part, "latency max", latency["max"], "ms")
    yield Figure(part, "loop lateness p99 (median second)", late["median"], "ms")
    yield Figure(part, "loop lateness p99 (worst second)", late["worst_second"], "ms")
    for name, times in raw["step_us"].items():
        yield _spread(part, f"{name} step with sending", times)
    yield Figure(part, f"ticks whose command came late or never, of {losses['ticks']}", losses["missed"]["sim"], "")
    yield Figure(part, "seconds that ended in damping or lost lock step", raw["trouble"], "", "<=", 0)
    yield Figure(part, "messages lost on the way to the recorder", losses["lost_messages"], "", "<=", 0)


def _watchers(raw: dict[str, Any]) -> Iterator[Figure]:
    text = "  ".join(f"{name} {_short(value)}" for name, value in raw["cpu_percent"].items()) + " %"
    total = raw["cpu_percent_total"]
    yield Figure("watchers", "of a core, each", total, text=text)
    yield Figure("watchers", "of a core, together", total, "%", "<=", 40.0)
    latency = raw["latency_p50_ms"]
    yield Figure("watchers", "latency p50 without, with", latency["with"], text=_together_ms(latency))
    yield Figure("watchers", "change of latency p50", raw["latency_change_percent"], "%", "<=", 10.0)


def _together_ms(values: dict[str, float]) -> str:
    return "  ".join(_short(ms) for ms in values.values()) + " ms"


def _long_walk(raw: dict[str, Any]) -> Iterator[Figure]:
    return _real_time(raw, f"walk of {raw['seconds'] / 60:g} min")
