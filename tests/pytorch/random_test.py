"""Random models, compiled by Inductor in the halves that recut_torch writes, against eager PyTorch: results,
which must still stand after backward, and gradients. No two values that are saved may share a storage, and
none that is made again be compared with its first run's maximum.
Skipped (77) without PyTorch or a GPU.

usage: random_test.py [--seeds 0:16] [--budgets none,60%,1] [--jobs 4]
"""

from __future__ import annotations

import argparse
import concurrent.futures
import copy
import multiprocessing
import pathlib
import random
import sys
import warnings
from typing import Any, Callable

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent.parent / "native" / "pytorch")]

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import recut_torch  # noqa: E402

BATCH, LENGTH, WIDTH, HEADS = 4, 32, 64, 4
# Of a gradient's norm: sums of f32 in another order. More where eager PyTorch itself is farther from f64.
TOLERANCE, OF_ITS_OWN = 1e-4, 10

Value = torch.Tensor
Step = Callable[[list[Value], nn.ParameterList], Value]


class Random(nn.Module):
    """Values of [BATCH, LENGTH, WIDTH], each made of earlier ones by a call that is drawn by lot. Gives a loss of
    the last ones, and some values as they are, among them views of what backward reads."""

    def __init__(self, seed: int, size: int = 24) -> None:
        super().__init__()
        self.weights = nn.ParameterList()
        draw = random.Random(seed)
        makers = [self._linear, self._point, self._pair, self._norm, self._attention, self._halves, self._image,
                  self._turned, self._spread, self._highest, self._perceptron]
        self.steps: list[Step] = []
        for i in range(size):
            self.steps.append(draw.choice(makers)(draw, i + 1))
        self.shown = [draw.randrange(size) for _ in range(2)]

    def _weight(self, *shape: int) -> int:
        self.weights.append(nn.Parameter(torch.randn(shape) / shape[-1] ** 0.5))
        return len(self.weights) - 1

    @staticmethod
    def _near(draw: random.Random, made: int) -> int:
        """An earlier value, mostly a late one."""
        return max(0, made - 1 - int(draw.expovariate(0.5)))

    def _linear(self, draw: random.Random, made: int) -> Step:
        a, w = self._near(draw, made), self._weight(WIDTH, WIDTH)
        return lambda values, weights: values[a] @ weights[w].t()

    def _point(self, draw: random.Random, made: int) -> Step:
        a = self._near(draw, made)
        function = draw.choice([F.relu, F.relu, F.gelu, F.silu, torch.tanh, torch.sigmoid, F.leaky_relu, F.softplus])
        return lambda values, weights: function(values[a])

    def _pair(self, draw: random.Random, made: int) -> Step:
        a, b = self._near(draw, made), self._near(draw, made)
        function = draw.choice([torch.add, torch.add, torch.mul, torch.sub, torch.maximum])
        return lambda values, weights: function(values[a], values[b])

    def _norm(self, draw: random.Random, made: int) -> Step:
        a, w = self._near(draw, made), self._weight(WIDTH)

        def step(values: list[Value], weights: nn.ParameterList) -> Value:
            x = values[a]
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-3) * (1 + weights[w])

        return draw.choice([step, lambda values, weights: F.layer_norm(values[a], (WIDTH,), weights[w])])

    def _attention(self, draw: random.Random, made: int) -> Step:
        a, w, fused = self._near(draw, made), self._weight(3 * WIDTH, WIDTH), draw.random() < 0.5

        def step(values: list[Value], weights: nn.ParameterList) -> Value:
            parts = (values[a] @ weights[w].t()).chunk(3, -1)
            q, k, v = (part.view(BATCH, LENGTH, HEADS, -1).transpose(1, 2) for part in parts)
            if fused:
                mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                mixed = torch.softmax(q @ k.transpose(-1, -2) / WIDTH**0.5, -1) @ v
            return values[a] + mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)

        return step

    def _halves(self, draw: random.Random, made: int) -> Step:
        a, w = self._near(draw, made), self._weight(2 * WIDTH, WIDTH)
        function = draw.choice([F.silu, F.relu, torch.sigmoid])

        def step(values: list[Value], weights: nn.ParameterList) -> Value:
            gate, value = (values[a] @ weights[w].t()).split(WIDTH, -1)
            return function(gate) * value

        return step

    def _perceptron(self, draw: random.Random, made: int) -> Step:
        a, w, v = self._near(draw, made), self._weight(4 * WIDTH, WIDTH), self._weight(WIDTH, 4 * WIDTH)
        function = draw.choice([F.relu, F.relu, F.gelu])
        return lambda values, weights: values[a] + function(values[a] @ weights[w].t()) @ weights[v].t()

    def _image(self, draw: random.Random, made: int) -> Step:
        a, w = self._near(draw, made), self._weight(WIDTH, WIDTH, 3)
        return lambda values, weights: F.relu(F.conv1d(values[a].transpose(1, 2), weights[w], padding=1)).transpose(1, 2)

    def _turned(self, draw: random.Random, made: int) -> Step:
        a, w = self._near(draw, made), self._weight(LENGTH, LENGTH)
        return lambda values, weights: (values[a].transpose(1, 2) @ weights[w]).transpose(1, 2)

    def _spread(self, draw: random.Random, made: int) -> Step:
        a, b, place = self._near(draw, made), self._near(draw, made), draw.randrange(LENGTH)
        return lambda values, weights: values[a] + values[b][:, place : place + 1].expand(-1, LENGTH, -1).tanh()

    def _highest(self, draw: random.Random, made: int) -> Step:
        a = self._near(draw, made)
        return lambda values, weights: values[a] - values[a].amax(1, keepdim=True)

    def forward(self, x: Value) -> tuple[Value, ...]:
        values = [x]
        for step in self.steps:
            # Keeps the numbers in range however the calls follow each other.
            made = step(values, self.weights)
            values.append(made if made.numel() == 0 else made / (1 + made.detach().abs().amax()))
        loss = sum((value - 0.1).square().mean() for value in values[-4:])
        return loss, *(values[i + 1].view(-1, WIDTH) for i in self.shown if values[i + 1].is_contiguous())


