"""Training steps on the processor: Recut beside PyTorch, eager and compiled, on the same joint graphs with the same
numbers of threads, in one run. Prints ratios of step times, and peaks of memory.

usage: pytorch_cpu.py [--recut build/release/recut] [--threads 1,2,16] [--steps 20] [--budget 50%] [--ahead]
                      [--patience 300] FILE.json.gz...

  eager      the graph's operators one after another, each value freed after its last use
  compiled   Inductor on the same graph, for that number of threads
  Recut      recut run, as it comes; with --budget once more within that share of its own peak, beside a run of the
             whole right after it; and once more within the lower of PyTorch's peaks, if it isn't anyway: what it then
             takes beside the better of PyTorch's steps
  peak       Recut: arena and scratch, in bytes that were really written. PyTorch: how far the process' resident memory
             rises in its first step (VmHWM) above what it has before, free memory given back (malloc_trim)

With --ahead all of PyTorch's processes start and compile at once before the first row is measured, and wait for their
turn: steps are measured alone as ever, but the compile times of PyTorch are those of a busy machine. What PyTorch
hasn't compiled within --patience seconds of its start is left out of its row, where the other way then stands alone.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import time
from queue import Empty
from typing import Any, Callable

# The processor's flags say which vectors it has: processes don't all try that again by compiling.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")

import torch
from torch import fx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pytorch"))
from joint_graph import graph_of, inductor, inputs_of  # noqa: E402

KINDS = ("eager", "compiled")


def eager(module: fx.GraphModule, _inputs: list[torch.Tensor]) -> Callable:
    return module.forward


def compiled(module: fx.GraphModule, inputs: list[torch.Tensor]) -> Callable:
    run = inductor(module, inputs)
    return lambda *values: run(list(values))


def resident(field: str) -> int:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def pytorch_step(path: str, kind: str, threads: int, steps: int, queue: Any, turn: Any) -> None:
    """In a process of its own: milliseconds of the median step, bytes of the peak, seconds to compile."""
    torch.set_num_threads(threads)
    try:
        file = json.loads(gzip.decompress(pathlib.Path(path).read_bytes()))
        module, inputs = graph_of(file, "cpu"), inputs_of(file, "cpu")
        began = time.perf_counter()
        with torch.no_grad():
            run = {"eager": eager, "compiled": compiled}[kind](module, inputs)
            cold = time.perf_counter() - began
            queue.put("ready")
            turn.wait()
            ctypes.CDLL("libc.so.6").malloc_trim(0)
            before = resident("VmRSS")
            pathlib.Path("/proc/self/clear_refs").write_text("5")
            run(*inputs)
            peak = resident("VmHWM") - before
            run(*inputs)
            times = []
            for _ in range(steps):
                began = time.perf_counter()
                run(*inputs)
                times.append(1e3 * (time.perf_counter() - began))
        queue.put({"ms": statistics.median(times), "peak": peak, "cold": cold})
    except Exception as fault:  # noqa: BLE001: what one graph can't do is a line of the table
        queue.put({"fault": f"{type(fault).__name__}: {str(fault).splitlines()[0][:90] if str(fault) else ''}"})


class Started:
    """PyTorch's step in a process of its own, which compiles and then waits for its turn."""

    def __init__(self, path: str, kind: str, threads: int, steps: int, patience: float) -> None:
        self.patience, self.began = patience, time.monotonic()
        context = multiprocessing.get_context("spawn")
        self.queue, self.turn = context.Queue(), context.Event()
        given = (path, kind, threads, steps, self.queue, self.turn)
        self.process = context.Process(target=pytorch_step, args=given)
        self.process.start()
        self.result: Any = None

    def ready(self) -> None:
        self.result = self.result or self.answer(max(1.0, self.began + self.patience - time.monotonic()))

    def finished(self) -> dict[str, Any]:
        self.ready()
        if self.result == "ready":
            self.turn.set()
            self.result = self.answer(self.patience)
        return self.result

    def answer(self, patience: float) -> Any:
        try:
            answer = self.queue.get(timeout=patience)
        except Empty:
            self.process.kill()
            self.process.join()
            return {"fault": f"no answer within {self.patience:.0f} s"}
        if answer != "ready":
            self.process.join()
        return answer


def start(path: str, kind: str, threads: int, given: argparse.Namespace) -> Started:
    return Started(path, kind, threads, given.steps, given.patience)


