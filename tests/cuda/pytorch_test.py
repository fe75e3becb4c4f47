"""pytorch.py and what it is made of, without PyTorch, without a GPU and without Recut: those of its partitions' halves
can run, verdicts say what they should, tables have what was measured, and it stops in time.

usage: pytorch_test.py FILE.json.gz...     graphs, with PyTorch's partitions where they have some
"""

from __future__ import annotations

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import time
import unittest
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import curves  # noqa: E402
import joint_plans  # noqa: E402
import pytorch  # noqa: E402
from curves import Point  # noqa: E402

FILES: list[str] = []

# Runs in as many milliseconds as 100 MB go into its arena, down to 40 MB, and in half as many with --inexact; `least`
# says a little less than it can.
RECUT = """#!/usr/bin/env python3
import json, pathlib, sys
arguments = sys.argv[1:]
if arguments[0] == "schedule":
    print(json.dumps({"arena_bytes": 39_900_000}))
    sys.exit(0)
if arguments[0] == "calibrate":
    print(json.dumps({"profile": "a GPU and a graph"}))
    sys.exit(0)
budget = int(arguments[arguments.index("--budget") + 1].rstrip("B")) if "--budget" in arguments else 100_000_000
if budget < 40_000_000:
    print("error: the arena can't be held", file=sys.stderr)
    sys.exit(1)
if "--out-tensors" in arguments:
    pathlib.Path(arguments[arguments.index("--out-tensors") + 1]).write_text(arguments[1])
arena = min(budget, 100_000_000)
ms = 1e9 / arena / (1 + arguments.count("--inexact"))
print(json.dumps({"measured_peak_bytes": arena, "scratch_bytes": 1000, "step_ms_median": ms,
                  "slowest": [{"name": "mm", "library": True, "ms": 2.5, "launches": 4}]}))
"""


class FakeSession:
    """Answers as PyTorch's process does."""

    calls: list[tuple[str, str]] = []
    error = 1e-6
    ms = 30.0
    wait = 0.0

    def __init__(self, path: str, clock: pytorch.Clock) -> None:
        self.path, self.clock = path, clock

    def call(self, name: str, *arguments: Any) -> Any:
        self.clock.left()
        time.sleep(FakeSession.wait)
        FakeSession.calls.append((name, self.path))
        if name == "gpu":
            return "a GPU"
        if name == "compare":
            return [{"output": "out.0", "error": FakeSession.error, "movement": 1e-6, "by_tf32": 1e-4}]
        if name == "measure":
            return [FakeSession.ms] * arguments[0]
        if name == "figures":
            return {"bytes": 90_000_000, "ms": FakeSession.ms}
        return 1.0

    def __enter__(self) -> FakeSession:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def graph(calls: list[tuple[str, str, list[Any]]], results: list[str], gradients: list[str | None],
          inputs: tuple[str, ...] = ("primals_1", "tangents_1"), key: str = "joint") -> dict[str, Any]:
    val = {"dtype": "float32", "shape": [2], "stride": [1], "device": "cuda"}
    entries = [{"name": name, "op": "placeholder", "target": name, "args": [], "val": val} for name in inputs]
    entries += [{"name": name, "op": "call_function", "target": target, "val": val,
                 "args": [{"node": a} if isinstance(a, str) else a for a in args]} for name, target, args in calls]
    outputs = [None if name is None else {"node": name} for name in results + gradients]
    return {key: entries + [{"name": "output", "op": "output", "target": "output", "args": [outputs]}],
            "num_fwd_outputs": len(results)}


