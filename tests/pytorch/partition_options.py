"""Asks PyTorch 2.11's partitioner for its choices under every option that strategy torch has, and keeps them as data
for tests/partition/torch_options_test.cpp. Needs PyTorch and a CUDA device.

usage: partition_options.py OUT [MODEL]

OUT/MODEL.json.gz is a joint graph file (fx-joint-graph) whose `partitions` have `options` beside the budget, and
whose calls have the time that estimator `profile` measured. OUT/knapsacks.json.gz has instances with the choices of
PyTorch's solvers. Without MODEL, one process makes each file.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import gzip
import json
import pathlib
import random
import subprocess
import sys
from typing import Any, Iterator, Sequence

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent.parent / "native" / "pytorch")]

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)
from torch import nn  # noqa: E402
from torch._functorch import partitioners  # noqa: E402
from torch._functorch._activation_checkpointing import knapsack  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import recut_torch  # noqa: E402

BANS = tuple(f"ban_recompute_{ban}" for ban in ("used_far_apart", "long_fusible_chains", "materialized_backward",
                                                "not_in_allowlist", "reductions"))
SOLVER, ESTIMATOR = "activation_memory_budget_solver", "activation_memory_budget_runtime_estimator"
SOLVERS = ("dp", "greedy", "ilp", "dp_knapsack_sliding_hirschberg")
WHOLE = (1.0, 0.9, 0.75, 0.5, 0.35, 0.2, 0.1, 0.0)
INNER = (0.9, 0.75, 0.6, 0.5, 0.35, 0.2, 0.1, 0.03)
MIXED = (1.0, 0.9, 0.5, 0.2)

# Options and the budgets that they are asked at. `recomputable` and `not_recomputable` are lists of operators.
CASES: list[tuple[dict[str, Any], Sequence[float]]] = [
    ({}, WHOLE),
    *(({ban: False}, MIXED) for ban in BANS),
    *(({ban: True} | {other: False for other in BANS if other != ban}, MIXED) for ban in BANS),
    ({ban: False for ban in BANS}, MIXED),
    ({"aggressive_recomputation": True}, MIXED),
    ({"aggressive_recomputation": True, "ban_recompute_reductions": False}, MIXED),
    *(({SOLVER: solver}, INNER) for solver in SOLVERS[1:]),
    *(({SOLVER: solver, ESTIMATOR: "testing"}, INNER) for solver in SOLVERS),
    ({"recomputable": ["aten.mm", "aten.bmm", "aten.convolution"]}, MIXED),
    ({"not_recomputable": ["aten.mul", "aten.tanh", "aten.relu", "aten.sigmoid"]}, MIXED),
    ({"not_recomputable": ["aten.expand", "aten.sum", "aten.view"], "recomputable": ["aten.cat"]}, MIXED),
    ({"recomputable": ["aten.addmm"], SOLVER: "greedy", "ban_recompute_reductions": False}, MIXED),
    *(({SOLVER: solver, ESTIMATOR: "profile"}, INNER) for solver in SOLVERS),
]


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        widths = (96, 160, 64, 224, 128, 32)
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.norm = nn.LayerNorm(64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i, layer in enumerate(self.layers):
            x = layer(x)
            x = self.norm(x) if i == 1 else x
            x = F.gelu(x, approximate="tanh") if i % 2 else torch.relu(x)
        return x.square().mean()


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, kind: str) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.kind = heads, kind

    def forward(self, x: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        if self.kind == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
            scores = scores.masked_fill(hidden, float("-inf")).softmax(-1)
            y = F.dropout(scores, 0.1) @ v if self.kind == "dropout" else scores @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, kind: str) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, kind)
        self.up, self.down, self.kind = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), kind

    def forward(self, x: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x), hidden)
        y = self.down(F.gelu(self.up(self.second(x)), approximate="none" if self.kind == "sdpa" else "tanh"))
        return x + (F.dropout(y, 0.1) if self.kind == "dropout" else y)


class Transformer(nn.Module):
    def __init__(self, width: int, heads: int, layers: int, kind: str) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads, kind) for _ in range(layers))
        self.head = nn.Linear(width, 3 * width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = ~torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        for block in self.blocks:
            x = block(x, hidden)
        return self.head(x).square().mean()


class Gated(nn.Module):
    """RMS norms, gates, and halves that are turned and put together, as language models have them."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.ParameterList(nn.Parameter(torch.ones(64)) for _ in range(2))
        self.gate, self.up, self.down = (nn.Linear(a, b, bias=False) for a, b in ((64, 176), (64, 176), (176, 64)))
        self.q, self.k, self.v = (nn.Linear(64, 64, bias=False) for _ in range(3))

    def forward(self, x: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
        def norm(y: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
            return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6) * scale

        def turn(y: torch.Tensor) -> torch.Tensor:
            a, b = y.chunk(2, -1)
            return y * angle.cos() + torch.cat((-b, a), -1) * angle.sin()

        y = norm(x, self.scale[0])
        scores = (turn(self.q(y)) @ turn(self.k(y)).transpose(-1, -2) * 0.125).softmax(-1)
        x = x + scores @ self.v(y)
        y = norm(x, self.scale[1])
        return (x + self.down(F.silu(self.gate(y)) * self.up(y))).square().sum()


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.a, self.b = nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.c, self.d = nn.Conv2d(16, 32, 3, 2, 1, bias=False), nn.Conv2d(32, 32, 3, padding=1, bias=False)
        self.short = nn.Conv2d(16, 32, 1, 2, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(n) for n in (16, 16, 16, 32, 32, 32))
        self.head = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = self.norms
        x = F.max_pool2d(n[0](self.stem(x)).relu(), 2)
        x = (x + n[2](self.b(n[1](self.a(x)).relu()))).relu()
        x = (n[5](self.short(x)) + n[4](self.d(n[3](self.c(x)).relu()))).relu()
        return self.head(x.mean((2, 3))).square().mean()


class Chain(nn.Module):
    """A hundred and more cheap calls in a row, and values that are used on both sides of a product."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(48, 48, bias=False), nn.Linear(48, 80, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        early = torch.tanh(x)
        for i in range(60):
            x = torch.sin(x) * (1 + i / 64)
        y = self.first(early + x)
        late = torch.sigmoid(early) * y.exp() + torch.cos(x)
        for i in range(20):
            late = torch.atan(late) + y / (i + 2)
        z = self.second(late)
        return (z.amax(-1) * z.sum(-1)).tanh().mean() + (late.sum(0) * early.sum(0)).sum()


class Cells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.x, self.h, self.out = nn.Linear(24, 160), nn.Linear(40, 160), nn.Linear(40, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = x.new_zeros(x.shape[1], 40)
        for step in x:
            i, f, g, o = (self.x(step) + self.h(h)).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.out(h).square().mean()


MODELS = {
    "perceptron": lambda: (Perceptron(), (torch.randn(40, 96),)),
    "gpt": lambda: (Transformer(48, 4, 2, "plain"), (torch.randn(2, 40, 48),)),
    "sdpa": lambda: (Transformer(64, 4, 2, "sdpa"), (torch.randn(2, 64, 64),)),
    "dropout": lambda: (Transformer(32, 2, 1, "dropout"), (torch.randn(4, 24, 32),)),
    "gated": lambda: (Gated(), (torch.randn(3, 32, 64), torch.randn(32, 64))),
    "residual": lambda: (Residual(), (torch.randn(4, 3, 24, 24),)),
    "chain": lambda: (Chain(), (torch.randn(56, 48),)),
    "cells": lambda: (Cells(), (torch.randn(5, 12, 24),)),
}


@contextlib.contextmanager
def operators(more: Sequence[str], less: Sequence[str]) -> Iterator[None]:
    """The allowlist with these packets and without those."""
    usual = partitioners.get_default_op_list

    def packets(names: Sequence[str]) -> set[Any]:
        return {getattr(torch.ops.aten, name.split(".", 1)[1]) for name in names}

    def changed() -> Any:
        found = usual()
        left = type(found.recomputable_ops)(
            [op for op in found.recomputable_ops if op not in packets(less)] + list(packets(more)))
        return dataclasses.replace(found, recomputable_ops=left, fusible_ops=left | found.random_ops)

    partitioners.get_default_op_list = changed
    try:
        yield
    finally:
        partitioners.get_default_op_list = usual


class Writer(recut_torch._Writer):
    """Writes the joint graph after the passes, with PyTorch's choice for every case."""

    def _partitions(self, module: Any, inputs: Sequence[Any], num_results: int) -> dict[str, Any]:
        from torch._inductor.compile_fx import _recursive_joint_graph_passes
        from torch._inductor.virtualized import V

        with V.set_fake_mode(torch._guards.detect_fake_mode([node.meta.get("val") for node in module.graph.nodes])):
            changed = _recursive_joint_graph_passes(copy.deepcopy(module), skip_invoke_subgraph=True)
        joint = recut_torch._read_joint(changed, num_results)
        gradients = joint.outputs[num_results:]
        parameters = [i for i, gradient in enumerate(gradients) if gradient is not None]
        times: dict[str, float] = {}
        usual = partitioners.estimate_runtime

        def estimate(node: Any) -> float:  # one measurement a call serves all budgets
            if getattr(torch._functorch.config, ESTIMATOR) != "profile":
                return usual(node)
            if node.name not in times:
                times[node.name] = usual(node)
            return times[node.name]

        partitioners.estimate_runtime = estimate
        found = []
        for options, budgets in CASES:
            lists = {key: options[key] for key in ("recomputable", "not_recomputable") if key in options}
            settings = {key: value for key, value in options.items() if key not in lists}
            for budget in budgets:
                try:
                    with torch._functorch.config.patch(activation_memory_budget=budget, **settings), \
                            operators(lists.get("recomputable", ()), lists.get("not_recomputable", ())):
                        forward, backward = partitioners.min_cut_rematerialization_partition(
                            copy.deepcopy(changed), inputs, num_fwd_outputs=num_results, compiler="inductor",
                            static_lifetime_input_indices=parameters)
                except Exception as why:  # noqa: BLE001: of the partitioner, whatever it is
                    print(self._name, options, budget, repr(why)[:300], flush=True)
                    continue
                saved = recut_torch._partition_names(changed, forward, backward)["saved"]
                found.append({"budget": budget, "options": options, "saved": saved})
        nodes = recut_torch._graph_nodes(joint, {n: {"us": 1e3 * times[n.name]} for n in joint.calls()
                                                 if n.name in times})
        return {"joint_after_passes": nodes, "partitions": found}

    def _write(self, file: dict[str, Any]) -> None:
        del file["joint"]
        super()._write(file | {"measured_on": file["device"]})


def write_model(name: str, out: pathlib.Path) -> None:
    torch.manual_seed(0)
    model, batch = MODELS[name]()
    model, batch = model.cuda(), tuple(value.cuda() for value in batch)
    recut_torch._Writer = Writer
    recut_torch.export(model, batch, out / f"{name}.json.gz", name=name, partitions=(1.0,))


def write_knapsacks(out: pathlib.Path) -> None:
    solvers = dict(zip(SOLVERS, (knapsack.dp_knapsack, knapsack.greedy_knapsack, knapsack.ilp_knapsack,
                                 knapsack.dp_knapsack_sliding_hirschberg)))
    draw, cases = random.Random(7), []
    for case in range(120):
        n = draw.choice((1, 2, 3, 5, 8, 13, 21, 34))
        sizes = [draw.choice((1, 2, 3, 4, 6, 96, 256, 1000)) * draw.choice((4, 64, 1024)) for _ in range(n)]
        kind = case % 4
        values = [1 if kind == 0 else draw.randint(1, 9) if kind == 1 else draw.random() if kind == 2
                  else 2 * size * draw.choice((64, 64, 256)) for size in sizes]
        whole = sum(sizes) * draw.choice((1, 1, 0.5, 2))
        memory, capacity = [size / 1e9 / (whole / 1e9) for size in sizes], draw.choice((0.1, 0.25, 0.5, 0.8, 1.0))
        found = {}
        for name, solver in solvers.items():
            value, saved, _ = solver(memory, values, capacity)
            found[name] = {"value": float(value), "saved": sorted(saved)}
        cases.append({"memory": memory, "runtimes": values, "capacity": capacity, "found": found})
    (out / "knapsacks.json.gz").write_bytes(gzip.compress(json.dumps(cases, separators=(",", ":")).encode(), mtime=0))


def main() -> int:
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 2:
        (write_knapsacks if sys.argv[2] == "knapsacks" else lambda o: write_model(sys.argv[2], o))(out)
        return 0
    if not torch.cuda.is_available():
        print("skipped: no CUDA device")
        return 77
    made = [subprocess.Popen([sys.executable, __file__, str(out), name]) for name in (*MODELS, "knapsacks")]
    return max(process.wait() for process in made)


if __name__ == "__main__":
    sys.exit(main())