def recut_step(recut: str, path: str, threads: int, steps: int, *more: str) -> dict[str, Any]:
    command = [recut, "run", path, "--threads", str(threads), "--steps", str(steps), "--json", *more]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(ran.stdout) if ran.stdout else {}
    if "measured_peak_bytes" not in report:  # it was refused
        return {"fault": ran.stderr.strip().splitlines()[-1][:110]}
    return {"ms": report["step_ms_median"], "peak": report["measured_peak_bytes"] + report["scratch_bytes"],
            "arena": report["measured_peak_bytes"], "cold": report["compile_ms"] / 1e3, "report": report}


def cell(result: dict[str, Any], kind: str) -> str:
    return "-" if "fault" in result else f"{result[kind] / 2**20:.1f}" if kind == "peak" else f"{result[kind]:.2f}"


def within_theirs(ours: dict[str, Any], theirs: dict[str, Any], best: float, run: Callable) -> str:
    """Recut's step time beside the better of PyTorch's, within the lower of PyTorch's peaks."""
    lowest = min((r["peak"] for r in theirs.values() if "peak" in r), default=0)
    if "arena" not in ours or not lowest:
        return "-"
    if ours["peak"] > lowest:
        ours = run("--budget", str(lowest - (ours["peak"] - ours["arena"])))
    return f"{ours['ms'] / best:.2f}" if "ms" in ours else "can't"


def compare(path: str, threads: int, given: argparse.Namespace, started: dict[str, Started]) -> None:
    recut, steps, budget = given.recut, given.steps, given.budget
    name = pathlib.Path(path).name.split(".")[0]
    ours = recut_step(recut, path, threads, steps)
    theirs = {kind: (started.get(kind) or start(path, kind, threads, given)).finished() for kind in KINDS}
    best = min((r["ms"] for r in theirs.values() if "ms" in r), default=float("nan"))
    ratio = f"{ours['ms'] / best:.2f}" if "ms" in ours and best == best else "-"
    row = [name, str(threads), cell(ours, "ms"), cell(theirs["eager"], "ms"), cell(theirs["compiled"], "ms"), ratio]
    row += [cell(ours, "peak"), cell(theirs["eager"], "peak"), cell(theirs["compiled"], "peak")]
    row += [cell(ours, "cold"), cell(theirs["compiled"], "cold")]
    row.append(within_theirs(ours, theirs, best, lambda *more: recut_step(recut, path, threads, steps, *more)))
    if budget and "arena" in ours:
        bound = int(ours["arena"] * float(budget.rstrip("%")) / 100)
        within = recut_step(recut, path, threads, steps, "--budget", str(bound))
        whole = recut_step(recut, path, threads, steps) if "ms" in within else ours
        row.append(f"{within['ms'] / whole['ms']:.2f}" if "ms" in within else "can't")
    print("| " + " | ".join(row) + " |", flush=True)
    for who, result in [("recut", ours), *theirs.items()]:
        if "fault" in result:
            print(f"  {who}: {result['fault']}", flush=True)
    for kernel in ours.get("report", {}).get("slowest", [])[:5]:
        print(f"    {kernel['name']}{' (oneDNN)' if kernel['library'] else ''}: {kernel['ms']:.3f} ms in "
              f"{kernel['launches']}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--recut", default="build/release/recut")
    parser.add_argument("--threads", default="1,2,16")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--budget")
    parser.add_argument("--ahead", action="store_true")
    parser.add_argument("--patience", type=float, default=300)
    given = parser.parse_args()
    counts = [int(n) for n in given.threads.split(",")]
    print(f"PyTorch {torch.__version__}, {os.cpu_count()} cores")
    print("| graph | threads | Recut ms | eager ms | compiled ms | Recut / best | Recut MiB | eager MiB | compiled MiB "
          "| Recut compile s | PyTorch compile s | within PyTorch's peak: Recut / best | within budget / whole |")
    print("|---|" + "---:|" * 12)
    rows = [(path, n) for path in given.files for n in counts]
    ahead = [{kind: start(path, kind, n, given) for kind in KINDS} if given.ahead else {} for path, n in rows]
    for started in ahead:
        for process in started.values():
            process.ready()
    for (path, n), started in zip(rows, ahead, strict=True):
        compare(path, n, given, started)
    return 0


if __name__ == "__main__":
    sys.exit(main())
