"""Joint graphs (fx-joint-graph files) as they are run beside PyTorch, without PyTorch: the two halves of its own
partitions in the order that it runs them in, and random numbers as inputs, so that others can have the same."""

from __future__ import annotations

import dataclasses
import gzip
import json
import pathlib
from typing import Any, Iterator

PASSED = "joint_after_passes"  # what partitions are of
UNIFORM = "aten.rand.default"
DRAWS = ("aten.rand", "aten.bernoulli", "aten.native_dropout", "prims.inductor_seeds")  # anew each time they run


def load(path: str | pathlib.Path) -> dict[str, Any]:
    return json.loads(gzip.decompress(pathlib.Path(path).read_bytes()))


def save(file: dict[str, Any], path: str | pathlib.Path) -> None:
    pathlib.Path(path).write_bytes(gzip.compress(json.dumps(file).encode(), 1))


def names_in(argument: Any) -> Iterator[str]:
    """The nodes that an argument names, in order."""
    if isinstance(argument, dict):
        if "node" in argument:
            yield argument["node"]
        else:
            for part in argument.values():
                yield from names_in(part)
    elif isinstance(argument, list):
        for part in argument:
            yield from names_in(part)


def operands(entry: dict[str, Any]) -> list[str]:
    return list(names_in([entry["args"], entry.get("kwargs", {})]))


def outputs_of(file: dict[str, Any], key: str) -> tuple[list[Any], list[Any]]:
    """Results and gradients, as they stand in the file: {"node": name}, or null."""
    listed = file[key][-1]["args"][0]
    return listed[: file["num_fwd_outputs"]], listed[file["num_fwd_outputs"] :]


@dataclasses.dataclass
class Halves:
    """What runs forward and backward, by name, without inputs; a name that stands in both is recomputed."""

    forward: list[str]
    saved: list[str]
    backward: list[str]


def needed(entries: dict[str, dict[str, Any]], wanted: list[str], given: set[str]) -> set[str]:
    """All that `wanted` is computed from, up to what is given."""
    found: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name in found or name in given:
            continue
        found.add(name)
        waiting += operands(entries[name])
    return found


def halves(file: dict[str, Any], saved: list[str]) -> Halves:
    """PyTorch's partition that saves these, in its order: forward as the joint graph has it; backward from the first
    reader of a tangent on, where what is recomputed comes right before the first that needs it
    (torch/_functorch/partitioners.py: reordering_to_mimic_autograd_engine). What draws in forward is saved, too."""
    entries = {entry["name"]: entry for entry in file[PASSED][:-1]}
    order = {name: i for i, name in enumerate(entries)}
    results, gradients = (list(names_in(part)) for part in outputs_of(file, PASSED))
    calls = {name for name, entry in entries.items() if entry["op"] == "call_function"}
    before = needed(entries, results + saved, set()) & calls
    saved = saved + sorted(name for name in before if draws(entries[name]) and name not in saved)
    forward = needed(entries, results + saved, set()) & calls
    wanted = needed(entries, gradients, set(saved)) & calls
    backward = sorted(wanted, key=order.__getitem__)
    first = next((i for i, name in enumerate(backward) if any(is_tangent(n) for n in operands(entries[name]))), 0)
    made: list[str] = []
    have = set(entries) - wanted
    for name in backward[first:]:
        chain = needed(entries, [name], have)
        made += sorted(chain, key=order.__getitem__)
        have |= chain
    return Halves(sorted(forward, key=order.__getitem__), saved, made)


def is_tangent(name: str) -> bool:
    return "tangents" in name


def draws(entry: dict[str, Any]) -> bool:
    return entry["op"] == "call_function" and entry["target"].startswith(DRAWS)


def random_as_inputs(file: dict[str, Any]) -> dict[str, Any]:
    """The same joint graph with every random number as an input of its name (listed as "drawn"), behind the others,
    without a gradient. It has no graph after passes: that one draws otherwise."""
    drawn = [entry for entry in file["joint"] if draws(entry)]
    if not drawn:
        return file
    others = sorted({entry["target"] for entry in drawn} - {UNIFORM})
    if others:
        raise ValueError(f"it draws by {', '.join(others)}, and only {UNIFORM} can be an input")
    names = [entry["name"] for entry in drawn]
    results, gradients = outputs_of(file, "joint")
    inputs = [{**entry, "op": "placeholder", "target": entry["name"], "args": [], "kwargs": {}} for entry in drawn]
    entries = [entry for entry in file["joint"] if entry["name"] not in names]
    end = max(i for i, entry in enumerate(entries) if entry["op"] == "placeholder") + 1
    output = {**entries[-1], "args": [results + gradients + [None] * len(drawn)]}
    made = {key: value for key, value in file.items() if key not in (PASSED, "partitions", "default_partition")}
    return {**made, "joint": entries[:end] + inputs + entries[end:-1] + [output], "drawn": names}
