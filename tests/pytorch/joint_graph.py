"""Joint graphs (fx-joint-graph files) as modules of PyTorch, with inputs for them, and Inductor's code of them."""

from __future__ import annotations

import operator
from typing import Any, Callable, Sequence

import torch
import torch._inductor.inductor_prims  # noqa: F401: the graphs have its operators
from torch import fx

WORDS = {"dtype": torch, "memory_format": torch, "layout": torch}
INPUTS = ("placeholder", "get_attr")


def target_of(name: str) -> Any:
    if name == "getitem":
        return operator.getitem
    space, *path = name.split(".")
    found = getattr(torch.ops, space)
    for part in path:
        found = getattr(found, part)
    return found


def input_entries(file: dict[str, Any], key: str = "joint") -> list[dict[str, Any]]:
    return [entry for entry in file[key] if entry["op"] in INPUTS]


def module_of(entries: dict[str, dict[str, Any]], given: Sequence[str], calls: Sequence[str], outputs: list[Any],
              device: str, boxed: bool = False) -> fx.GraphModule:
    """A module of these calls in their order, from `given` to `outputs`, which name nodes as the file does. Boxed: it
    takes one list, which it empties, so that what is in there goes after its last use."""
    graph, made = fx.Graph(), {}

    def decode(argument: Any) -> Any:
        if isinstance(argument, list):
            return [decode(item) for item in argument]
        if not isinstance(argument, dict):
            return argument
        ((key, value),) = argument.items()
        if key == "node":
            return made[value]
        if key == "float":
            return float(value)
        if key == "device":
            return torch.device(device)
        if key == "slice":
            return slice(*map(decode, value))
        return getattr(WORDS[key], value)

    if boxed:
        box = graph.placeholder("box")
        for i, name in enumerate(given):
            made[name] = graph.call_function(operator.getitem, (box, i))
        graph.call_method("clear", (box,))
    else:
        for name in given:
            made[name] = graph.placeholder(name)
    for name in calls:
        entry = entries[name]
        kwargs = {key: decode(value) for key, value in entry.get("kwargs", {}).items()}
        made[name] = graph.call_function(target_of(entry["target"]), tuple(map(decode, entry["args"])), kwargs)
    graph.output(tuple(decode(outputs)))
    return fx.GraphModule(torch.nn.Module(), graph)


def graph_of(file: dict[str, Any], device: str, key: str = "joint", boxed: bool = False) -> fx.GraphModule:
    """All of it as one module of all its inputs."""
    entries = {entry["name"]: entry for entry in file[key][:-1]}
    calls = [name for name, entry in entries.items() if entry["op"] == "call_function"]
    given = [entry["name"] for entry in input_entries(file, key)]
    return module_of(entries, given, calls, file[key][-1]["args"][0], device, boxed)


def inputs_of(file: dict[str, Any], device: str, key: str = "joint") -> list[torch.Tensor]:
    """The same at each call: the sizes that layers begin with; integers 0 or 1; what is drawn in [0, 1)."""
    torch.manual_seed(0)
    drawn = set(file.get("drawn", ()))
    return [value_like(entry["val"], entry["name"] in drawn).to(device) for entry in input_entries(file, key)]


def value_like(val: dict[str, Any], drawn: bool = False) -> torch.Tensor:
    dtype, shape = getattr(torch, val["dtype"]), val["shape"]
    if not dtype.is_floating_point:
        return torch.randint(0, 2, shape).to(dtype)
    value = torch.empty_strided(shape, val["stride"], dtype=dtype)
    if drawn:
        return value.uniform_(0, 1)
    value.uniform_(-1, 1)
    return value / (value[0].numel() ** 0.5) if len(shape) > 1 else value


def inductor(module: fx.GraphModule, inputs: Sequence[torch.Tensor], **options: Any) -> Callable:
    """Its code for inputs like these: takes one list, which it empties."""
    from torch._inductor.compile_fx import compile_fx_inner
    from torch._subclasses import FakeTensorMode
    from torch.fx.passes.fake_tensor_prop import FakeTensorProp

    mode = FakeTensorMode()
    with torch.no_grad():
        fake = [mode.from_tensor(value) for value in inputs]
        for node, value in zip(module.graph.find_nodes(op="placeholder"), fake, strict=True):
            node.meta["val"] = value
        FakeTensorProp(module, mode).propagate_dont_convert_inputs(*fake)
        with mode:
            return compile_fx_inner(module, fake, **options)
