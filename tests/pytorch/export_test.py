"""recut_torch.export of graphs that a plan can't run: symbolic sizes, nested graphs, writes to inputs, views. Skipped
(77) where PyTorch isn't installed."""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
import unittest
import warnings
from typing import Any, Callable, Sequence

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent.parent / "native" / "pytorch")]

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

from torch import nn  # noqa: E402

import recut_torch  # noqa: E402

RULES = """rule "twice" {
  pattern {
    %x = any floating
    %y = external recut_test.twice(%x)
    results %y
  }
  replacement {
    %a = add.Tensor(%x, %x)
    %b = mul.Tensor(%a, 2)
    %c = div.Tensor(%b, 2)
    results %c
  }
}
rule "pair" {
  pattern {
    %x = any floating
    %m = external recut_test.pair(%x)
    %y = getitem(%m, 0)
    %z = getitem(%m, 1)
    results %y, %z
  }
  replacement {
    %a = mul.Tensor(%x, 2)
    %b = add.Tensor(%x, 1)
    results %a, %b
  }
}
"""


@torch.library.custom_op("recut_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


twice.register_fake(torch.empty_like)
twice.register_autograd(lambda _, gradient: gradient * 2)


@torch.library.custom_op("recut_test::pair", mutates_args=())
def pair(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x * 2, x + 1


pair.register_fake(lambda x: (torch.empty_like(x), torch.empty_like(x)))


def trained(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))


class Cases(unittest.TestCase):
    def setUp(self) -> None:
        torch._dynamo.reset()
        torch.manual_seed(0)

    def exported(self, model: Callable, *args: Any, readable: bool = True, **options: Any) -> dict[str, Any]:
        """The file of a model of one graph, which the library reads and plans."""
        with tempfile.TemporaryDirectory() as folder:
            (path,) = recut_torch.export(model, args, pathlib.Path(folder) / "model.json", **options)
            text = path.read_bytes()
        file = json.loads(text)
        self.assertEqual(file["version"], 2)
        if readable and "joint" in file:
            plan, report, _ = recut_torch._plan(text, {"budget": "none"})
            self.assertEqual(plan["peak_bytes"], report["peak_bytes"])
        return file

    def node(self, nodes: Sequence[dict], target: str) -> dict[str, Any]:
        found = [n for n in nodes if n["target"] == target]
        self.assertTrue(found, f"{target} isn't there: {[n['target'] for n in nodes]}")
        return found[0]

    def outputs(self, file: dict[str, Any]) -> list[Any]:
        return [o and o["node"] for o in file["joint" if "joint" in file else "forward"][-1]["args"][0]]

    def test_a_batch_by_name_has_its_range(self) -> None:
        x = torch.randn(5, 8)
        file = self.exported(mlp(), x, dynamic={"input": {0: (2, 64)}})
        ((symbol, facts),) = file["symbols"].items()
        self.assertEqual(facts, {"hint": 5, "min": 2, "max": 64})
        shapes = [n["val"]["shape"] for n in file["joint"] if n["op"] == "placeholder" and "shape" in n["val"]]
        self.assertIn([symbol, 8], shapes)
        self.assertIn({"sym": symbol, "type": "SymInt"}, [n.get("val") for n in file["joint"]])
        self.assertEqual(file["tangents"], [0])
        self.assertFalse(hasattr(x, "_dynamo_dynamic_indices"), "the mark is left on the user's tensor")

    def test_dynamic_true_takes_all_sizes(self) -> None:
        file = self.exported(mlp(), torch.randn(5, 8), dynamic=True)
        self.assertEqual([facts["hint"] for facts in file["symbols"].values()], [5])

    def test_a_convolution_of_two_symbols_has_expressions(self) -> None:
        model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Flatten())
        file = self.exported(model, torch.randn(4, 3, 16, 8), dynamic=[{0: None, 2: None}])
        self.assertEqual(sorted(facts["hint"] for facts in file["symbols"].values()), [4, 16])
        sizes = [s for n in file["joint"] if "shape" in (n.get("val") or ()) for s in n["val"]["shape"]]
        self.assertTrue([s for s in sizes if isinstance(s, str) and "*" in s], sizes)

    def test_a_symbol_of_a_forward_graph(self) -> None:
        file = self.exported(mlp(), torch.randn(5, 8), dynamic={0: {0: None}}, forward=True)
        self.assertEqual(len(file["symbols"]), 1)
        self.assertEqual(len(file["parameters"]), 4)

    def test_arguments_that_are_not_there_are_named(self) -> None:
        for dynamic, words in (({"nope": {0: None}}, "nope"), ({3: {0: None}}, "argument 3"), ({0: {7: None}}, "dimension 7"),
                               ({0: {0: (2, None)}}, "least")):
            with self.assertRaisesRegex(recut_torch.RecutError, words):
                self.exported(mlp(), torch.randn(5, 8), dynamic=dynamic)

    def test_both_branches_of_cond_stand_in_the_file(self) -> None:
        def branch(take: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(take, lambda x: x.sin(), lambda x: x.cos() * 2, (x,)).sum()

        file = self.exported(branch, torch.tensor(True), trained(4, 8), dynamic={1: {0: None}})
        graphs = [n for n in file["joint"] if n["op"] == "get_attr"]
        self.assertEqual(len(graphs), 4)  # of forward and backward
        for graph in graphs:
            self.assertNotIn("val", graph)
            self.assertEqual(graph["subgraph"][-1]["op"], "output")
        call = self.node(file["joint"], "torch.ops.higher_order.cond")
        self.assertEqual([a["node"] for a in call["args"][1:3]], [g["name"] for g in graphs[:2]])

    def test_a_loop_has_its_condition_and_body(self) -> None:
        def loop(x: torch.Tensor, n: torch.Tensor) -> Any:
            from torch._higher_order_ops.while_loop import while_loop

            return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (n, x))

        file = self.exported(loop, torch.randn(4), torch.tensor(0), forward=True)
        call = self.node(file["forward"], "torch.ops.higher_order.while_loop")
        condition, body = ([n for n in file["forward"] if n["name"] == a["node"]][0] for a in call["args"][:2])
        self.assertEqual(self.node(condition["subgraph"], "aten.lt.Scalar")["val"]["dtype"], "bool")
        self.assertEqual(len(body["subgraph"][-1]["args"][0]), 2)

    def test_a_region_is_part_of_the_graph_that_calls_it(self) -> None:
        @torch.compiler.nested_compile_region
        def block(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return (x @ w).relu() + x

        file = self.exported(lambda x, w, v: block(block(x, w), v).sum(), trained(4, 8), trained(8, 8), trained(8, 8))
        self.node(file["joint"], "torch.ops.higher_order.invoke_subgraph")
        self.assertEqual(len(self.outputs(file)), 4)

    def test_a_written_input(self) -> None:
        def write(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            x.mul_(w)
            return (x * x).sum()

        for x in (torch.randn(4, 8), trained(4, 8) * 1):
            for forward in (False, True):
                file = self.exported(write, x.detach() if forward else x, trained(8), forward=forward)
                self.assertEqual(file["writes"], [{"result": 0, "input": "primals_1"}])
                self.assertEqual(self.node(file["forward" if forward else "joint"], "aten.mul.Tensor")["name"],
                                 self.outputs(file)[0])
                if not forward:
                    self.assertEqual(file["tangents"], [0, 1])  # w makes the new value differentiable

    def test_statistics_of_batch_norm_are_written(self) -> None:
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
        file = self.exported(model, torch.randn(2, 3, 8, 8))
        held = {n["name"]: n.get("module") for n in file["joint"] if n["op"] == "placeholder"}
        self.assertEqual(sorted(held[write["input"]] for write in file["writes"]),
                         ["1.num_batches_tracked", "1.running_mean", "1.running_var"])
        results = file["num_fwd_outputs"]
        self.assertTrue(all(write["result"] < results for write in file["writes"]))

    def test_views_of_inputs_and_results(self) -> None:
        def views(x: torch.Tensor, w: torch.Tensor) -> Any:
            z = (x @ w) * 2
            return x.sum(), x.view(-1), z, z.t()

        file = self.exported(views, trained(4, 8), trained(8, 3))
        self.assertEqual(file["views"], [{"result": 1, "input": "primals_1"}, {"result": 3, "of_result": 2}])
        self.assertEqual(file["tangents"], [0, 2])

    def test_views_of_a_value_that_is_no_result(self) -> None:
        def views(x: torch.Tensor) -> Any:
            z = x * 2
            return z.view(-1), z.t()

        file = self.exported(views, trained(4, 8))
        base = file["num_fwd_outputs"] - 1
        self.assertEqual(file["views"], [{"result": i, "of_result": base} for i in range(2)])

    def test_inputs_of_one_storage(self) -> None:
        both = torch.randn(8)
        file = self.exported(lambda a, b, w: (a * b * w).sum(), both[:4], both[2:6], trained(4))
        self.assertEqual(file["shared_storages"], [["primals_1", "primals_2"]])

        def write(a: torch.Tensor, b: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            a.mul_(2)
            return (b * w).sum()

        file = self.exported(write, both[:4], both[2:6], trained(4))  # one input then: the base of both
        self.assertEqual(file["writes"], [{"result": 0, "input": "primals_1"}])
        self.assertEqual(file["joint"][0]["val"]["shape"], [8])

    def test_complex_numbers(self) -> None:
        file = self.exported(lambda x: (x * (1 - 2j) + complex("inf")).abs().sum(), trained(4, 8))
        self.assertEqual(self.node(file["joint"], "aten.mul.Tensor")["args"][1], {"complex": [1.0, -2.0]})
        self.assertEqual(self.node(file["joint"], "aten.add.Tensor")["args"][1], {"complex": ["inf", 0.0]})

    def test_operators_of_the_users(self) -> None:
        file = self.exported(lambda x: (twice(x) * pair(x.detach())[1]).sum(), trained(4, 8))
        self.assertEqual(self.node(file["joint"], "recut_test.twice.default")["val"]["shape"], [4, 8])
        self.assertEqual(len(self.node(file["joint"], "recut_test.pair.default")["val"]), 2)

    def test_deterministic_algorithms_are_noted(self) -> None:
        self.assertNotIn("deterministic", self.exported(mlp(), torch.randn(5, 8)))
        torch.use_deterministic_algorithms(True)
        try:
            self.assertTrue(self.exported(mlp(), torch.randn(5, 8))["deterministic"])
        finally:
            torch.use_deterministic_algorithms(False)

    def test_flex_attention(self) -> None:
        from torch.nn.attention.flex_attention import flex_attention

        def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + (i - j)).sum()

        device = "cuda" if torch.cuda.is_available() else "cpu"
        q, k, v = (torch.randn(1, 2, 128, 16, device=device) for _ in range(3))
        forward = device == "cpu"  # PyTorch has no backward for it there
        file = self.exported(attend, *(x.requires_grad_(not forward) for x in (q, k, v)), forward=forward)
        nodes = file["forward" if forward else "joint"]
        options = self.node(nodes, "torch.ops.higher_order.flex_attention")["args"][6]
        self.assertIn("PRESCALE_QK", options["dict"])

    def test_what_cannot_be_written_is_named(self) -> None:
        from torch.testing._internal.two_tensor import TwoTensor

        x = TwoTensor(torch.randn(4, 8), torch.randn(4, 8)).requires_grad_()
        with self.assertRaisesRegex(recut_torch.RecutError, "can't be exported: .* is a gradient of"):
            self.exported(lambda x, w: (x @ w).sin(), x, trained(8, 2))

    def test_plans_refuse_them_as_before(self) -> None:
        for model, args, words in ((lambda x: (x * 2j).abs().sum(), (trained(4),), "argument of type complex"),
                                   (lambda p, x: torch.cond(p, lambda x: x.sin(), lambda x: x.cos(), (x,)).sum(),
                                    (torch.tensor(True), trained(4)), "no single operator")):
            torch._dynamo.reset()
            backend = recut_torch.backend(kernels="eager")
            with self.assertWarnsRegex(RuntimeWarning, words):
                torch.compile(model, backend=backend)(*args).backward()
            self.assertEqual([plan.planner for plan in backend.plans], ["pytorch"])

    def test_a_library_of_operators(self) -> None:
        class Layers(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(6))

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                for layer in self.layers:
                    x = twice(layer(x).tanh())
                    y, z = pair(x.detach())
                    x = x * y.sigmoid() + z
                return x.square().mean()

        model, x, found = Layers(), torch.randn(512, 64), []
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rules = pathlib.Path(folder) / "mine.rules"
            rules.write_text(RULES)
            backends = [recut_torch.backend(budget, kernels="eager", op_library=[path])
                        for budget in ("none", "70%", "50%") for path in (rules, folder)]
            for backend in ("eager", *backends):
                torch._dynamo.reset()
                model.zero_grad()
                loss = torch.compile(model, backend=backend)(x)
                loss.backward()
                found.append(torch.stack([loss.detach(), *(p.grad.norm() for p in model.parameters())]))
        self.assertEqual([(p.planner, p.reason) for b in backends for p in b.plans], [("recut", "")] * 6)
        self.assertGreater(backends[-1].plans[0].recompute_us, 0)
        for values in found[1:]:
            torch.testing.assert_close(values, found[0])

    def test_a_library_that_is_not_there_is_named(self) -> None:
        with self.assertRaisesRegex(recut_torch.RecutError, "recut_test.twice=nowhere.*can't be read"):
            recut_torch.backend(op_library=["recut_test.twice=nowhere"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
