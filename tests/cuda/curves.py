"""What is asked of times, peaks and errors beside PyTorch's, and tables of them. Needs nothing but Python."""

from __future__ import annotations

import csv
import dataclasses
import pathlib
from typing import Any, Sequence

MIB = 2**20
BOUNDS = {"f32": 1e-4, "tf32": 2e-3, "bf16": 2e-2}  # of relative errors
MOVEMENTS = 4  # an output that rounding alone moves may be as many times that away (engine/eval/compare.h)
OWN = 2  # times as far as PyTorch's own tf32 is away from its f32
NOISE = 0.03  # of a step's time


@dataclasses.dataclass(frozen=True)
class Point:
    """One plan that ran: `asked` is its budget, of PyTorch's a share; bytes are those that it took beside inputs."""

    who: str
    asked: str
    bytes: int
    ms: float
    budget_bytes: int = 0  # 0: none
    arena_bytes: int = 0  # of `bytes`: without a library's scratch


def budgets_between(whole: int, least: int, count: int) -> list[int]:
    """So many, evenly from the whole down to the least."""
    if count < 2 or whole <= least:
        return [whole]
    return [whole - (whole - least) * i // (count - 1) for i in range(count)]


def beyond(points: Sequence[Point]) -> list[Point]:
    """Those whose arena is above their budget."""
    return [point for point in points if point.budget_bytes and point.arena_bytes > point.budget_bytes]


def slower_with_more(points: Sequence[Point], noise: float = NOISE) -> list[tuple[Point, Point]]:
    """Where a step within more memory takes longer than one within less, by more than noise."""
    rising = sorted(points, key=lambda point: point.budget_bytes or point.arena_bytes)
    return [(less, more) for less, more in zip(rising, rising[1:]) if more.ms > less.ms * (1 + noise)]


def is_met(theirs: Point, ours: Sequence[Point]) -> bool:
    """Whether one of ours takes neither more bytes nor more time."""
    return any(point.bytes <= theirs.bytes and point.ms <= theirs.ms for point in ours)


def nearest_text(theirs: Point, ours: Sequence[Point]) -> str:
    """How the best of ours within its bytes does."""
    within = [point for point in ours if point.bytes <= theirs.bytes]
    if not within:
        return "no plan of Recut's is within its bytes"
    best = min(within, key=lambda point: point.ms)
    return f"{best.ms / theirs.ms:.3f} of its time in {best.bytes / theirs.bytes:.3f} of its bytes"


def curve_verdicts(ours: Sequence[Point], theirs: Sequence[Point], noise: float = NOISE) -> list[tuple[bool, str]]:
    verdicts = []
    over = beyond(ours)
    verdicts.append((not over, "the arena is never above its budget" if not over else
                     "ARENA ABOVE ITS BUDGET at " + ", ".join(point.asked for point in over)))
    rises = slower_with_more(ours, noise)
    verdicts.append((not rises, f"time falls as the budget grows, within {100 * noise:.0f} %" if not rises else
                     "SLOWER WITH MORE MEMORY: " + ", ".join(
                         f"{less.asked} {less.ms:.2f} ms, {more.asked} {more.ms:.2f} ms" for less, more in rises)))
    for point in theirs:
        met = is_met(point, ours)
        verdicts.append((met, f"{point.who} at {point.asked}: " + ("below and left, " if met else "NOT BELOW AND LEFT: ")
                         + nearest_text(point, ours)))
    return verdicts


def value_verdict(rows: Sequence[dict[str, Any]], precision: str) -> tuple[bool, str]:
    """`rows`: of each output its error, and how far rounding and tf32 alone move it."""
    bound = BOUNDS[precision]

    def allowed(row: dict[str, Any]) -> float:
        own = OWN * row["by_tf32"] if precision != "f32" else 0.0
        return max(MOVEMENTS * row["movement"], own)

    above = [row for row in rows if not row["error"] <= bound]
    wrong = [row for row in above if not row["error"] <= allowed(row)]
    largest = max((row["error"] for row in rows), default=0.0)
    if wrong:
        worst = max(wrong, key=lambda row: row["error"])
        return False, f"{len(wrong)} of {len(rows)} outputs DIFFER, {worst['output']} by {worst['error']:.1e}"
    if above:
        within = max((row["error"] for row in rows if row["error"] <= bound), default=0.0)
        return True, (f"{len(rows)} outputs, errors up to {within:.1e}; {len(above)} of them by what rounding does to "
                      f"PyTorch's own, up to {largest:.1e}")
    return bool(rows), f"{len(rows)} outputs, errors up to {largest:.1e}" if rows else "NO OUTPUTS were compared"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def curve_table(points: Sequence[Point]) -> str:
    rows = [[point.who, point.asked, f"{point.budget_bytes / MIB:.1f}" if point.budget_bytes else "-",
             f"{point.arena_bytes / MIB:.1f}" if point.arena_bytes else "-", f"{point.bytes / MIB:.1f}",
             f"{point.ms:.3f}"] for point in points]
    return table(["who", "asked", "budget MiB", "arena MiB", "peak MiB", "step ms"], rows)


def write_csv(path: pathlib.Path, graph: str, points: Sequence[Point]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["graph", "who", "asked", "budget_bytes", "arena_bytes", "peak_bytes", "step_ms"])
        for p in points:
            writer.writerow([graph, p.who, p.asked, p.budget_bytes, p.arena_bytes, p.bytes, f"{p.ms:.4f}"])
