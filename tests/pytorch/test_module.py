"""recut_torch on small models, on the CPU and, where there is one, on the GPU. Skipped (77) where
PyTorch isn't installed."""

from __future__ import annotations

import gzip
import json
import pathlib
import sys
import tempfile
import unittest
import warnings

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent.parent / "native" / "pytorch")]

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import recut_torch  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def deep(width: int = 32, depth: int = 6, *between: nn.Module) -> nn.Sequential:
    layers = [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.Tanh(), *between)]
    return nn.Sequential(*layers)


class Summed(nn.Module):
    """With its loss in the graph: a tangent as large as a result would come from outside of it."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x).square().mean()


class BatchNorms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(layer for _ in range(4) for layer in
                                      (nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).square().mean()


class Tied(nn.Module):
    """An embedding that is the last layer's weight as well."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.layers = deep(16)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(self.head(self.layers(self.embedding(ids))).flatten(0, 1), ids.flatten())


class Breaks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = deep(), deep()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        torch._dynamo.graph_break()
        return self.second(x).sum()


class Cases(unittest.TestCase):
    def setUp(self) -> None:
        torch._dynamo.reset()
        torch.manual_seed(0)

    def steps(self, model: nn.Module, *batch: torch.Tensor, count: int = 2, autocast: bool = False,
              backend: object = "eager") -> tuple[list, dict]:
        """Losses of a few steps of gradient descent, and the state after them."""
        model = model.to(DEVICE).train()
        start = {name: value.clone() for name, value in model.state_dict().items()}
        compiled = torch.compile(model, backend=backend)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        losses = []
        torch.manual_seed(7)
        for _ in range(count):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(DEVICE, torch.bfloat16, enabled=autocast):
                loss = compiled(*(part.to(DEVICE) for part in batch))
            loss = loss if loss.ndim == 0 else loss.float().sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        end = {name: value.clone() for name, value in model.state_dict().items()}
        model.load_state_dict(start)
        torch._dynamo.reset()
        return losses, end

    def same(self, model: nn.Module, *batch: torch.Tensor, reference: object = "eager", tolerance: float = 1e-5,
             planned: bool = True, **options: object) -> recut_torch.Backend:
        """Training by the plan is training as `reference` does it."""
        autocast = bool(options.pop("autocast", False))
        options = {"kernels": "eager", "budget": "70%", **options}
        backend = recut_torch.backend(**options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            losses, state = self.steps(model, *batch, autocast=autocast, backend=backend)
        expected, wanted = self.steps(model, *batch, autocast=autocast, backend=reference)
        self.assertEqual({p.planner for p in backend.plans}, {"recut" if planned else "pytorch"},
                         [p.reason for p in backend.plans])
        for a, b in zip(losses, expected, strict=True):
            self.assertAlmostEqual(a, b, delta=tolerance * max(1, abs(b)))
        for name, value in wanted.items():
            torch.testing.assert_close(state[name], value, rtol=tolerance * 10, atol=tolerance)
        return backend

    def test_a_budget_recomputes(self) -> None:
        backend = self.same(deep(64, 8), torch.randn(4096, 64), budget="50%")
        (plan,) = backend.plans
        self.assertTrue(plan.holds)
        self.assertGreater(plan.recompute_us, 0)
        self.assertLessEqual(plan.peak_bytes, plan.budget_bytes)

    def test_no_budget_recomputes_nothing(self) -> None:
        (plan,) = self.same(deep(), torch.randn(64, 32), budget="none").plans
        self.assertEqual(plan.recompute_us, 0)

    def test_a_budget_that_cannot_be_held_says_so(self) -> None:
        backend = recut_torch.backend(budget=1, kernels="eager")
        with self.assertWarnsRegex(RuntimeWarning, "can't be run within"):
            self.steps(deep(), torch.randn(64, 32), backend=backend)
        self.assertFalse(backend.plans[0].holds)
        self.assertGreater(backend.plans[0].bound_bytes, 1)

    def test_batch_statistics_are_written_once(self) -> None:
        self.same(BatchNorms(), torch.randn(4, 4, 16, 16), budget="60%", tolerance=1e-4)

    def test_tied_parameters(self) -> None:
        self.same(Tied(), torch.randint(50, (8, 12)), budget="60%")

    def test_autocast(self) -> None:
        self.same(deep(), torch.randn(64, 32), autocast=True, tolerance=2e-2)

    def test_dropout_draws_the_same_numbers_again(self) -> None:
        model = deep(64, 6, nn.Dropout(0.3))
        reference = recut_torch.backend(kernels="eager", strategy="pytorch")
        backend = self.same(model, torch.randn(4096, 64), reference=reference, budget="55%")
        runs = [n["name"] for n in backend.plans[0].file["joint"] if n["target"].startswith("prims.inductor_random")]
        self.assertTrue(runs)
        self.assertGreater(backend.plans[0].recompute_us, 0)

    def test_graph_breaks_plan_each_graph(self) -> None:
        backend = self.same(Breaks(), torch.randn(64, 32), budget="80%")
        self.assertEqual(len(backend.plans), 2)

    def test_choices_of_checkpointing_are_kept(self) -> None:
        model = deep()

        class Checkpointed(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inside = model

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return checkpoint(self.inside, x, use_reentrant=False).sum()

        (plan,) = self.same(Checkpointed(), torch.randn(64, 32), budget="none").plans
        self.assertGreater(plan.recompute_us, 0)

    def test_choices_by_name(self) -> None:
        (plan,) = self.same(deep(), torch.randn(64, 32), budget="none", recompute=["tanh_1"]).plans
        self.assertEqual(plan.plan["backward"].count("tanh_1"), 1)

    def test_changing_shapes_are_pytorchs(self) -> None:
        model = deep().to(DEVICE)
        backend = recut_torch.backend(kernels="eager", budget="50%")
        compiled = torch.compile(model, backend=backend, dynamic=True)
        with self.assertWarnsRegex(RuntimeWarning, "isn't static|symbolic"):
            compiled(torch.randn(17, 32, device=DEVICE)).sum().backward()
        self.assertEqual(backend.plans[0].planner, "pytorch")

    def test_bad_options_are_named(self) -> None:
        for options, words in (({"budget": "6 GiBs"}, "budget"), ({"kernels": "fast"}, "kernels"),
                               ({"scope": "x"}, "scope"), ({"measure": "x"}, "measure")):
            with self.assertRaisesRegex(ValueError, words):
                recut_torch.backend(**options)

    def test_a_choice_that_does_not_exist_is_named(self) -> None:
        backend = recut_torch.backend(kernels="eager", save=["nonsense"])
        with self.assertWarnsRegex(RuntimeWarning, "nonsense"):
            self.steps(deep(), torch.randn(8, 32), backend=backend)

    def test_export_reads_back(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            paths = recut_torch.export(Breaks().to(DEVICE), (torch.randn(64, 32, device=DEVICE),),
                                       pathlib.Path(folder) / "model.json.gz", partitions=(1.0, 0.0))
            self.assertEqual([p.name for p in paths], ["model.json.gz", "model.1.json.gz"])
            for path in paths:
                file = json.loads(gzip.decompress(path.read_bytes()))
                self.assertEqual([p["budget"] for p in file["partitions"]], [1.0, 0.0])
                plan, report, holds = recut_torch._plan(path.read_bytes(), {"budget": "none"})
                self.assertTrue(holds)
                self.assertEqual(plan["peak_bytes"], report["peak_bytes"])

    def test_export_of_forward(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (path,) = recut_torch.export(deep(), (torch.randn(4, 32),), pathlib.Path(folder) / "f.json", forward=True)
            file = json.loads(path.read_text())
            self.assertIn("forward", file)
            self.assertNotIn("joint", file)
            shapes = {n["name"]: n["val"]["shape"] for n in file["forward"] if n["op"] == "placeholder"}
            self.assertEqual(sorted(shapes[name] for name in file["parameters"]),
                             sorted(list(p.shape) for p in deep().parameters()))
            self.assertEqual(file["buffers"], [])

    def test_export_names_parameters_and_lines(self) -> None:
        class Own(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.blocks = nn.ModuleList([nn.Linear(32, 32), nn.LayerNorm(32)])

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.relu(self.blocks[1](self.blocks[0](x)))

        with tempfile.TemporaryDirectory() as folder:
            for forward in (False, True):
                (path,) = recut_torch.export(Own(), (torch.randn(4, 32),), pathlib.Path(folder) / "m.json",
                                             forward=forward)
                nodes = json.loads(path.read_text())["forward" if forward else "joint"]
                held = {n["module"] for n in nodes if n["op"] == "placeholder" and "module" in n}
                self.assertEqual(held, {name for name, _ in Own().named_parameters()})
                sources = [n["source"] for n in nodes if "source" in n]
                self.assertTrue(any(" in forward: " in source for source in sources), sources[:3])
                self.assertFalse([source for source in sources if source.startswith(("/", "\\"))])

    def test_inductor(self) -> None:
        if DEVICE == "cpu":
            self.skipTest("Inductor's kernels are tested on the GPU")
        self.same(BatchNorms(), torch.randn(4, 4, 16, 16), kernels="inductor", budget="60%", tolerance=1e-4)
        self.same(deep(64, 6, nn.Dropout(0.3)), torch.randn(4096, 64), reference="inductor", kernels="inductor",
                  budget="55%", tolerance=1e-4)

    def test_inductor_keeps_checkpoints(self) -> None:
        if DEVICE == "cpu":
            self.skipTest("Inductor's kernels are tested on the GPU")
        inside = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32), nn.ReLU(), nn.Linear(32, 32))

        class Checkpointed(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inside = inside

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return checkpoint(self.inside, x, use_reentrant=False).square().mean()

        (plan,) = self.same(Checkpointed(), torch.randn(64, 32), kernels="inductor", budget="none", tolerance=1e-4).plans
        self.assertGreater(plan.recompute_us, 0)

    def test_report(self) -> None:
        if DEVICE == "cpu":
            self.skipTest("memory is measured by the GPU's allocator")
        model = Summed(deep(512, 8)).to(DEVICE)
        batch = torch.randn(32768, 512, device=DEVICE)
        backend = recut_torch.backend(kernels="eager", budget="50%")
        step = torch.compile(model, backend=backend)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "deep.json.gz"
            found = recut_torch.report(backend, lambda: step(batch).backward(),
                                       before=lambda: model.zero_grad(set_to_none=True), path=path)
            self.assertTrue(path.exists() and (pathlib.Path(folder) / "deep.plan.json").exists())
        self.assertLessEqual(found.measured_peak_bytes, found.graphs[0].budget_bytes)
        self.assertAlmostEqual(found.measured_peak_bytes / found.predicted_peak_bytes, 1, delta=0.02)


if __name__ == "__main__":
    unittest.main(verbosity=2)
