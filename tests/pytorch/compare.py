"""Recut's plans beside PyTorch's own, in one run on one machine with a GPU and PyTorch 2.11.

usage: compare.py PART [--models a,b] [--kernels eager,inductor] [--shares 1.0,0.5] [--csv FILE] [--jobs 4]

  check   losses and gradients equal PyTorch's within the noise of its kernels, at no budget, 60 %,
          40 % and the least peak; with eager kernels measured peaks within the budget, and what was
          asked of the allocator within 1 % of the prediction; exits 1 where not
  table   at each of PyTorch's budgets: its measured peak and step time, and Recut's at a budget
          equal to that peak; then peaks that PyTorch can't reach
  plan    what planning adds to a compile
  batch   the largest batch that fits into 24 GiB

Peaks are what a step allocates beyond what was there before it, as PyTorch's allocator counts it.
Times are medians; compare them as ratios within one run. With --jobs, models are compiled at the same
time, in processes of their own, and each step is measured while no other is.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import csv
import dataclasses
import fcntl
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any, Callable, Iterator

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent.parent / "native" / "pytorch")]

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: no CUDA device")
    sys.exit(77)

from torch._inductor.decomposition import select_decomp_table  # noqa: E402

import models  # noqa: E402
import recut_torch  # noqa: E402

MIB = 2**20
NOISE_FLOOR = 2e-6  # of a gradient's norm: sums in another order
SHARES = (1.0, 0.9, 0.75, 0.5, 0.35, 0.2, 0.1, 0.0)


@dataclasses.dataclass
class Ran:
    loss: float
    gradients: list[torch.Tensor]
    report: recut_torch.Report
    compile_s: float

    @property
    def plan(self) -> recut_torch.GraphPlan:
        return self.report.graphs[0]


def fresh() -> None:
    torch._dynamo.reset()
    gc.collect()
    torch.cuda.empty_cache()


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """No other process of this comparison measures on this device meanwhile."""
    with open(os.environ.get("COMPARE_LOCK", os.devnull), "a") as lock:
        if "COMPARE_LOCK" in os.environ:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(name: str, repeats: int = 5, batch: int | None = None, keep: bool = True, **options: Any) -> Ran:
    """Compiles the model anew with these options and runs a few steps of it."""
    fresh()
    case = models.make(name, batch)
    backend = recut_torch.backend(**options)
    step = torch.compile(case.model, backend=backend, dynamic=False)

    def once() -> torch.Tensor:
        torch.manual_seed(1)
        loss = step(*case.batch)
        loss.backward()
        return loss.detach()

    start = time.perf_counter()
    once()
    torch.cuda.synchronize()
    compile_s = time.perf_counter() - start
    with alone():
        report = recut_torch.report(backend, once, before=case.clear, repeats=repeats)
    case.clear()
    loss = once().item()
    gradients = [p.grad.cpu() for p in case.model.parameters() if p.grad is not None] if keep else []
    return Ran(loss, gradients, report, compile_s)


def distance(a: list[torch.Tensor], b: list[torch.Tensor]) -> float:
    """The largest of the gradients' relative distances; tiny gradients count against the largest."""
    scale = max(x.norm().item() for x in a) * 1e-3
    return max((x - y).norm().item() / max(x.norm().item(), scale) for x, y in zip(a, b, strict=True))


def row(*cells: Any) -> None:
    print("  ".join(f"{cell:>14}" if not isinstance(cell, float) else f"{cell:14.2f}" for cell in cells), flush=True)


# check -----------------------------------------------------------------------------------------