class Plans(unittest.TestCase):
    def test_halves_of_files_run(self) -> None:
        partitions = 0
        for path in FILES:
            file = joint_plans.load(path)
            entries = {entry["name"]: entry for entry in file[joint_plans.PASSED][:-1]}
            inputs = {name for name, entry in entries.items() if entry["op"] != "call_function"}
            results, gradients = joint_plans.outputs_of(file, joint_plans.PASSED)
            for partition in file.get("partitions", []):
                partitions += 1
                plan = joint_plans.halves(file, partition["saved"])
                self.assertEqual(set(partition["saved"]) - set(plan.saved), set())
                for names, have, wanted in (
                        (plan.forward, {n for n in inputs if not joint_plans.is_tangent(n)}, [results, plan.saved]),
                        (plan.backward, inputs | set(plan.saved), [gradients])):
                    for name in names:
                        self.assertNotIn(name, have)
                        self.assertEqual(set(joint_plans.operands(entries[name])) - have, set())
                        have.add(name)
                    for part in wanted:
                        listed = part if part is plan.saved else joint_plans.names_in(part)
                        self.assertEqual(set(listed) - have, set())
        self.assertGreater(partitions, 8)

    def test_what_is_recomputed_comes_before_its_first_reader(self) -> None:
        file = graph([("exp", "aten.exp.default", ["primals_1"]), ("sin", "aten.sin.default", ["exp"]),
                      ("cos", "aten.cos.default", ["sin"]),
                      ("mul", "aten.mul.Tensor", ["tangents_1", "cos"]), ("mul_1", "aten.mul.Tensor", ["mul", "exp"])],
                     ["cos"], ["mul_1"], key=joint_plans.PASSED)
        plan = joint_plans.halves(file, ["primals_1"])
        self.assertEqual(plan.forward, ["exp", "sin", "cos"])
        self.assertEqual(plan.backward, ["exp", "sin", "cos", "mul", "mul_1"])
        plan = joint_plans.halves(file, ["primals_1", "cos"])
        self.assertEqual(plan.backward, ["mul", "exp", "mul_1"])

    def test_what_draws_is_saved(self) -> None:
        file = graph([("seeds", "prims.inductor_seeds.default", [1, {"device": "cuda"}]),
                      ("random", "prims.inductor_random.default", [[2], "seeds"]),
                      ("mul", "aten.mul.Tensor", ["primals_1", "random"]),
                      ("mul_1", "aten.mul.Tensor", ["tangents_1", "random"])], ["mul"], ["mul_1"],
                     key=joint_plans.PASSED)
        plan = joint_plans.halves(file, [])
        self.assertEqual(plan.saved, ["seeds"])
        self.assertEqual(plan.backward, ["random", "mul_1"])

    def test_random_numbers_as_inputs(self) -> None:
        file = graph([("rand", "aten.rand.default", [[2]]), ("mul", "aten.mul.Tensor", ["primals_1", "rand"]),
                      ("mul_1", "aten.mul.Tensor", ["tangents_1", "rand"])], ["mul"], ["mul_1"])
        made = joint_plans.random_as_inputs(file)
        self.assertEqual(made["drawn"], ["rand"])
        names = [(entry["name"], entry["op"]) for entry in made["joint"]]
        self.assertEqual(names[:3], [("primals_1", "placeholder"), ("tangents_1", "placeholder"),
                                     ("rand", "placeholder")])
        self.assertEqual(joint_plans.outputs_of(made, "joint"), ([{"node": "mul"}], [{"node": "mul_1"}, None]))
        plain = graph([("mul", "aten.mul.Tensor", ["primals_1", "tangents_1"])], [], ["mul"])
        self.assertIs(joint_plans.random_as_inputs(plain), plain)
        other = graph([("b", "aten.bernoulli.p", ["primals_1", 0.5])], ["b"], [None])
        with self.assertRaisesRegex(ValueError, "aten.bernoulli.p"):
            joint_plans.random_as_inputs(other)


class Verdicts(unittest.TestCase):
    def test_values(self) -> None:
        def said(error: float, precision: str = "f32", movement: float = 0.0, by_tf32: float = 0.0) -> tuple[bool, str]:
            row = {"output": "out.3", "error": error, "movement": movement, "by_tf32": by_tf32}
            return curves.value_verdict([row], precision)

        self.assertEqual(said(9e-5), (True, "1 outputs, errors up to 9.0e-05"))
        self.assertEqual(said(2e-4), (False, "1 of 1 outputs DIFFER, out.3 by 2.0e-04"))
        self.assertFalse(said(float("nan"))[0])
        self.assertTrue(said(2e-4, movement=1e-4)[0])
        self.assertFalse(said(3e-3, "f32", by_tf32=1e-2)[0])
        self.assertTrue(said(3e-3, "tf32", by_tf32=2e-3)[0])
        self.assertTrue(said(1.9e-2, "bf16")[0])
        self.assertFalse(curves.value_verdict([], "f32")[0])

    def test_budgets(self) -> None:
        self.assertEqual(curves.budgets_between(100, 10, 10), [100, 90, 80, 70, 60, 50, 40, 30, 20, 10])
        self.assertEqual(curves.budgets_between(100, 100, 10), [100])

    def test_curves(self) -> None:
        ours = [Point("Recut", "100 %", 110, 10.0, 100, 100), Point("Recut", "50 %", 60, 12.0, 50, 50)]
        theirs = [Point("PyTorch", "1", 120, 11.0), Point("PyTorch", "0.5", 60, 12.0), Point("PyTorch", "0", 59, 30.0)]
        verdicts = curves.curve_verdicts(ours, theirs)
        self.assertEqual([good for good, _ in verdicts], [True, True, True, True, False])
        self.assertIn("no plan of Recut's is within its bytes", verdicts[-1][1])
        over = [Point("Recut", "50 %", 60, 13.0, 50, 51), Point("Recut", "100 %", 60, 14.0, 100, 90)]
        verdicts = curves.curve_verdicts(over, [])
        self.assertEqual(verdicts[0], (False, "ARENA ABOVE ITS BUDGET at 50 %"))
        self.assertFalse(verdicts[1][0])
        self.assertTrue(curves.curve_verdicts(over, [], noise=0.1)[1][0])


