#!/usr/bin/env python3
"""Writes PyTorch's operator samples as cases: pairs of OPERATOR-DTYPE-K.json and .safetensors.

usage: tests/conformance/make_samples.py FOLDER [--names FILE] [--jobs N]

OpInfo, PyTorch's table of its operators, has samples of each: odd shapes, no elements, no dimensions, broadcasting,
negative dimensions. Case K is the sample at position K that it has for a dtype. AOTAutograd traces it with Inductor's
decompositions, forward and backward where PyTorch has a gradient; recut_torch writes that graph, and PyTorch's own
values on a processor stand beside it. Each case is seeded by its name, so that a case alone is the case among all.

Written are four samples of each operator in float32, evenly spread, and one in every other dtype that it takes. Those
of --names (a name a line, any suffix) are written instead. Left out, with the reason, is a case whose values change
from run to run (random numbers, memory that nothing was written to), that is large, or that can't be traced.

Needs PyTorch 2.11 with NumPy.
"""
from __future__ import annotations

import argparse
import collections
import functools
import importlib.util
import json
import logging
import multiprocessing
import pathlib
import random
import signal
import struct
import sys
import types
import unittest
import warnings
import zlib
from typing import Any, Callable, Iterable, Iterator, Sequence

import torch
import torch._inductor.lowering  # noqa: F401: decompositions ask it
from torch import fx
from torch._functorch.aot_autograd import aot_function
from torch._inductor.decomposition import select_decomp_table
from torch.utils import _pytree as pytree

if importlib.util.find_spec("expecttest") is None:  # PyTorch's tests need it, their samples don't
    sys.modules["expecttest"] = types.ModuleType("expecttest")
    sys.modules["expecttest"].TestCase = unittest.TestCase
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "native/pytorch"))
import recut_torch  # noqa: E402

# What safetensors calls a dtype.
DTYPES = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16",
          torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8",
          torch.bool: "BOOL", torch.complex64: "C64", torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2"}
SAMPLES_OF_FLOAT32 = 4
MOST_BYTES = 32 << 10  # of a case's tensors, and of its graph
MOST_SECONDS = 20
ROUNDS = 8  # that have to give the same values


class LeftOut(Exception):
    """Why there is no such case."""


class Traced(Exception):
    """Ends a compilation where the graph is there; nothing of it needs to be compiled."""

    def __init__(self, joint: recut_torch._Joint) -> None:
        super().__init__("traced")
        self.joint = joint