def check(name: str, kernels: str) -> bool:
    reference = run(name, 3, kernels=kernels, strategy="pytorch")
    truth, allowed = without_noise(name, kernels, reference)
    unbounded = run(name, 3, kernels=kernels)
    whole = unbounded.report.predicted_peak_bytes
    good = verdict(name, kernels, "none", truth, unbounded, allowed, None)
    for title, budget in (("60 %", int(0.6 * whole)), ("40 %", int(0.4 * whole)), ("least", 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ran = run(name, 3, kernels=kernels, budget=budget)
        bound = budget if ran.plan.holds else None
        good &= verdict(name, kernels, title, truth, ran, allowed, bound)
    return good


def without_noise(name: str, kernels: str, reference: Ran) -> tuple[Ran, float]:
    """What gradients are held against, and how far from it they may be. Eager kernels are the same ones
    whatever the plan: their own difference between two runs. Inductor's are others for each plan, which
    round differently: the same step without tf32, and twice what PyTorch's own plan is away from it."""
    if kernels == "eager":
        again = run(name, 3, kernels=kernels, strategy="pytorch")
        return reference, 4 * max(distance(reference.gradients, again.gradients), NOISE_FLOOR)
    with tf32(False):
        exact = run(name, 1, kernels=kernels, strategy="pytorch")
    return exact, 2 * max(distance(exact.gradients, reference.gradients), NOISE_FLOOR)


@contextlib.contextmanager
def tf32(allowed: bool) -> Iterator[None]:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed
    yield
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = before


def verdict(name: str, kernels: str, title: str, truth: Ran, ran: Ran, allowed: float, bound: int | None) -> bool:
    far = distance(truth.gradients, ran.gradients)
    loss = abs(ran.loss - truth.loss) / abs(truth.loss)
    peak = ran.report.measured_peak_bytes
    faults = []
    if far > allowed:
        faults.append(f"gradients are off by {far:.1e}, allowed {allowed:.1e}")
    if loss > max(1e-5, allowed):
        faults.append(f"loss is off by {loss:.1e}")
    if ran.plan.planner != "recut":
        faults.append(f"PyTorch planned it: {ran.plan.reason}")
    over = bound is not None and peak > bound
    if over and kernels == "eager":
        faults.append("over the budget")
    predicted = max(1, ran.report.predicted_peak_bytes)
    asked = ran.report.requested_peak_bytes / predicted
    if kernels == "eager" and abs(asked - 1) > 0.01:
        faults.append("not as predicted")
    note = "over by %.1f %%" % (100 * (peak / bound - 1)) if over else ""
    row(name, kernels, title, bound and round(bound / MIB) or "-", predicted / MIB, peak / MIB,
        f"{peak / predicted:.4f}", f"{asked:.4f}", ran.report.measured_ms, f"{far:.1e}", f"{allowed:.1e}",
        "; ".join(faults) or note or "ok")
    return not faults


def check_all(names: list[str], kernels: list[str]) -> int:
    row("model", "kernels", "budget", "MiB", "predicted MiB", "measured MiB", "measured/pred", "asked/pred", "ms",
        "gradients off", "allowed", "")
    good = [guarded(lambda n=n, k=k: check(n, k), f"{n} {k}") for k in kernels for n in names]
    return 0 if all(good) else 1


def guarded(work: Callable[[], bool], what: str) -> bool:
    """One model's failure doesn't keep the others from running."""
    try:
        return work()
    except Exception as error:  # whatever PyTorch throws
        print(f"FAILED {what}: {type(error).__name__}: {str(error)[:600]}", flush=True)
        return False


# table -----------------------------------------------------------------------------------------


def same_graph(kernels: str) -> dict[str, Any]:
    """Both planners get the same graph. With eager kernels too it is Inductor's decompositions': whole
    batch norms that PyTorch's partitioner runs again fail on statistics that forward has changed."""
    return {"kernels": kernels} | ({"decompositions": select_decomp_table()} if kernels == "eager" else {})


def table(name: str, kernels: str, shares: list[float], lines: list[list[Any]]) -> bool:
    same = {"keep": False, "repeats": 15} | same_graph(kernels)
    lowest = None
    for share in shares:
        theirs = run(name, **same, strategy="pytorch", budget=share)
        peak = theirs.report.measured_peak_bytes
        ours = run(name, **same, budget=peak)
        lowest = min(peak, lowest or peak)
        line = [name, kernels, share, peak / MIB, theirs.report.measured_ms, ours.report.measured_peak_bytes / MIB,
                ours.report.measured_ms, ours.report.measured_ms / theirs.report.measured_ms]
        lines.append(line)
        row(*line)
    for part in (0.9, 0.7):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = run(name, **same, budget=int(part * lowest))
        line = [name, kernels, f"{part:.0%} of least", "-", "-", ours.report.measured_peak_bytes / MIB,
                ours.report.measured_ms, "held" if ours.plan.holds else "lowest plan"]
        lines.append(line)
        row(*line)
    return True


def table_all(names: list[str], kernels: list[str], shares: list[float], path: str | None) -> int:
    head = ["model", "kernels", "their budget", "their MiB", "their ms", "our MiB", "our ms", "ours/theirs"]
    row(*head)
    lines: list[list[Any]] = []
    good = [guarded(lambda n=n, k=k: table(n, k, shares, lines), f"{n} {k}") for k in kernels for n in names]
    if path:
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([head, *lines])
    return 0 if all(good) else 1


# plan and batch --------------------------------------------------------------------------------


def planning(names: list[str], kernels: list[str]) -> int:
    row("model", "kernels", "compile s", "ours ms", "parts", "theirs ms")
    for kind in kernels:
        for name in names:
            theirs = run(name, 1, keep=False, kernels=kind, strategy="pytorch", budget=0.5)
            ours = run(name, 1, keep=False, kernels=kind, budget="50%")
            parts = " ".join(f"{part} {1e3 * s:.0f}" for part, s in ours.plan.seconds.items())
            row(name, kind, ours.compile_s, 1e3 * sum(ours.plan.seconds.values()), parts,
                1e3 * sum(theirs.plan.seconds.values()))
    return 0


def largest_batch(name: str, kernels: str, limit: int, start: int, **options: Any) -> tuple[int, float]:
    """The largest multiple of the model's step whose whole training step, parameters counted, stays within
    `limit`, and its ms a sample. Looks upwards from `start`, which is taken to fit, then between."""
    step = models.MODELS[name][1]
    fixed = sum(p.numel() * p.element_size() for p in models.make(name, step, "cpu").model.parameters())
    times = {start: 0.0}

    def fits(batch: int) -> bool:
        try:
            ran = run(name, 2, batch, keep=False, **options, **same_graph(kernels))
        except torch.cuda.OutOfMemoryError:
            return False
        times[batch] = ran.report.measured_ms / batch
        return ran.plan.holds and fixed + ran.report.measured_peak_bytes <= limit

    low, high = start, start + max(step, start // 2 // step * step)
    while fits(high):
        low, high = high, high + max(step, high // 2 // step * step)
    while high - low > step:
        middle = low + (high - low) // 2 // step * step
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low, times[low]


def batches(names: list[str], kernels: list[str]) -> int:
    limit = 24 * 2**30
    row("model", "kernels", "planner", "batch", "ms/sample")
    for kind in kernels:
        for name in names:
            best = 2 * models.MODELS[name][1]
            for share in (0.5, 0.2):
                found = largest_batch(name, kind, limit, best, strategy="pytorch", budget=share)
                row(name, kind, f"pytorch {share}", *(found if found[0] > best else ("no more", "-")))
                best = max(best, found[0])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row(name, kind, "recut", *largest_batch(name, kind, limit, best, budget=limit, scope="step"))
    return 0


# several at once --------------------------------------------------------------------------------


def in_parallel(given: argparse.Namespace, names: list[str], kernels: list[str]) -> int:
    """Each model and kind of kernels in a process of its own, spread over the devices; prints a process's
    lines when it has ended."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        work = [pool.submit(one_process, given, name, kind, i, pathlib.Path(folder))
                for i, (kind, name) in enumerate((kind, name) for kind in kernels for name in names)]
        codes = [done.result() for done in concurrent.futures.as_completed(work)]
        if given.csv:
            tables = [list(csv.reader(path.open())) for path in sorted(pathlib.Path(folder).glob("*.csv"))]
            with open(given.csv, "w", newline="") as file:
                csv.writer(file).writerows([*tables[0][:1], *(line for lines in tables for line in lines[1:])])
    return max(codes)


def one_process(given: argparse.Namespace, name: str, kind: str, index: int, folder: pathlib.Path) -> int:
    device = index % torch.cuda.device_count()
    command = [sys.executable, "-W", "ignore", __file__, given.part, "--models", name, "--kernels", kind,
               "--shares", given.shares, "--csv", str(folder / f"{index:03}.csv")]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": str(device), "COMPARE_LOCK": str(folder / f"lock{device}")}
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = ran.stdout.splitlines()
    print("\n".join(lines[1 if index else 0 :]), flush=True)
    return ran.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["check", "table", "plan", "batch"])
    parser.add_argument("--models", default=",".join(models.MODELS))
    parser.add_argument("--kernels", default="eager")
    parser.add_argument("--shares", default=",".join(map(str, SHARES)))
    parser.add_argument("--csv")
    parser.add_argument("--jobs", type=int, default=1, help="models at the same time")
    given = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    names, kernels = given.models.split(","), given.kernels.split(",")
    if given.jobs > 1:
        return in_parallel(given, names, kernels)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, tf32", flush=True)
    if given.part == "check":
        return check_all(names, kernels)
    if given.part == "table":
        return table_all(names, kernels, [float(s) for s in given.shares.split(",")], given.csv)
    return planning(names, kernels) if given.part == "plan" else batches(names, kernels)


if __name__ == "__main__":
    sys.exit(main())
