#!/usr/bin/env python3
"""Recut beside PyTorch on one GPU, in one run: outputs, step times, and memory against time.

usage: pytorch.py [--recut build/release/recut] [--parts values,speed,memory] [--precisions f32,tf32]
                  [--passes exact,inexact] [--steps 20] [--rounds 3] [--budgets 10] [--kernels inductor,eager] [--jobs 4]
                  [--uncalibrated] [--csv FOLDER] [--limit SECONDS] [GRAPH…]

  GRAPH   a file, or the name of one in graphs/ or ../shared/graphs; by default gpt2, gpt2_amp, bert_base, llama_8l,
          resnet50, vit_b_16 and unet as far as they are there, and for memory gpt2, resnet50 and vit_b_16 of these
  passes  Recut's: exact ones alone (the default), or with those that don't keep every bit too, --inexact: attention as
          one operator; values and step times of each that is named, and a verdict on the quicker one
  values  Recut's outputs by each precision beside PyTorch's without tf32, of the same inputs (where a graph draws
          random numbers, these are inputs, too): relative errors within 1e-4 (f32), 2e-3 (tf32), 2e-2 (graphs with
          bf16), or within what rounding does to PyTorch's own: 4 times as far as they move when inputs do in their
          last bits, and with tf32 twice as far as PyTorch's own tf32 is away, in the farthest of some tries
  speed   step times by each precision: Recut, and PyTorch's eager kernels and Inductor's code of the joint graph in
          one, in turn, so many rounds of so many steps; medians
  memory  with the last of the precisions: Recut within so many budgets from the whole down to the least, and PyTorch's
          own partitions (of the files) by Inductor's code or eager kernels. Peaks are what a step takes beside its
          inputs: Recut's arena and its libraries' scratch; what PyTorch's allocator counts. Recut plans by what
          recut calibrate measures of the graph before, unless --uncalibrated is given. Where none of these plans
          is within a partition's bytes and time, Recut runs once more within exactly these bytes. PyTorch compiles
          its partitions first, --jobs at once; then steps are measured one after the other

After --limit seconds it stops with what it has. Exit code 1 where a verdict is against Recut, 3 where something was left
out for lack of time.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import json
import multiprocessing
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import curves  # noqa: E402
import joint_plans  # noqa: E402
from curves import Point  # noqa: E402

USUAL = ("gpt2", "gpt2_amp", "bert_base", "llama_8l", "resnet50", "vit_b_16", "unet")
WITH_CURVES = ("gpt2", "resnet50", "vit_b_16")
FOLDERS = ("graphs", "../shared/graphs", "samples/joint")
Plan = tuple[str, frozenset[str]]  # whose kernels, and what forward saves
ALIGNMENT = 64  # of buffers in an arena
LEAST_TRIES, LEAST_FACTOR = 8, 1.01  # what one plan has may be a little below what another search finds


class OutOfTime(Exception):
    pass


class Fault(Exception):
    pass


@contextlib.contextmanager
def own_settings() -> Iterator[None]:
    """What is calibrated meanwhile is forgotten afterwards."""
    name = "XDG_CONFIG_HOME"
    before = os.environ.get(name)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[name] = folder
        try:
            yield
        finally:
            os.environ.pop(name)
            if before is not None:
                os.environ[name] = before


class Clock:
    def __init__(self, limit: float) -> None:
        self.end = time.monotonic() + limit if limit else None

    def left(self) -> float | None:
        """Seconds, or None where there is no limit."""
        if self.end is None:
            return None
        left = self.end - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left


def worker_main(path: str, pipe: Any) -> None:
    import torch_worker  # by this process alone: what PyTorch holds goes with it

    torch_worker.serve(path, pipe)


class Session:
    """PyTorch with one graph, in a process of its own: calls of torch_worker.Worker's methods."""

    def __init__(self, path: str, clock: Clock) -> None:
        self.clock = clock
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=worker_main, args=(path, theirs))
        self.process.start()
        theirs.close()

    def call(self, name: str, *arguments: Any) -> Any:
        self.clock.left()
        try:
            self.pipe.send((name, arguments))
            if not self.pipe.poll(self.clock.left()):
                raise OutOfTime
            kind, answer = self.pipe.recv()
        except (EOFError, OSError) as gone:
            raise Fault("its process ended") from gone
        if kind == "fault":
            raise Fault(answer)
        return answer

    def close(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Recut:
    """The command, on the GPU."""

    def __init__(self, program: str, clock: Clock) -> None:
        self.program, self.clock = program, clock

    def json(self, *arguments: str, needs: str = "") -> dict[str, Any]:
        """What it prints; a fault where that isn't there, as the figure `needs` of a run that is refused."""
        try:
            ran = subprocess.run([self.program, *arguments, "--json"], capture_output=True, text=True, check=False,
                                 timeout=self.clock.left())
        except subprocess.TimeoutExpired as late:
            raise OutOfTime from late
        report = json.loads(ran.stdout) if ran.stdout else {}
        if not report or (needs and needs not in report):
            raise Fault((ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"])[-1][:160])
        return report

    def run(self, file: str, precision: str, steps: int, *more: str, passes: str = "exact") -> dict[str, Any]:
        more += ("--inexact",) if passes == "inexact" else ()
        return self.json("run", file, "--device", "cuda", "--precision", precision, "--steps", str(steps), *more,
                         needs="measured_peak_bytes")

    def point(self, file: str, precision: str, steps: int, asked: str, budget: int) -> Point:
        more = ["--budget", f"{budget}B"] if budget else []
        report = self.run(file, precision, steps, *more)
        arena = report["measured_peak_bytes"]
        return Point("Recut", asked, arena + report["scratch_bytes"], report["step_ms_median"], budget, arena)

    def calibrate(self, file: str, precision: str) -> str:
        """The profile of the GPU and of this graph's kernels, by which it is planned from here on."""
        return self.json("calibrate", file, "--device", "cuda", "--precision", precision)["profile"]

    def least(self, file: str, profile: str) -> int:
        """The least arena that is found."""
        return self.json("schedule", file, "--budget", "1B", "--model", "fused", "--device", profile)["arena_bytes"]


class Comparison:
    def __init__(self, given: argparse.Namespace, session: Callable[[str, Clock], Session] = Session) -> None:
        self.given, self.clock, self.session = given, Clock(given.limit), session
        self.recut = Recut(given.recut, self.clock)
        self.failed = 0
        self.gpu = ""

    def say(self, words: str) -> None:
        print(words, flush=True)

    def judge(self, verdict: tuple[bool, str], before: str = "") -> None:
        good, words = verdict
        self.failed += not good
        self.say(f"  {'' if good else 'FAILED: '}{before}{words}")

    def named(self, session: Session) -> None:
        if not self.gpu:
            self.gpu = session.call("gpu")
            self.say(f"on {self.gpu}\n")

    def attempt(self, name: str, part: Callable[[], None]) -> None:
        try:
            part()
        except Fault as fault:
            self.failed += 1
            self.say(f"  FAILED: {name}: {fault}")

    # Values.
    def values(self, name: str, path: str) -> None:
        self.say(f"{name}: values")
        work = pathlib.Path(tempfile.mkdtemp())
        try:
            file = joint_plans.random_as_inputs(joint_plans.load(path))
            if "drawn" in file:
                path = str(work / f"{name}.json.gz")
                joint_plans.save(file, path)
            with self.session(path, self.clock) as pytorch:
                self.named(pytorch)
                inputs, outputs = str(work / "inputs.safetensors"), str(work / "outputs.safetensors")
                pytorch.call("write_inputs", inputs)
                pytorch.call("reference")
                for precision in self.given.precisions:
                    for passes in self.given.passes:
                        self.attempt(precision, lambda: self.compare(pytorch, file, path, precision, passes, inputs,
                                                                     outputs))
        finally:
            shutil.rmtree(work)

    def compare(self, pytorch: Session, file: dict[str, Any], path: str, precision: str, passes: str, inputs: str,
                outputs: str) -> None:
        self.recut.run(path, precision, 1, "--tensors", inputs, "--out-tensors", outputs, passes=passes)
        rows = pytorch.call("compare", outputs)
        name = precision if passes == "exact" else f"{precision}, {passes}"
        self.judge(curves.value_verdict(rows, "bf16" if file.get("amp") else precision), f"{name}: ")

    # Step times.
    def speed(self, name: str, path: str) -> None:
        for precision in self.given.precisions:
            self.say(f"{name}: step times, {precision}")
            self.attempt(precision, lambda: self.race(name, path, precision))

    def race(self, name: str, path: str, precision: str) -> None:
        tf32, steps = precision != "f32", self.given.steps
        with self.session(path, self.clock) as eager, self.session(path, self.clock) as compiled:
            self.named(eager)
            eager.call("make_eager")
            cold = compiled.call("make_compiled", tf32)
            ours: dict[str, list[float]] = {passes: [] for passes in self.given.passes}
            times: dict[str, list[float]] = {"eager": [], "compiled": []}
            reports: dict[str, dict[str, Any]] = {}
            for _ in range(self.given.rounds):
                for passes, steps_ms in ours.items():
                    reports[passes] = self.recut.run(path, precision, steps, passes=passes)
                    steps_ms.append(reports[passes]["step_ms_median"])
                times["eager"] += eager.call("measure", steps, tf32)
                times["compiled"] += compiled.call("measure", steps, tf32)
        theirs = {kind: statistics.median(ms) for kind, ms in times.items()}
        medians = {passes: statistics.median(ms) for passes, ms in ours.items()}
        quicker = min(medians, key=lambda passes: medians[passes])
        self.say(curves.table(
            ["graph", "passes", "Recut ms", "eager ms", "compiled ms", "Recut / eager", "Recut / compiled",
             "compiled in s"],
            [[name, passes, f"{mine:.3f}", f"{theirs['eager']:.3f}", f"{theirs['compiled']:.3f}",
              f"{mine / theirs['eager']:.3f}", f"{mine / theirs['compiled']:.3f}", f"{cold:.1f}"]
             for passes, mine in medians.items()]))
        mine = medians[quicker]
        for kernel in reports[quicker].get("slowest", [])[:6]:
            self.say(f"    {kernel['name']}{' (library)' if kernel['library'] else ''}: {kernel['ms']:.3f} ms in "
                     f"{kernel['launches']}")
        self.judge((mine <= theirs["compiled"], f"{mine / theirs['compiled']:.3f} of compiled's time"))

    # Memory against time.
    def memory(self, name: str, path: str) -> None:
        precision = self.given.precisions[-1]
        self.say(f"{name}: memory against time, {precision}")
        ours, theirs = [], []
        try:
            with own_settings(), self.partitions(path, precision) as compiled:
                profile = "h100" if self.given.uncalibrated else self.recut.calibrate(path, precision)
                self.our_points(path, precision, profile, ours)
                self.their_points(path, precision, compiled, theirs)
                for point in theirs:
                    if not curves.is_met(point, ours):
                        self.attempt(f"within {point.bytes} bytes", lambda: self.meet(path, precision, point, ours))
        finally:
            if ours or theirs:
                self.say(curves.curve_table(ours + theirs))
                if self.given.csv:
                    pathlib.Path(self.given.csv).mkdir(parents=True, exist_ok=True)
                    curves.write_csv(pathlib.Path(self.given.csv) / f"{name}.csv", name, ours + theirs)
        for verdict in curves.curve_verdicts(ours, theirs):
            self.judge(verdict)

    def our_points(self, path: str, precision: str, profile: str, points: list[Point]) -> None:
        steps = self.given.steps
        whole = self.recut.point(path, precision, steps, "none", 0)
        points.append(whole)
        whole_bytes = -(-whole.arena_bytes // ALIGNMENT) * ALIGNMENT  # what was written may end before the arena does
        least = self.recut.least(path, profile)

        def add(budget: int, tries: int) -> None:
            asked = f"{100 * budget / whole_bytes:.1f} %"
            try:
                points.append(self.recut.point(path, precision, steps, asked, budget))
            except Fault as fault:
                if tries == 1 or "can't be held" not in str(fault):
                    raise
                add(int(budget * LEAST_FACTOR) + 64, tries - 1)

        for budget in curves.budgets_between(whole_bytes, least, self.given.budgets):
            self.attempt(f"budget {budget}", lambda: add(budget, LEAST_TRIES if budget == least else 1))

    @contextlib.contextmanager
    def partitions(self, path: str, precision: str) -> Iterator[dict[Plan, Session]]:
        """PyTorch's different partitions of the file, compiled, so many at once: nothing runs after that."""
        wanted = sorted({(kernels, frozenset(partition["saved"])) for kernels in self.given.kernels
                         for partition in joint_plans.load(path).get("partitions", [])},
                        key=lambda plan: (plan[0], len(plan[1]), sorted(plan[1])))

        def compiled(plan: Plan, scope: contextlib.ExitStack) -> Session | None:
            kernels, saved = plan
            session = scope.enter_context(self.session(path, self.clock))
            try:
                session.call("make_halves", sorted(saved), kernels, precision != "f32")
            except Fault as fault:
                self.say(unmeasured(plan, fault))
                return None
            return session

        with contextlib.ExitStack() as scope:
            with concurrent.futures.ThreadPoolExecutor(self.given.jobs) as pool:
                sessions = list(pool.map(lambda plan: compiled(plan, scope), wanted))
            ready = {plan: session for plan, session in zip(wanted, sessions, strict=True) if session is not None}
            if ready:
                self.named(next(iter(ready.values())))
            yield ready

    def their_points(self, path: str, precision: str, compiled: dict[Plan, Session], points: list[Point]) -> None:
        figures: dict[Plan, dict[str, Any]] = {}
        for plan, session in compiled.items():
            try:
                figures[plan] = session.call("figures", self.given.steps, precision != "f32")
            except Fault as fault:
                self.say(unmeasured(plan, fault))
        partitions = joint_plans.load(path).get("partitions", [])
        for kernels in self.given.kernels:
            for partition in partitions:
                row = figures.get((kernels, frozenset(partition["saved"])))
                if row:
                    points.append(Point(f"PyTorch, {kernels}", f"{partition['budget']:g}", row["bytes"], row["ms"]))

    def meet(self, path: str, precision: str, theirs: Point, ours: list[Point]) -> None:
        """Within exactly its bytes, the libraries' scratch included."""
        scratch = max((point.bytes - point.arena_bytes for point in ours), default=0)
        try:
            ours.append(self.recut.point(path, precision, self.given.steps, f"as {theirs.asked}",
                                         max(1, theirs.bytes - scratch)))
        except Fault as fault:
            if "can't be held" not in str(fault):
                raise

    def all(self, graphs: list[tuple[str, str]], for_curves: set[str]) -> int:
        left: list[str] = []
        out_of_time = False
        for name, path in graphs:
            for part in self.given.parts:
                if part == "memory" and name not in for_curves:
                    continue
                if out_of_time:
                    left.append(f"{name} {part}")
                    continue
                try:
                    self.clock.left()
                    self.attempt(part, lambda: getattr(self, part)(name, path))
                except OutOfTime:
                    out_of_time = True
                    left.append(f"{name} {part}")
        if left:
            self.say(f"\nstopped after {self.given.limit:g} s without: {', '.join(left)}")
        self.say(f"\n{self.failed} verdicts failed" if self.failed else "\nno verdict failed")
        return 1 if self.failed else 3 if left else 0


def unmeasured(plan: Plan, fault: Fault) -> str:
    """A point that PyTorch can't have is said, and none of Recut's faults."""
    kernels, saved = plan
    return f"  PyTorch, {kernels}, {len(saved)} values saved: {fault}"


def find_graphs(wanted: list[str]) -> list[tuple[str, str]]:
    """Names and files. Those that are asked for have to be there."""
    found = []
    for name in wanted or USUAL:
        paths = [pathlib.Path(name)] if name.endswith(".gz") else [
            pathlib.Path(folder) / f"{name}.json.gz" for folder in FOLDERS]
        path = next((path for path in paths if path.is_file()), None)
        if path is not None:
            found.append((path.name.split(".")[0], str(path)))
        elif wanted:
            raise SystemExit(f"no graph {name}: it isn't in {', '.join(str(path) for path in paths)}")
    return found


def words(text: str, allowed: tuple[str, ...]) -> list[str]:
    chosen = text.split(",")
    if not set(chosen) <= set(allowed):
        raise argparse.ArgumentTypeError(f"some of {','.join(allowed)}")
    return chosen


def main(arguments: list[str] | None = None, session: Callable[[str, Clock], Session] = Session) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--recut", default="build/release/recut")
    parser.add_argument("--parts", type=lambda text: words(text, ("values", "speed", "memory")),
                        default=["values", "speed", "memory"])
    parser.add_argument("--precisions", type=lambda text: words(text, tuple(curves.BOUNDS)), default=["f32", "tf32"])
    parser.add_argument("--passes", type=lambda text: words(text, ("exact", "inexact")), default=["exact"])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budgets", type=int, default=10)
    parser.add_argument("--kernels", type=lambda text: words(text, ("inductor", "eager")), default=["inductor"])
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--uncalibrated", action="store_true")
    parser.add_argument("--csv")
    parser.add_argument("--limit", type=float, default=0)
    given = parser.parse_args(arguments)
    graphs = find_graphs(given.graphs)
    for_curves = {name for name, _ in graphs if given.graphs or name in WITH_CURVES}
    return Comparison(given, session).all(graphs, for_curves)


if __name__ == "__main__":
    sys.exit(main())