def operator_name(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def seed(name: str) -> int:
    """Of all generators that samples draw from."""
    number = zlib.crc32(name.encode())
    torch.manual_seed(number)
    random.seed(number)
    return number


def positions(family: str, dtype: torch.dtype, count: int) -> list[int]:
    """Which of `count` samples are written. Beside float32 the one by the name, so that all kinds come up."""
    if dtype is not torch.float32:
        return [zlib.crc32(family.encode()) % count] if count else []
    return list(range(0, count, max(1, count // SAMPLES_OF_FLOAT32)))[:SAMPLES_OF_FLOAT32]


def flat_call(op: Any, sample: Any) -> tuple[Callable, list[torch.Tensor]]:
    """The sample as a function of tensors alone, and these tensors."""
    leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    if any(leaves[i].layout is not torch.strided for i in at):
        raise LeftOut("a tensor isn't strided")

    def call(*tensors: torch.Tensor) -> list[torch.Tensor]:
        given = list(leaves)
        for i, tensor in zip(at, tensors, strict=True):
            given[i] = tensor
        first, args, kwargs = pytree.tree_unflatten(given, spec)
        # What makes eigenvectors and the like unique, as OpInfo's own tests of gradients do.
        found = sample.output_process_fn_grad(op(first, *args, **kwargs))
        return [leaf for leaf in pytree.tree_leaves(found) if isinstance(leaf, torch.Tensor)]

    return call, [leaves[i] for i in at]


def stop_at_joint(module: fx.GraphModule, _inputs: Any, *, num_fwd_outputs: int, **_rest: Any) -> None:
    module.graph.eliminate_dead_code()
    raise Traced(recut_torch._read_joint(module, num_fwd_outputs))


def stop_at_forward(module: fx.GraphModule, _inputs: Any) -> None:
    module.graph.eliminate_dead_code()
    raise Traced(recut_torch._read_forward(module))


def trace(call: Callable, tensors: Sequence[torch.Tensor]) -> recut_torch._Joint:
    traced = aot_function(call, fw_compiler=stop_at_forward, inference_compiler=stop_at_forward,
                          partition_fn=stop_at_joint, decompositions=select_decomp_table())
    try:
        traced(*tensors)
    except Traced as found:
        joint = found.joint
    else:
        raise LeftOut("nothing was traced")
    if joint.copies or len(joint.primals) != len(tensors):
        raise LeftOut("an input is written to, or given twice")
    for node, tensor in zip(joint.primals, tensors, strict=True):
        if (node.meta["val"].shape, node.meta["val"].dtype) != (tensor.shape, tensor.dtype):
            raise LeftOut("an input isn't as it was given")
    return joint


def tangent_like(value: torch.Tensor) -> torch.Tensor:
    """Random in [0.5, 1.5): away from zero, where products would say nothing."""
    drawn = (torch.rand(value.shape) + 0.5).to(value.dtype)
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(drawn)


def run(joint: recut_torch._Joint, inputs: Sequence[torch.Tensor]) -> list[Any]:
    with torch.no_grad():
        given = [tensor.detach().clone() for tensor in inputs]
        found = fx.Interpreter(joint.module).run(*given, enable_io_processing=False)
    return list(pytree.tree_leaves(found, is_leaf=lambda leaf: leaf is None))


def repeatable(joint: recut_torch._Joint, inputs: Sequence[torch.Tensor], number: int) -> list[Any]:
    """The outputs, where they are the same from other random numbers and in memory that holds other bytes."""
    outputs = run(joint, inputs)
    torch.use_deterministic_algorithms(True, warn_only=True)  # fills memory that is handed out
    try:
        for round_ in range(ROUNDS):
            torch.manual_seed(number + round_)
            for one, other in zip(outputs, run(joint, inputs), strict=True):
                if one is not None and bytes_of(one) != bytes_of(other):
                    raise LeftOut("the values change from run to run")
    finally:
        torch.use_deterministic_algorithms(False)
    return outputs


def bytes_of(tensor: torch.Tensor) -> bytes:
    plain = torch.empty(tensor.numel(), dtype=tensor.dtype).copy_(tensor.detach().reshape(-1))
    if plain.dtype.is_complex:
        plain = torch.view_as_real(plain).reshape(-1)
    return plain.view(torch.uint8).numpy().tobytes()


def named_values(joint: recut_torch._Joint, inputs: Sequence[torch.Tensor],
                 outputs: Sequence[Any]) -> dict[str, torch.Tensor]:
    names = recut_torch._node_names(joint)
    given = [names[node] for node in (*joint.primals, *joint.tangents)]
    values = {f"in.{name}": tensor for name, tensor in zip(given, inputs, strict=True)}
    for node in joint.module.graph.find_nodes(op="get_attr"):
        values[f"in.{names[node]}"] = functools.reduce(getattr, node.target.split("."), joint.module)
    return values | {f"out.{i}": value for i, value in enumerate(outputs) if value is not None}


def safetensors(values: dict[str, torch.Tensor]) -> bytes:
    header: dict[str, Any] = {}
    data = b""
    for name, tensor in values.items():
        if tensor.dtype not in DTYPES:
            raise LeftOut(f"a tensor is {dtype_name(tensor.dtype)}")
        own = bytes_of(tensor)
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(own)]}
        data += own
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def numbered(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with sequence numbers from 0: PyTorch counts on through a process's cases."""
    found = sorted({node["seq_nr"] for node in nodes if "seq_nr" in node})
    ranks = {number: rank for rank, number in enumerate(found)}
    return [node | ({"seq_nr": ranks[node["seq_nr"]]} if "seq_nr" in node else {}) for node in nodes]


def graph_text(joint: recut_torch._Joint, name: str, operator: str) -> bytes:
    nodes = numbered(recut_torch._graph_nodes(joint))
    file = recut_torch._file_json(joint, name, nodes, operator=operator)
    return json.dumps(file, separators=(",", ":")).encode()


def write_case(folder: pathlib.Path, name: str, op: Any, sample: Any) -> None:
    call, tensors = flat_call(op, sample)
    joint = trace(call, tensors)
    number = seed(name)
    tangents = [tangent_like(node.meta["val"]) for node in joint.tangents]
    inputs = [*(tensor.detach() for tensor in tensors), *tangents]
    values = safetensors(named_values(joint, inputs, repeatable(joint, inputs, number)))
    text = graph_text(joint, name, operator_name(op))
    if max(len(values), len(text)) > MOST_BYTES:
        raise LeftOut("it is large")
    (folder / f"{name}.json").write_bytes(text)
    (folder / f"{name}.safetensors").write_bytes(values)


def samples_of(op: Any, dtype: torch.dtype, family: str) -> list[Any]:
    seed(family)
    return list(op.sample_inputs("cpu", dtype, requires_grad=dtype in op.supported_backward_dtypes("cpu")))


def reason(error: BaseException) -> str:
    """The same for all cases that fail alike: without the numbers and names of one of them."""
    if isinstance(error, LeftOut):
        return str(error)
    words = str(error).splitlines()[:1]
    return f"{type(error).__name__}: {words[0][:100] if words else ''}"


def out_of_time(_signal: int, _frame: Any) -> None:
    raise LeftOut(f"it takes more than {MOST_SECONDS} s")


def work(job: tuple[pathlib.Path, int, torch.dtype, frozenset[str]]) -> list[tuple[str, str]]:
    """All cases of an operator in a dtype: (name, why it was left out or "")."""
    folder, at, dtype, wanted = job
    op = op_db[at]
    family = f"{operator_name(op)}-{dtype_name(dtype)}"
    signal.signal(signal.SIGALRM, out_of_time)
    done = []

    def attempt(name: str, step: Callable[[], Any]) -> Any:
        signal.alarm(MOST_SECONDS)
        try:
            return step()
        except Exception as error:  # whatever PyTorch has against a sample
            done.append((name, reason(error)))
            return None
        finally:
            signal.alarm(0)

    samples = attempt(family, lambda: samples_of(op, dtype, family)) or []
    every = range(len(samples)) if wanted else positions(family, dtype, len(samples))
    for k in every:
        name = f"{family}-{k}"
        if wanted and name not in wanted:
            continue
        before = len(done)
        attempt(name, lambda k=k, name=name: write_case(folder, name, op, samples[k]))
        if len(done) == before:
            done.append((name, ""))
    return done


def begin() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)  # what can't be traced is in the report


def jobs_of(folder: pathlib.Path, wanted: frozenset[str]) -> Iterator[tuple]:
    families = {name.rsplit("-", 1)[0] for name in wanted}
    for dtype in DTYPES:
        for at, op in enumerate(op_db):
            if dtype not in op.supported_dtypes("cpu"):
                continue
            if not wanted or f"{operator_name(op)}-{dtype_name(dtype)}" in families:
                yield folder, at, dtype, wanted


def report(done: Iterable[tuple[str, str]], log: pathlib.Path) -> None:
    done = sorted(done)
    log.write_text("".join(f"{name}: {why}\n" for name, why in done if why))
    print(f"{sum(not why for _, why in done)} cases; left out:")
    for why, count in collections.Counter(why for _, why in done if why).most_common(40):
        print(f"{count:6}  {why}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--names", type=pathlib.Path, help="a file with the cases to write, one a line")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    names = options.names.read_text().split() if options.names else []
    wanted = frozenset(pathlib.PurePath(name).name.removesuffix(".json") for name in names)
    jobs = list(jobs_of(options.folder, wanted))
    with multiprocessing.get_context("fork").Pool(options.jobs, begin) as pool:
        found = [case for cases in pool.imap_unordered(work, jobs, chunksize=1) for case in cases]
    report(found, options.folder / "left_out.log")
    return 0 if any(not why for _, why in found) else 1


if __name__ == "__main__":
    sys.exit(main())
