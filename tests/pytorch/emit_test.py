"""The graphs that recut_torch writes for a plan peak where the plan says, run as Python runs them:
a value goes after its last reader, an input that nobody reads stays. No two values that they save
share a storage. Needs no PyTorch.

usage: emit_test.py FILE.json.gz...     RECUT_LIBRARY: librecut.so
"""

from __future__ import annotations

import gzip
import json
import operator
import pathlib
import sys
import types
from typing import Any

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent.parent / "native" / "pytorch")]

import stand_in  # noqa: E402

stand_in.install()
import recut_torch  # noqa: E402

SIZES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "bfloat16": 2, "float16": 2, "bool": 1, "int8": 1,
         "uint8": 1}


def joint_of(file: dict[str, Any]) -> recut_torch._Joint:
    made: dict[str, stand_in.Node] = {}

    def decode(argument: Any) -> Any:
        if isinstance(argument, dict):
            return made[argument["node"]] if "node" in argument else argument
        return [decode(item) for item in argument] if isinstance(argument, list) else argument

    for entry in file["joint"][:-1]:
        target = operator.getitem if entry["target"] == "getitem" else stand_in.OpOverload(entry["target"])
        kwargs = {key: decode(value) for key, value in entry.get("kwargs", {}).items()}
        node = stand_in.Node(entry["name"], entry["op"], target, tuple(map(decode, entry["args"])), kwargs)
        value = entry["val"]
        several = isinstance(value, list)
        node.meta["val"] = [stand_in.Tensor(v) for v in value] if several else stand_in.Tensor(value)
        node.meta["workspace"] = entry.get("measured", {}).get("workspace_bytes", 0)
        for operand in node.all_input_nodes:
            operand.users[node] = None
        made[entry["name"]] = node
    outputs = decode(file["joint"][-1]["args"][0])
    inputs = [n for n in made.values() if n.op == "placeholder"]
    module = types.SimpleNamespace(graph=types.SimpleNamespace(nodes=list(made.values())))
    return recut_torch._Joint(module, [n for n in inputs if n.name.startswith("primals")],
                              [n for n in inputs if n.name.startswith("tangents")], outputs, [None] * len(outputs),
                              file["num_fwd_outputs"], [])


class Memory:
    """Storages and who holds them."""

    def __init__(self) -> None:
        self.bytes: list[int] = []
        self.holders: dict[int, int] = {}
        self.behind: dict[stand_in.Node, list[int]] = {}

    def run(self, node: stand_in.Node) -> None:
        values, operands = node.meta["val"], node.all_input_nodes
        if node.target is operator.getitem:
            source = self.behind[operands[0]]
            behind = source if is_view(operands[0]) else [source[node.args[1]]]
        elif is_view(node):
            behind = list(self.behind[operands[0]])
        elif node.op == "get_attr":
            behind = []
        else:
            behind = [self._new(v) for v in (values if isinstance(values, list) else [values])]
        self.hold(node, behind)

    def _new(self, value: stand_in.Tensor) -> int:
        count = 0 if value.recorded is None else SIZES[value.recorded["dtype"]]
        for size in (value.recorded or {}).get("shape", []):
            count *= size
        self.bytes.append(count)
        return len(self.bytes) - 1

    def hold(self, node: stand_in.Node, behind: list[int]) -> None:
        self.behind[node] = behind
        for storage in set(behind):
            self.holders[storage] = self.holders.get(storage, 0) + 1

    def drop(self, node: stand_in.Node) -> None:
        for storage in set(self.behind.pop(node, [])):
            self.holders[storage] -= 1
            if self.holders[storage] == 0:
                del self.holders[storage]

    def live(self) -> int:
        return sum(self.bytes[storage] for storage in self.holders)


def is_view(node: stand_in.Node) -> bool:
    return isinstance(node.target, stand_in.OpOverload) and node.target.is_view


def peak_of(graph: stand_in.Graph, memory: Memory, given: dict[str, list[int]]) -> int:
    last = {operand: step for step, node in enumerate(graph.nodes) for operand in node.all_input_nodes}
    peak = 0
    for step, node in enumerate(graph.nodes):
        if node.op == "placeholder":
            memory.hold(node, given.get(node.name, []))
        elif node.op != "output":
            memory.run(node)
            peak = max(peak, memory.live() + node.meta["workspace"])
            for done in (node, *node.all_input_nodes):
                if last.get(done, -1) <= step:
                    memory.drop(done)
    return peak


def check(path: pathlib.Path, budget: str) -> str:
    text = path.read_bytes()
    joint = joint_of(json.loads(gzip.decompress(text)))
    plan, _, holds = recut_torch._plan(text, {"budget": budget})
    forward, backward = recut_torch._Emitter(joint, plan).emit()
    unread = [n.name for n in backward.find_nodes("placeholder") if not n.users and not n.name.startswith("tangents")]
    assert not unread, f"saved for nothing: {unread}"
    memory = Memory()
    first = peak_of(forward, memory, {})
    outputs = forward.nodes[-1].args[0]
    kept = outputs[len(joint.results) :]
    given = {node.name: memory.behind.get(node, []) for node in kept}
    storages = [storage for node in kept for storage in set(memory.behind.get(node, []))]
    assert len(storages) == len(set(storages)), "two saved values share a storage, and backward may write to each"
    results = {node for node in outputs[: len(joint.results)] if node is not None}
    for node in [n for n in memory.behind if n not in results]:
        memory.drop(node)
    peak = max(first, peak_of(backward, memory, given))
    assert peak == plan["peak_bytes"], f"the graphs peak at {peak}, the plan says {plan['peak_bytes']}"
    assert len(backward.nodes[-1].args[0]) == len(joint.gradients)
    words = "" if holds else ", the lowest that there is"
    return f"{path.name} {budget}: {peak} bytes{words}, {len(kept)} kept, {len(backward.nodes)} nodes in backward"


def main(paths: list[str]) -> int:
    failed = 0
    for path in map(pathlib.Path, paths):
        for budget in ("none", "60%", "1"):
            try:
                print("passed:", check(path, budget))
            except (AssertionError, KeyError, recut_torch._Unsupported) as fault:
                failed += 1
                print(f"FAILED: {path.name} {budget}: {type(fault).__name__} {fault}")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