class Runs(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        (self.path / "recut").write_text(RECUT)
        (self.path / "recut").chmod(0o755)
        FakeSession.calls, FakeSession.error, FakeSession.ms, FakeSession.wait = [], 1e-6, 30.0, 0.0
        file = graph([("rand", "aten.rand.default", [[2]]), ("mul", "aten.mul.Tensor", ["primals_1", "rand"])],
                     ["mul"], [None])
        file["partitions"] = [{"budget": 1.0, "saved": ["a"]}, {"budget": 0.5, "saved": ["a"]},
                              {"budget": 0.0, "saved": []}]
        joint_plans.save(file, self.path / "small.json.gz")

    def run_with(self, *more: str) -> tuple[int, str]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = pytorch.main(["--recut", str(self.path / "recut"), *more, str(self.path / "small.json.gz")],
                                FakeSession)
        return code, said.getvalue()

    def test_all_parts(self) -> None:
        code, said = self.run_with("--csv", str(self.path / "csv"), "--budgets", "4", "--steps", "5")
        self.assertEqual(code, 0, said)
        self.assertIn("on a GPU", said)
        self.assertIn("f32: 1 outputs, errors up to 1.0e-06", said)
        self.assertIn("| small | exact | 10.000 | 30.000 | 30.000 | 0.333 | 0.333 | 1.0 |", said)
        self.assertIn("mm (library): 2.500 ms in 4", said)
        self.assertIn("PyTorch, inductor at 0.5: below and left", said)
        self.assertIn("no verdict failed", said)
        # Partitions that save the same are one, and the values' graph has its random numbers as inputs.
        self.assertEqual(sum(name == "make_halves" for name, _ in FakeSession.calls), 2)
        values = next(path for name, path in FakeSession.calls if name == "write_inputs")
        self.assertNotEqual(values, str(self.path / "small.json.gz"))
        lines = (self.path / "csv" / "small.csv").read_text().splitlines()
        # None, four budgets of which the least took two tries, and three of PyTorch's.
        self.assertEqual(len(lines), 1 + 1 + 4 + 3)
        self.assertTrue(lines[0].startswith("graph,who,asked,budget_bytes"))

    def test_inexact_passes_are_rows_of_their_own(self) -> None:
        code, said = self.run_with("--parts", "values,speed", "--precisions", "tf32", "--passes", "exact,inexact")
        self.assertEqual(code, 0, said)
        self.assertIn("tf32, inexact: 1 outputs, errors up to 1.0e-06", said)
        self.assertIn("| small | exact | 10.000 | 30.000 | 30.000 | 0.333 | 0.333 | 1.0 |", said)
        self.assertIn("| small | inexact | 5.000 | 30.000 | 30.000 | 0.167 | 0.167 | 1.0 |", said)
        self.assertIn("0.167 of compiled's time", said)

    def test_recut_meets_their_bytes(self) -> None:
        FakeSession.ms = 11.5
        _, said = self.run_with("--parts", "memory", "--budgets", "2")
        self.assertIn("| Recut | as 1 | 85.8 |", said)
        self.assertIn("below and left", said)

    def test_verdicts_count(self) -> None:
        FakeSession.error, FakeSession.ms = 1.0, 5.0
        code, said = self.run_with("--parts", "values,speed", "--precisions", "f32")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: f32: 1 of 1 outputs DIFFER", said)
        self.assertIn("2 verdicts failed", said)

    def test_a_fault_is_a_line(self) -> None:
        (self.path / "recut").write_text("#!/bin/sh\necho 'error: no GPU' >&2\nexit 2\n")
        code, said = self.run_with("--parts", "values")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: f32: error: no GPU", said)

    def test_it_stops_in_time(self) -> None:
        FakeSession.wait = 0.2
        code, said = self.run_with("--limit", "0.3")
        self.assertEqual(code, 3, said)
        self.assertIn("stopped after 0.3 s without: small values, small speed, small memory", said)

    def test_a_worker_that_falls_is_a_fault(self) -> None:
        with pytorch.Session(str(self.path / "small.json.gz"), pytorch.Clock(0)) as session:
            session.process.kill()
            session.process.join()
            with self.assertRaises(pytorch.Fault):
                session.call("gpu")


if __name__ == "__main__":
    FILES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