def step_of(model: Callable, module: Random, x: Value) -> tuple[list[Value], list[Value]]:
    """Results as they are after backward, and gradients; zeros where eager PyTorch gives none."""
    module.zero_grad(set_to_none=True)
    results = model(x)
    results[0].backward()
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in module.parameters()]
    return [r.detach().clone() for r in results], gradients


def distance(a: Value, b: Value) -> float:
    scale = max(b.norm().item(), 1e-30)
    return (a - b).norm().item() / scale


def saved_apart(halves: tuple[Any, Any], results: int) -> list[str]:
    """Saved values whose storages another one has."""
    (output,) = halves[0].graph.find_nodes(op="output")
    seen: dict[int, str] = {}
    faults = []
    for node in dict.fromkeys(output.args[0][results:]):
        key = node.meta["val"].untyped_storage()._cdata
        if key in seen:
            faults.append(f"{node.name} and {seen[key]} share a storage")
        seen.setdefault(key, node.name)
    return faults


def compared_apart(backward: torch.fx.GraphModule) -> list[str]:
    """Values that backward makes and compares with a maximum of what forward made: rounded another way, none
    equals it, and the gradient is 0 / 0."""
    faults = []
    for node in backward.graph.find_nodes(op="call_function", target=torch.ops.aten.eq.Tensor):
        for value, other in (node.args, node.args[::-1]):
            root = recut_torch._view_chain(other)[-1]
            if root.op == "placeholder" and root.name.startswith(("amax", "amin")) and value.op != "placeholder":
                faults.append(f"{value.name} is compared with {root.name}, which is forward's")
    return faults


def tolerances(narrow: list[Value], wide: list[Value]) -> list[float]:
    return [max(TOLERANCE, OF_ITS_OWN * distance(a.double(), b)) for a, b in zip(narrow, wide, strict=True)]


def run(seed: int, budgets: list[str]) -> list[str]:
    """Faults of one model."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(seed)
    module, x = Random(seed).cuda(), torch.randn(BATCH, LENGTH, WIDTH, device="cuda")
    results, gradients = step_of(module, module, x)
    wider = copy.deepcopy(module).double()
    allowed = list(map(tolerances, (results, gradients), step_of(wider, wider, x.double())))
    faults: list[str] = []
    emit = recut_torch._Emitter.emit

    def watched(emitter: Any) -> Any:
        halves = emit(emitter)
        apart = saved_apart(halves, len(emitter._joint.results)) + compared_apart(halves[1])
        faults.extend(f"{title}: {fault}" for fault in apart)
        return halves

    recut_torch._Emitter.emit = watched
    for budget in budgets:
        title = f"model {seed} at {budget}"
        torch._dynamo.reset()
        backend = recut_torch.backend(budget if budget != "1" else 1, kernels="inductor", effort=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got, found = step_of(torch.compile(module, backend=backend, dynamic=False), module, x)
        faults += [f"{title}: PyTorch planned it: {p.reason}" for p in backend.plans if p.planner != "recut"]
        for what, have, want, most in zip(("result", "gradient"), (got, found), (results, gradients), allowed):
            for i, (a, b) in enumerate(zip(have, want, strict=True)):
                if not (apart := distance(a, b)) <= most[i]:
                    faults.append(f"{title}: {what} {i} is {apart:.1e} of its norm away")
    recut_torch._Emitter.emit = emit
    return faults


def main() -> int:
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("--seeds", default="0:16")
    options.add_argument("--budgets", default="none,60%,1")
    options.add_argument("--jobs", type=int, default=4)
    wanted = options.parse_args()
    if not torch.cuda.is_available():
        print("skipped: no CUDA device")
        return 77
    seeds = range(*map(int, wanted.seeds.split(":")))
    budgets = wanted.budgets.split(",")
    faulty = 0
    with concurrent.futures.ProcessPoolExecutor(wanted.jobs, multiprocessing.get_context("spawn")) as pool:
        for seed, faults in zip(seeds, pool.map(run, seeds, [budgets] * len(seeds))):
            faulty += bool(faults)
            print(f"model {seed}: " + ("; ".join(faults) if faults else "the same"), flush=True)
    print(f"{len(seeds)} models at {', '.join(budgets)}: {faulty} differ")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
