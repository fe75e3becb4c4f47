#!/usr/bin/env python3
"""Adds gradients that PyTorch computes to the tensors of ONNX models: for NAME.onnx with the inputs in NAME.safetensors
(in.<input>) a tangent for each result that has one (in.tangents_1, …: drawn, the same every time) and the gradients of
every real input and weight (grad.<name>), in f64 from the model's own nodes by torch_operators.py. Results are compared
with onnxruntime's: those in the file (out.<n>, see reference.mjs), or, where there are none, those of Python's
onnxruntime, which are then added to the file.

usage: gradients.py [--recut PROGRAM] MODEL.onnx …

With --recut each model is differentiated and evaluated by that program, all results and gradients checked by it.
Needs torch, onnx and numpy (Debian's python3-torch and python3-onnx do), and onnxruntime where a file has no results.
Exit code 1 where anything differs.
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import torch

import torch_layers  # noqa: F401  (adds its operators)
from torch_operators import OPERATORS, REAL, Node, tensor_of

KINDS = {"F32": np.float32, "F64": np.float64, "I64": np.int64, "I32": np.int32, "BOOL": np.bool_}
NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}

# Floating initializers that are settings or statistics, which no gradient trains: operator and input.
SETTINGS = {("OneHot", 2), ("Resize", 1), ("Resize", 2), ("BatchNormalization", 3), ("BatchNormalization", 4)}


def read_tensors(path: pathlib.Path) -> dict:
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(data[8 + size + begin:8 + size + end], KINDS[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def write_tensors(path: pathlib.Path, tensors: dict) -> None:
    header, parts, at = {}, [], 0
    for name, values in tensors.items():
        raw = np.ascontiguousarray(values).tobytes()
        header[name] = {"dtype": NAMES[values.dtype], "shape": list(values.shape), "data_offsets": [at, at + len(raw)]}
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def run_by_torch(model, feeds: dict) -> tuple:
    """The results, and the leaves that gradients belong to: real inputs and weights by name."""
    graph = model.graph
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    settings = {n.input[i] for n in graph.node for i in range(len(n.input)) if (n.op_type, i) in SETTINGS}
    values, leaves = {"": None}, {}
    for proto in graph.initializer:
        values[proto.name] = tensor_of(proto)
    for name, fed in feeds.items():
        values[name] = torch.from_numpy(np.array(fed))
    for name, value in list(values.items()):
        if value is not None and value.is_floating_point() and name not in settings:
            values[name] = leaves[name] = value.to(REAL).requires_grad_()
    for proto in graph.node:
        found = OPERATORS[proto.op_type](Node(proto, opset, [values[name] for name in proto.input]))
        found = found if isinstance(found, tuple) else (found,)
        values.update(zip(proto.output, found))
    return [values[output.name] for output in graph.output], leaves


def run_by_onnxruntime(path: pathlib.Path, feeds: dict) -> list:
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """1 and less: within ‖a−b‖ ≤ 1e-5·‖b‖ + 1e-6·√n, as engine/eval/compare.h has it; integers have to be equal."""
    if found.shape != expected.shape:
        return float("inf")
    if expected.dtype.kind in "bi":
        return 0.0 if np.array_equal(found, expected) else float("inf")
    a, b = found.astype(np.float64), expected.astype(np.float64)
    bound = 1e-5 * np.linalg.norm(b) + 1e-6 * np.sqrt(b.size)
    return float(np.linalg.norm(a - b) / bound) if b.size else 0.0


def gradients(results: list, leaves: dict) -> dict:
    """Tangents and gradients. What no result depends on has none."""
    active = [r for r in results if r.requires_grad and r.is_floating_point()]
    random = np.random.default_rng(11)
    tangents = [random.standard_normal(tuple(r.shape)).astype(np.float32) for r in active]
    found = torch.autograd.grad(active, list(leaves.values()), [torch.from_numpy(t).to(REAL) for t in tangents],
                                allow_unused=True)
    added = {f"in.tangents_{i + 1}": tangent for i, tangent in enumerate(tangents)}
    for name, gradient in zip(leaves, found):
        if gradient is not None:
            added[f"grad.{name}"] = gradient.numpy().astype(np.float32)
    return added


def treat(path: pathlib.Path) -> bool:
    model, tensors_path = onnx.load(str(path)), path.with_suffix(".safetensors")
    tensors = read_tensors(tensors_path)
    feeds = {name[3:]: values for name, values in tensors.items() if name.startswith("in.") and not
             name.startswith("in.tangents_")}
    kept = {name: values for name, values in tensors.items() if name.startswith("out.") or name[3:] in feeds}
    if not any(name.startswith("out.") for name in kept):
        kept.update({f"out.{i}": np.asarray(r) for i, r in enumerate(run_by_onnxruntime(path, feeds))})
    results, leaves = run_by_torch(model, feeds)
    worst = max(difference(r.detach().numpy(), kept[f"out.{i}"]) for i, r in enumerate(results))
    added = gradients(results, leaves)
    write_tensors(tensors_path, {**kept, **added})
    count = sum(name.startswith("grad.") for name in added)
    print(f"{path.stem}: {len(results)} results, at most {worst:.2g} of the bound from onnxruntime's; {count} gradients")
    return worst <= 1


def check_by_recut(recut: str, path: pathlib.Path) -> bool:
    """`recut grad`, then `recut eval --check` of the joint graph."""
    sizes = {}
    feeds = read_tensors(path.with_suffix(".safetensors"))
    for value in onnx.load(str(path)).graph.input:
        for i, dimension in enumerate(value.type.tensor_type.shape.dim):
            if dimension.dim_param:
                sizes[dimension.dim_param] = feeds["in." + value.name].shape[i]
    dimensions = [word for name, size in sizes.items() for word in ("--dim", f"{name}={size}")]
    with tempfile.TemporaryDirectory() as folder:
        joint, weights = folder + "/joint.recut", folder + "/weights.safetensors"
        made = subprocess.run([recut, "grad", str(path), "--wrt", "*", "--out", joint, "--out-tensors", weights, *dimensions],
                              capture_output=True, text=True)
        if made.returncode != 0:
            print(f"{path.stem}: recut grad: {made.stderr}")
            return False
        ran = subprocess.run([recut, "eval", joint, "--no-passes", "--check", "--json", "--tensors",
                              str(path.with_suffix(".safetensors")), "--tensors", weights], capture_output=True, text=True)
    if not ran.stdout:
        print(f"{path.stem}: recut eval: {ran.stderr}")
        return False
    report = json.loads(ran.stdout)
    checked = [o for o in report["outputs"] if "unchecked" not in o]
    kinds = [sum(o["gradient"] is kind for o in checked) for kind in (False, True)]
    worst = max(o["error"] / o["bound"] if o["bound"] else o["error"] for o in checked)
    print(f"{path.stem}: Recut: {kinds[0]} results and {kinds[1]} gradients checked in {report['seconds']:.1f} s, at most "
          f"{worst:.2g} of the bound from onnxruntime's and PyTorch's")
    for output in report["outputs"]:
        if not output["ok"]:
            print(f"  {output['name']}: {output.get('problem', output.get('unchecked'))}")
    return report["ok"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recut", help="a recut program that checks its own results and gradients against these")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    good = True
    for path in arguments.models:
        good = treat(path) and good
        if arguments.recut:
            good = check_by_recut(arguments.recut, path) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
