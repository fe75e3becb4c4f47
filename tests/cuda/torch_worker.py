"""PyTorch's side of pytorch.py: a process of its own that runs one graph on the GPU as it is told."""

from __future__ import annotations

import ctypes
import gc
import json
import pathlib
import statistics
import struct
import sys
import time
import traceback
from typing import Any, BinaryIO, Callable, Iterator, Sequence

import torch

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "pytorch")]

import joint_graph  # noqa: E402
import joint_plans  # noqa: E402

DEVICE = "cuda"
NUDGE = 2.0**-18  # of a value, as recut run --check moves inputs: 32 roundings of f32
TRIES = 3  # of inputs that are moved so
TYPES = {torch.float32: "F32", torch.float64: "F64", torch.bfloat16: "BF16", torch.float16: "F16",
         torch.int64: "I64", torch.int32: "I32", torch.bool: "BOOL", torch.uint8: "U8"}
NAMED = {name: dtype for dtype, name in TYPES.items()}


def write_tensors(path: str, tensors: dict[str, torch.Tensor]) -> None:
    """As safetensors has them."""
    header, end = {}, 0
    for name in sorted(tensors):
        size = tensors[name].numel() * tensors[name].element_size()
        header[name] = {"dtype": TYPES[tensors[name].dtype], "shape": list(tensors[name].shape),
                        "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in header:
            write_bytes(file, tensors[name].detach().contiguous().cpu())


def write_bytes(file: BinaryIO, value: torch.Tensor) -> None:
    size = value.numel() * value.element_size()
    if size:
        file.write((ctypes.c_char * size).from_address(value.data_ptr()))


def read_tensors(path: str) -> Iterator[tuple[str, torch.Tensor]]:
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            file.seek(8 + length + begin)
            dtype, data = NAMED[entry["dtype"]], bytearray(file.read(end - begin))
            flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
            yield name, flat.reshape(entry["shape"])


def set_tf32(allowed: bool) -> None:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed


def distance(found: torch.Tensor, expected: torch.Tensor) -> float:
    """||found - expected|| / ||expected||; of integers the share that differs."""
    if not expected.dtype.is_floating_point:
        return (found.to(DEVICE) != expected.to(DEVICE)).double().mean().item() if expected.numel() else 0.0
    a, b = found.to(DEVICE).double(), expected.to(DEVICE).double()
    norm, error = b.norm().item(), (a - b).norm().item()
    return error / norm if norm > 0 else (0.0 if error == 0 else float("inf"))


class Worker:
    def __init__(self, path: str) -> None:
        self.file = joint_plans.load(path)
        self.inputs = joint_graph.inputs_of(self.file, DEVICE)
        self.names = [entry["name"] for entry in joint_graph.input_entries(self.file)]
        self.step: Callable[[], Any] = lambda: None

    # Values.
    def write_inputs(self, path: str) -> None:
        write_tensors(path, {f"in.{name}": value for name, value in zip(self.names, self.inputs, strict=True)})

    def reference(self) -> None:
        """The outputs without tf32; how far they move when inputs do in their last bits, and by tf32, in the farthest
        of some tries."""
        module = joint_graph.graph_of(self.file, DEVICE, boxed=True)

        def outputs(inputs: Sequence[torch.Tensor], tf32: bool) -> list[torch.Tensor | None]:
            set_tf32(tf32)
            with torch.no_grad():
                return [value if value is None else value.cpu() for value in module(list(inputs))]

        def moved(values: list[torch.Tensor | None]) -> list[float]:
            pairs = zip(values, self.expected, strict=True)
            return [0.0 if b is None else distance(a, b) for a, b in pairs]

        def nudged(seed: int) -> list[torch.Tensor]:
            torch.manual_seed(seed)
            return [value * (1 + NUDGE * (2 * torch.rand_like(value) - 1)) if value.dtype.is_floating_point else value
                    for value in self.inputs]

        def farthest(tries: Sequence[Sequence[torch.Tensor]], tf32: bool) -> list[float]:
            return [max(moves) for moves in zip(*(moved(outputs(inputs, tf32)) for inputs in tries), strict=True)]

        self.expected = outputs(self.inputs, False)
        tries = [nudged(seed) for seed in range(1, TRIES + 1)]
        self.movements, self.by_tf32 = farthest(tries, False), farthest([self.inputs, *tries], True)

    def compare(self, path: str) -> list[dict[str, Any]]:
        """Each of Recut's outputs beside PyTorch's."""
        rows = []
        for name, found in read_tensors(path):
            at = int(name.split(".")[1])
            expected = self.expected[at]
            if expected is None or found.shape != expected.shape:
                rows.append({"output": name, "error": float("inf"), "movement": 0.0, "by_tf32": 0.0})
                continue
            rows.append({"output": name, "error": distance(found, expected), "movement": self.movements[at],
                         "by_tf32": self.by_tf32[at]})
        missing = sum(value is not None for value in self.expected) - len(rows)
        rows += [{"output": "missing", "error": float("inf"), "movement": 0.0, "by_tf32": 0.0}] * missing
        return rows

    # Steps.
    def make_eager(self) -> float:
        module = joint_graph.graph_of(self.file, DEVICE, boxed=True)
        return self.take(lambda: module(list(self.inputs)))

    def make_compiled(self, tf32: bool) -> float:
        """All of it in one by Inductor, after the joint graph's passes as torch.compile runs them."""
        set_tf32(tf32)
        began = time.perf_counter()
        module = joint_graph.graph_of(self.file, DEVICE, joint_plans.PASSED)
        inputs = self.passed_inputs()
        run = joint_graph.inductor(module, inputs)
        return self.take(lambda: run(list(inputs)), began)

    def passed_inputs(self) -> list[torch.Tensor]:
        by_name = dict(zip(self.names, self.inputs, strict=True))
        return [by_name[entry["name"]] if entry["name"] in by_name else
                joint_graph.value_like(entry["val"]).to(DEVICE)
                for entry in joint_graph.input_entries(self.file, joint_plans.PASSED)]

    def make_halves(self, saved: list[str], kernels: str, tf32: bool) -> float:
        """Forward and backward as PyTorch's partition has them, each of which lets go of what it used."""
        set_tf32(tf32)
        began = time.perf_counter()
        key = joint_plans.PASSED
        entries = {entry["name"]: entry for entry in self.file[key][:-1]}
        plan = joint_plans.halves(self.file, saved)
        results, gradients = joint_plans.outputs_of(self.file, key)
        names = [entry["name"] for entry in joint_graph.input_entries(self.file, key)]
        values = dict(zip(names, self.passed_inputs(), strict=True))
        computed = [name for name in plan.saved if name not in values]
        made = set(plan.backward) | set(computed)
        read = {name for call in plan.backward for name in joint_plans.operands(entries[call])}
        read |= set(joint_plans.names_in(gradients))
        given = {"forward": [n for n in names if not joint_plans.is_tangent(n)],
                 "backward": [n for n in names if n in read and n not in made]}
        boxed = kernels == "eager"
        forward = joint_graph.module_of(entries, given["forward"], plan.forward,
                                        results + [{"node": name} for name in computed], DEVICE, boxed)
        backward = joint_graph.module_of(entries, given["backward"] + computed, plan.backward, gradients, DEVICE, boxed)
        first = [values[name] for name in given["forward"]]
        second = [values[name] for name in given["backward"]]
        if not boxed:
            forward = joint_graph.inductor(forward, first)
            with torch.no_grad():  # backward reads what is saved as forward really lays it out
                saved_values = list(forward(list(first)))[len(results):]
            backward = joint_graph.inductor(backward, second + saved_values, is_backward=True)
            del saved_values

        def step() -> Any:
            outputs = list(forward(list(first)))
            kept = second + outputs[len(results):]
            del outputs[len(results):]
            return outputs, backward(kept)

        return self.take(step, began)

    def take(self, step: Callable[[], Any], began: float | None = None) -> float:
        """From here on this is the step; seconds until it had run twice."""
        began = time.perf_counter() if began is None else began
        self.step = step
        for _ in range(2):
            self.once()
        torch.cuda.empty_cache()
        return time.perf_counter() - began

    def once(self) -> float:
        with torch.no_grad():
            began = time.perf_counter()
            outputs = self.step()
            torch.cuda.synchronize()
            took = time.perf_counter() - began
        del outputs
        return 1e3 * took

    def measure(self, steps: int, tf32: bool) -> list[float]:
        """Milliseconds of so many steps; what was free before is given back."""
        set_tf32(tf32)
        self.once()
        times = [self.once() for _ in range(steps)]
        torch.cuda.empty_cache()
        return times

    def peak(self) -> int:
        """Bytes that a step allocates beyond what was there before it: its results and gradients, too."""
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        self.once()
        return torch.cuda.max_memory_allocated() - before

    def figures(self, steps: int, tf32: bool) -> dict[str, Any]:
        set_tf32(tf32)
        peak = self.peak()
        return {"bytes": peak, "ms": statistics.median(self.measure(steps, tf32))}

    def gpu(self) -> str:
        return f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"


def serve(path: str, pipe: Any) -> None:
    """Answers calls of Worker's methods, ("name", arguments), until there are no more."""
    worker = None
    while True:
        try:
            asked = pipe.recv()
        except EOFError:
            return
        try:
            worker = worker or Worker(path)
            pipe.send(("done", getattr(worker, asked[0])(*asked[1])))
        except Exception as fault:  # noqa: BLE001: what one graph can't do is a line of the table
            print(traceback.format_exc(), file=sys.stderr)
            words = str(fault).splitlines()
            pipe.send(("fault", f"{type(fault).__name__}: {words[0][:110] if words else ''}"))
