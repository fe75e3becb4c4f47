"""Recut's planner inside PyTorch: a budget in bytes of peak memory for `torch.compile`.

    import torch, recut_torch
    step = torch.compile(model, backend=recut_torch.backend(budget="6GiB"))

One file; it needs PyTorch (written for 2.11) and Recut's C library, which it looks for in
RECUT_LIBRARY, beside itself, in the build folder of a checkout, and where the system looks.

How it works. AOTAutograd traces a model into one joint graph of forward and backward and asks a
*partition function* to cut it in two. This file answers with Recut's plan: the joint graph goes to
the library as JSON (the format of `export`), the plan comes back as two orders of node names and
what to keep between them, and `_Emitter` writes the two graphs node by node in those orders. What
can't be honoured (dynamic shapes, collectives, operators that write to their operands …) goes to
PyTorch's own partitioner, with a warning that says why. `export` writes these graphs, too.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import ctypes
import dataclasses
import functools
import gzip
import hashlib
import inspect
import json
import math
import operator
import os
import pathlib
import re
import statistics
import time
import warnings
from typing import Any, Callable, Iterable, Sequence

import torch
from torch import fx
from torch._functorch import partitioners
from torch._functorch._aot_autograd import utils as aot_utils
from torch._inductor.custom_graph_pass import CustomPartitionerFn
from torch.utils._python_dispatch import _disable_current_modes

__all__ = ["Backend", "RecutError", "backend", "export", "report"]

aten = torch.ops.aten
prims = torch.ops.prims

# PyTorch's CUDA allocator rounds sizes up to multiples of this. Blocks of its large pool may be up
# to 1 MiB larger than requested: `slack` allows for those.
_GRANULARITY = 512


class RecutError(RuntimeError):
    """An error of the library, with its own message; also a missing library."""


class _Unsupported(Exception):
    """Why a graph can't be planned: PyTorch's own partitioner takes it."""


# ---------------------------------------------------------------------------------------------
# The library (native/c_api/recut.h)

_OK, _NOT_HELD = 0, 1


@functools.cache
def _library() -> ctypes.CDLL:
    here = pathlib.Path(__file__).resolve().parent
    places = [os.environ.get("RECUT_LIBRARY"), here / "librecut.so",
              here.parent.parent / "build" / "release" / "librecut.so", "librecut.so"]
    faults = []
    for place in filter(None, places):
        try:
            library = ctypes.CDLL(str(place))
            break
        except OSError as error:
            faults.append(str(error))
    else:
        raise RecutError("Recut's library isn't there; build the target 'recut_shared' and name the file in "
                         "RECUT_LIBRARY. Looked for: " + "; ".join(faults))
    pointer, text, out = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)
    library.recut_version.restype = text
    library.recut_graph_read.argtypes = [text, ctypes.c_size_t, text, text, out, out]
    library.recut_plan_make.argtypes = [pointer, text, pointer, out, out]
    library.recut_plan_json.argtypes = library.recut_report_json.argtypes = [pointer, out, out]
    library.recut_sweep.argtypes = [pointer, text, pointer, out, out]
    for name in ("recut_graph_free", "recut_plan_free", "recut_text_free"):
        getattr(library, name).argtypes = [pointer]
        getattr(library, name).restype = None
    return library


def _call(function: Callable[..., int], *arguments: Any) -> tuple[int, int]:
    """Calls a function with an `out` and an `error` parameter; returns (status, result)."""
    made, error = ctypes.c_void_p(), ctypes.c_void_p()
    status = function(*arguments, ctypes.byref(made), ctypes.byref(error))
    message = _take_text(error.value)
    if status in (_OK, _NOT_HELD):
        return status, made.value
    raise RecutError(message or f"the library answers with status {status}")


def _take_text(address: int | None) -> str:
    if not address:
        return ""
    text = ctypes.string_at(address).decode()
    _library().recut_text_free(address)
    return text


def _plan(graph_json: bytes, options: dict[str, Any], expansions: str = "") -> tuple[dict, dict, bool]:
    """(the plan, its report, whether it holds the budget) for a file's `joint` graph as it is, or with these
    expansions of its operators."""
    library = _library()
    reading = json.dumps({"graph": "joint", "passes": []}
                         | ({"op_library": json.loads(expansions)} if expansions else {})).encode()
    _, graph = _call(library.recut_graph_read, graph_json, len(graph_json), b"joint graph", reading)
    try:
        status, plan = _call(library.recut_plan_make, graph, json.dumps(options).encode(), None)
        try:
            _, plan_text = _call(library.recut_plan_json, plan)
            _, report_text = _call(library.recut_report_json, plan)
            return json.loads(_take_text(plan_text)), json.loads(_take_text(report_text)), status == _OK
        finally:
            library.recut_plan_free(plan)
    finally:
        library.recut_graph_free(graph)


def _expansions(paths: Iterable[str | os.PathLike]) -> str:
    """The option "op_library" of the library, as JSON: a file of rules each, or OPERATOR=FILE of the operator's forward
    graph, or all files of a folder."""
    sources = []
    for given in map(str, paths):
        name, equals, file = given.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*", name):
            name, file = "", given
        path = pathlib.Path(file)
        try:
            for part in sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]:
                data = part.read_bytes()
                text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode()
                sources.append({"operator": name, "name": str(part), "text": text})
        except OSError as error:
            raise RecutError(f"op_library {given!r} can't be read: {error}") from None
        except UnicodeDecodeError:
            raise RecutError(f"op_library {given!r}: {part} is no text; expected rules, or a graph as Recut's text or "
                             "JSON") from None
    return json.dumps(sources) if sources else ""


# ---------------------------------------------------------------------------------------------
# The joint graph


@dataclasses.dataclass
class _Joint:
    """A joint graph as AOTAutograd traced it, with the facts that a partition needs."""

    module: fx.GraphModule
    primals: list[fx.Node]
    tangents: list[fx.Node]
    outputs: list[Any]  # num_results results, then the gradients; some are None
    descriptions: list[Any]
    num_results: int
    # Writes at the end of forward, `copy_(primal, source)`: batch-norm statistics, say.
    copies: list[fx.Node]

    @property
    def results(self) -> list[Any]:
        return self.outputs[: self.num_results]

    @property
    def gradients(self) -> list[Any]:
        return self.outputs[self.num_results :]

    @property
    def sources(self) -> list[fx.Node]:
        return [copy.args[1] for copy in self.copies]

    def calls(self) -> Iterable[fx.Node]:
        written = set(self.copies)
        return (n for n in self.module.graph.nodes if n.op == "call_function" and n not in written)

    def written_primals(self) -> set[fx.Node]:
        """Inputs whose bytes change between forward and backward."""
        written = {copy.args[0] for copy in self.copies}
        by_description = {repr(p.meta.get("desc")): p for p in self.primals if p.meta.get("desc")}
        for description in self.descriptions[: self.num_results]:
            target = by_description.get(repr(getattr(description, "mutated_input", None)))
            if target is not None:
                written.add(target)
        return written


def _read_joint(module: fx.GraphModule, num_results: int) -> _Joint:
    placeholders = module.graph.find_nodes(op="placeholder")
    primals = [n for n in placeholders if aot_utils._is_primal(n)]
    tangents = [n for n in placeholders if aot_utils._is_tangent(n)]
    if len(primals) + len(tangents) != len(placeholders):
        raise _Unsupported("the graph takes seeds or states of random numbers as inputs")
    (output,) = module.graph.find_nodes(op="output")
    outputs = list(output.args[0])
    descriptions = list(output.meta.get("desc", [None] * len(outputs)))
    copies = [n for n in _writes(module) if _is_final(n, primals) and not _is_tagged_backward(n)]
    return _Joint(module, primals, tangents, outputs, descriptions, num_results, copies)


def _read_forward(module: fx.GraphModule) -> _Joint:
    """A forward graph alone: no tangents, no gradients."""
    placeholders = module.graph.find_nodes(op="placeholder")
    (output,) = module.graph.find_nodes(op="output")
    outputs = list(output.args[0])
    return _Joint(module, placeholders, [], outputs, list(output.meta.get("desc", [None] * len(outputs))), len(outputs),
                  [n for n in _writes(module) if _is_final(n, placeholders)])


def _writes(module: fx.GraphModule) -> list[fx.Node]:
    return [n for n in module.graph.nodes if n.target is aten.copy_.default]


def _is_final(copy: fx.Node, primals: list[fx.Node]) -> bool:
    """Whether it writes to an input at the end of the graph: its source is the input's new value."""
    late = [user for user in copy.users if user.op != "output"]
    return copy.args[0] in primals and not late and not copy.kwargs and len(copy.args) == 2


def _is_tagged_backward(node: fx.Node) -> bool:
    return node.meta.get("partitioner_tag") == "must_be_in_backward"


_PLANNED_ARGUMENTS = (fx.Node, type(None), bool, int, float, str, torch.dtype, torch.layout, torch.memory_format,
                      torch.device)


def _check_supported(joint: _Joint) -> None:
    """Refuses what a file can hold and a plan can't. PyTorch's own partitioner then takes the graph."""
    for node in joint.module.graph.nodes:
        if node.op in ("placeholder", "call_function", "get_attr"):
            _check_static(node)
    for copy in _writes(joint.module):
        if not _is_final(copy, joint.primals):
            raise _Unsupported(f"{copy.name} writes to something that isn't an input, or not at the end")
        if _is_tagged_backward(copy):
            raise _Unsupported(f"{copy.name} writes to an input in backward")
    for node in joint.calls():
        if node.target is operator.getitem:
            continue
        if not isinstance(node.target, torch._ops.OpOverload):
            raise _Unsupported(f"{node.name} calls {node.target}, which is no single operator")
        if _is_collective(node.target):
            raise _Unsupported(f"{node.name} is a collective, {node.target}: ranks would have to agree")
        if node.target._schema.is_mutable:
            raise _Unsupported(f"{node.name} calls {node.target}, which writes to an operand")
        if not node.target._schema.returns:
            raise _Unsupported(f"{node.name} calls {node.target}, which is there for its effect alone")
        for argument in _flatten((node.args, tuple(node.kwargs.values()))):
            if not isinstance(argument, _PLANNED_ARGUMENTS):
                raise _Unsupported(f"an argument of type {type(argument).__name__}")
        if isinstance(node.meta.get("val"), (int, float)):
            raise _Unsupported(f"{node.name} is a number")


def _is_collective(target: torch._ops.OpOverload) -> bool:
    return target.namespace in ("_c10d_functional", "c10d_functional", "_dtensor")


_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def _check_static(node: fx.Node) -> None:
    for value in _flatten(node.meta.get("val")):
        if isinstance(value, _SYMBOLIC):
            raise _Unsupported(f"{node.name} is a symbolic number: shapes aren't static. Compile with dynamic=False; "
                               "`recut fit` finds the largest batch in a TORCH_TRACE")
        if isinstance(value, torch.Tensor):
            if value.layout is not torch.strided:
                raise _Unsupported(f"{node.name} is {value.layout}")
            if any(isinstance(size, torch.SymInt) for size in (*value.shape, *value.stride())):
                raise _Unsupported(f"the shape of {node.name} isn't static: {tuple(value.shape)}")


def _flatten(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flatten(item)]
    return [value]


# ---------------------------------------------------------------------------------------------
# The joint graph as JSON (fx-joint-graph)


def _encode_value(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided:
            raise _Unsupported(f"its value is {value.layout}")
        return {"dtype": str(value.dtype).removeprefix("torch."), "shape": [_encode_size(n) for n in value.shape],
                "stride": [_encode_size(n) for n in value.stride()], "device": value.device.type}
    if isinstance(value, (list, tuple, dict)):  # the items of a list in a list have their own values
        items = value.values() if isinstance(value, dict) else value
        return [None if isinstance(item, (list, tuple, dict)) else _encode_value(item) for item in items]
    return _encode_symbolic(value) if isinstance(value, _SYMBOLIC) else None


def _encode_symbolic(value: Any) -> dict[str, str]:
    return {"sym": str(_expression(value)), "type": type(value).__name__}


def _expression(value: Any) -> Any:
    """A symbolic number as sympy has it; equal symbols have one name."""
    expression = getattr(value.node, "expr", None)
    if expression is None:
        raise _Unsupported(f"it has a size of kind {type(value.node).__name__}")
    return expression


def _encode_size(size: Any) -> int | str:
    if isinstance(size, int):
        return size
    expression = _expression(size)
    return int(expression) if expression.is_Integer else str(expression)


_NAMED_ARGUMENTS = ((torch.dtype, "dtype"), (torch.layout, "layout"), (torch.memory_format, "memory_format"))


def _encode_argument(argument: Any, names: dict[fx.Node, str]) -> Any:
    if isinstance(argument, fx.Node):
        return {"node": names[argument]}
    if isinstance(argument, (list, tuple, range)):
        return [_encode_argument(item, names) for item in argument]
    if argument is None or isinstance(argument, (bool, int, str)):
        return argument
    if isinstance(argument, float):
        return argument if math.isfinite(argument) else {"float": str(argument)}
    if isinstance(argument, complex):
        return {"complex": [n if math.isfinite(n) else str(n) for n in (argument.real, argument.imag)]}
    if isinstance(argument, slice):
        return {"slice": _encode_argument([argument.start, argument.stop, argument.step], names)}
    if isinstance(argument, dict) and all(isinstance(key, str) for key in argument):
        return {"dict": {key: _encode_argument(item, names) for key, item in argument.items()}}
    for kind, key in _NAMED_ARGUMENTS:
        if isinstance(argument, kind):
            return {key: str(argument).removeprefix("torch.")}
    if isinstance(argument, torch.device):
        return {"device": argument.type}
    if isinstance(argument, torch.SymInt) and _expression(argument).is_Integer:
        return int(_expression(argument))
    if isinstance(argument, _SYMBOLIC):
        return _encode_symbolic(argument)
    if isinstance(argument, (torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
        return {"operator": _function_name(argument)}
    raise _Unsupported(f"an argument of type {type(argument).__name__}")


def _function_name(function: Any) -> str:
    """As PyTorch prints it: aten.mm.default, torch.ops.higher_order.cond, _operator.mul."""
    if function is operator.getitem:
        return "getitem"
    if isinstance(function, torch._ops.HigherOrderOperator):
        return f"torch.ops.higher_order.{function.name()}"
    if isinstance(function, torch._ops.OpOverload):
        return str(function)
    if not hasattr(function, "__name__"):
        raise _Unsupported(f"a call of {type(function).__name__}")
    return f"{function.__module__}.{function.__name__}"


def _module_path(node: fx.Node) -> str | None:
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return None
    return list(stack.values())[-1][0] or None


def _held_as(source: str) -> str | None:
    """The path of a parameter or buffer by Dynamo's name of its source:
    "L['self']._modules['h']._parameters['weight']" is h.weight; none of other inputs."""
    parts = re.findall(r"\._(modules|parameters|buffers)\['([^']*)'\]", source)
    return ".".join(name for _, name in parts) if parts and parts[-1][0] != "modules" else None


def _note_paths(dynamo: fx.Graph | None, captured: fx.Graph) -> None:
    """Adds to the inputs of AOTAutograd's graph how the model holds them; `dynamo`: the graph that it was made from."""
    sources = [getattr(getattr(node.meta.get("grapharg"), "source", None), "name", "")
               for node in (dynamo.nodes if dynamo else ()) if node.op == "placeholder"]
    paths = [_held_as(name() if callable(name) else str(name)) for name in sources]
    for node in captured.nodes:
        index = getattr(node.meta.get("desc"), "idx", None) if node.op == "placeholder" else None
        if isinstance(index, int) and index < len(paths) and type(node.meta["desc"]).__name__ == "PlainAOTInput":
            node.meta["recut_held_as"] = paths[index]


_FRAME = re.compile(r'File "([^"]*)", line (\d+), in ([^\n]*)(?:\n +([^\n]*))?')


def _source_line(node: fx.Node) -> str | None:
    """The innermost line of Python that called it, as "net.py:12 in forward: y = self.act(x)". The file's path begins
    behind site-packages or the working directory, so that it doesn't name the user's folders."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    if not frames:
        return None
    path, line, function, code = frames[-1]
    packages = re.split(r"[/\\](?:site|dist)-packages[/\\]", path)
    here = os.getcwd() + os.sep
    if len(packages) > 1:
        path = packages[-1]
    else:
        path = path.removeprefix(here) if path.startswith(here) else os.path.basename(path)
    return f"{path}:{line} in {function}" + (f": {code.strip()[:160]}" if code else "")


def _node_json(node: fx.Node, names: dict[fx.Node, str]) -> dict[str, Any]:
    try:
        return _encode_node(node, names)
    except _Unsupported as why:
        raise _Unsupported(f"{node.name} ({node.target}): {why}") from None


def _encode_node(node: fx.Node, names: dict[fx.Node, str]) -> dict[str, Any]:
    if node.op not in ("placeholder", "get_attr", "call_function", "output"):
        raise _Unsupported(f"a node of kind {node.op}")
    entry: dict[str, Any] = {"name": names[node], "op": node.op,
                             "target": names[node] if node.op != "call_function" else _function_name(node.target),
                             "args": [_encode_argument(a, names) for a in node.args]}
    if node.op == "placeholder":
        entry["args"] = []
    if node.target is operator.getitem and isinstance(node.args[1], str):  # results by name are written by number
        entry["args"][1] = list(_value_of(node.args[0])).index(node.args[1])
    if node.kwargs:
        entry["kwargs"] = {key: _encode_argument(a, names) for key, a in node.kwargs.items()}
    if node.op == "output":
        return entry
    value = _value_of(node)
    if value is None and isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable:
        raise _Unsupported("it writes to its operands and gives no value")
    if isinstance(value, fx.GraphModule):
        inside = {n: n.name for n in value.graph.nodes}
        entry["subgraph"] = [_node_json(n, inside) for n in value.graph.nodes]
    elif isinstance(value, (int, float)):
        entry["val"] = {"scalar": value if isinstance(value, float) else int(value)}
    elif isinstance(value, (torch.Tensor, list, tuple, dict, type(None), *_SYMBOLIC)):
        entry["val"] = _encode_value(value)
    else:
        raise _Unsupported(f"a value of type {type(value).__name__}")
    if path := node.meta.get("recut_held_as") if node.op == "placeholder" else _module_path(node):
        entry["module"] = path
    if source := _source_line(node):
        entry["source"] = source
    if isinstance(node.meta.get("seq_nr"), int):
        entry["seq_nr"] = node.meta["seq_nr"]
    if policy := _policy(node):
        entry["meta"] = {"recompute": policy, "ac_graph_id": _region(node)}
    return entry


def _value_of(node: fx.Node) -> Any:
    if node.op == "get_attr":
        held = functools.reduce(getattr, node.target.split("."), node.graph.owning_module)
        if isinstance(held, fx.GraphModule) or "val" not in node.meta:
            return held
    if "val" in node.meta:
        return node.meta["val"]
    if node.target is operator.getitem and isinstance(node.args[0], fx.Node):
        return _value_of(node.args[0])[node.args[1]]
    if node.op == "call_function" and node.target is prims.inductor_lookup_seed.default:
        return torch.empty((), dtype=torch.int64, device="meta")
    if isinstance(node.target, torch._ops.OpOverload) and not node.target._schema.returns:
        return None
    name = "" if node.op != "call_function" else _function_name(node.target)
    if name.startswith(("_operator.", "math.", "torch.sym_", "torch._sym_")):  # of symbolic numbers
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), _value_of)
        return node.target(*args, **kwargs)
    raise _Unsupported(f"nothing is known of the value of {node.name}")


def _node_names(joint: _Joint) -> dict[fx.Node, str]:
    """The file's node names; an input's name has its kind."""
    names = {node: node.name for node in joint.module.graph.nodes}
    names.update((node, f"primals_{i + 1}") for i, node in enumerate(joint.primals))
    names.update((node, f"tangents_{i + 1}") for i, node in enumerate(joint.tangents))
    return names


def _graph_nodes(joint: _Joint, measured: dict[fx.Node, dict[str, Any]] | None = None) -> list[dict]:
    """The nodes of the file. Sources of writes to inputs follow the results, as results."""
    names = _node_names(joint)
    nodes = [_node_json(n, names) for n in (*joint.primals, *joint.tangents)]
    written = set(joint.copies)
    others = [n for n in joint.module.graph.nodes if n.op not in ("placeholder", "output") and n not in written]
    for node in sorted(others, key=lambda n: n.op != "get_attr"):  # constants first
        nodes.append(_node_json(node, names))
        if measured and node in measured:
            nodes[-1]["measured"] = measured[node]
    results = [_source(r) if r in written else r for r in joint.results]
    outputs = (*results, *joint.sources, *_gradient_list(joint))
    nodes.append({"name": "output", "op": "output", "target": "output",
                  "args": [[_encode_argument(o, names) for o in outputs]]})
    return nodes


def _gradient_list(joint: _Joint) -> list[Any]:
    """A gradient for each input. AOTAutograd gives none for its tokens of effects."""
    if len(joint.gradients) in (0, len(joint.primals)):
        return joint.gradients
    given = {re.sub(r"^__grad\((.*)\)", r"\1", d.expr()): gradient
             for d, gradient in zip(joint.descriptions[joint.num_results :], joint.gradients) if d is not None}
    found = [given.pop(p.meta["desc"].expr(), None) if p.meta.get("desc") else None for p in joint.primals]
    for of, gradient in given.items():
        if isinstance(gradient, fx.Node):
            raise _Unsupported(f"{gradient.name} is a gradient of {of}, which is no input")
    return found


def _source(result: Any) -> Any:
    """Replaces a write to an input that is a result by the written value."""
    if isinstance(result, fx.Node) and result.target is aten.copy_.default:
        return result.args[1]
    return result


def _traced_facts(joint: _Joint) -> dict[str, Any]:
    """Symbols, writes to inputs, the results that tangents belong to, and inputs that share a storage."""
    names, results = _node_names(joint), joint.descriptions[: joint.num_results]
    inputs = {repr(p.meta.get("desc")): names[p] for p in joint.primals if p.meta.get("desc")}
    written = [(i, inputs.get(repr(getattr(d, "mutated_input", None)))) for i, d in enumerate(results)]
    written += [(joint.num_results + i, names[copy.args[0]]) for i, copy in enumerate(joint.copies)]
    numbers = {d.expr(): i for i, d in enumerate(results) if d is not None}
    tangents = [numbers.get(_differentiated(t)) for t in joint.tangents]
    holders = collections.defaultdict(list)
    for primal in joint.primals:
        for storage in _storages(primal):
            holders[storage].append(names[primal])
    facts = {"symbols": _symbols(joint.module), "writes": [{"result": i, "input": n} for i, n in written if n],
             "tangents": [] if None in tangents else tangents,
             "shared_storages": [held for held in holders.values() if len(held) > 1],
             "deterministic": torch.are_deterministic_algorithms_enabled()}
    return {"version": 2} | {key: fact for key, fact in facts.items() if fact}


def _differentiated(tangent: fx.Node) -> str:
    """The result that a tangent belongs to, as AOTAutograd names it."""
    description = tangent.meta.get("desc")
    return re.sub(r"^__output_tangent\((.*)\)", r"\1", description.expr()) if description is not None else ""


def _view_facts(joint: _Joint, facts: dict[str, Any]) -> dict[str, Any]:
    """The writes again, and the results that are views: AOTAutograd tells of these once a forward is compiled."""
    names, results = _node_names(joint), joint.descriptions[: joint.num_results]
    metadata = getattr(torch._guards.TracingContext.try_get(), "fw_metadata", None)
    inputs = [names[p] for p in joint.primals if type(p.meta.get("desc")).__name__ != "ForwardTokenAOTInput"]
    if metadata is None or len(metadata.input_info) != len(inputs):
        return {}
    moved = {name for name, info in zip(inputs, metadata.input_info) if info.mutates_metadata and not info.mutates_data}
    writes = [write | {"metadata_only": True} if write["input"] in moved else write for write in facts.get("writes", ())]
    own = {d.idx: i for i, d in enumerate(results) if type(d).__name__ == "PlainAOTOutput"}
    bases = [i for i, d in enumerate(results) if type(d).__name__ == "IntermediateBaseAOTOutput"]
    views = []
    for index, info in enumerate(metadata.output_info):
        if index not in own or info.base_idx is None:
            continue
        view, kind = {"result": own[index]}, info.output_type.name
        if kind in ("alias_of_input", "is_input"):
            view |= {"input": inputs[info.base_idx]} | ({"same": True} if kind == "is_input" else {})
        elif kind == "alias_of_intermediate_base_is_user_output":
            view["of_result"] = own[info.base_idx]
        elif kind.startswith("alias_of_intermediate"):
            view["of_result"] = bases[info.base_idx]
        views.append(view)
    return {key: fact for key, fact in (("writes", writes), ("views", [v for v in views if len(v) > 1])) if fact}


def _symbols(module: fx.GraphModule) -> dict[str, dict[str, Any]]:
    """Hint and range of each symbol of the graph's sizes."""
    found = {}
    for number in _symbolic_numbers(module):
        for symbol in _expression(number).free_symbols:
            environment = number.node.shape_env
            hints = getattr(environment, "backed_var_to_val", None) or environment.var_to_val
            span = environment.var_to_range.get(symbol)
            found[str(symbol)] = {"hint": _plain_number(hints.get(symbol)),
                                  "min": _plain_number(getattr(span, "lower", None)),
                                  "max": _plain_number(getattr(span, "upper", None))}
    return dict(sorted(found.items()))


def _symbolic_numbers(module: fx.GraphModule) -> Iterable[Any]:
    for node in module.graph.nodes:
        for value in _flatten((node.meta.get("val"), node.args)):
            if isinstance(value, torch.Tensor):
                yield from (n for n in (*value.shape, *value.stride()) if isinstance(n, torch.SymInt))
            elif isinstance(value, _SYMBOLIC):
                yield value
        if node.op == "get_attr" and isinstance(held := _value_of(node), fx.GraphModule):
            yield from _symbolic_numbers(held)


def _plain_number(number: Any) -> int | float | None:
    """An end of a range that is no number is none: the range is open there."""
    if getattr(number, "is_Integer", isinstance(number, int)):
        return int(number)
    return float(number) if getattr(number, "is_Float", isinstance(number, float)) else None


def _file_json(joint: _Joint, name: str, nodes: list[dict], **more: Any) -> dict[str, Any]:
    return {"format": "fx-joint-graph", "version": 1, "model": name, "torch": torch.__version__,
            "amp": torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu"),
            "device": _device_name(joint), "num_fwd_outputs": joint.num_results + len(joint.copies),
            "joint": nodes} | more


def _device_of(joint: _Joint) -> torch.device:
    for node in (*joint.calls(), *joint.primals):
        for value in _flatten(node.meta.get("val")):
            if isinstance(value, torch.Tensor) and value.device.type != "cpu":
                return value.device
    return torch.device("cpu")


def _device_name(joint: _Joint) -> str:
    device = _device_of(joint)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


# ---------------------------------------------------------------------------------------------
# Measuring this machine's kernels


# Operators that Inductor leaves to libraries, by parts of names; for all others it writes kernels.
_INDUCTOR_CALLS = ("convolution", "mm.", "attention", "embedding_bag", "_fft_")


class _Meter:
    """Runs nodes alone on generated numbers. A measurement of an operator and its operand types
    serves all nodes like it, in later graphs too."""

    def __init__(self, device: torch.device, times: bool, eager: bool = True) -> None:
        self._device, self._times, self._eager = device, times, eager
        self._known: dict[str, dict[str, Any]] = {}
        self._ready: set[Any] = set()

    def measure(self, joint: _Joint) -> dict[fx.Node, dict[str, Any]]:
        found = {}
        # Measuring leaves the program's random state as it was.
        with (_disable_current_modes(), torch.no_grad(), torch.cuda.device(self._device),
              torch.random.fork_rng([self._device])):
            for node in joint.calls():
                if not self._worth_measuring(node):
                    continue
                key = self._key(node)
                if key not in self._known:
                    self._known[key] = self._run(node)
                if self._known[key]:
                    found[node] = self._known[key]
        return found

    def _worth_measuring(self, node: fx.Node) -> bool:
        if not isinstance(node.target, torch._ops.OpOverload) or _is_view(node.target):
            return False
        if node.target.namespace == "prims" and "inductor" in str(node.target) or _is_collective(node.target):
            return False
        if not self._eager:
            return any(part in str(node.target) for part in _INDUCTOR_CALLS)
        # An element-wise kernel needs no workspace.
        return self._times or torch.Tag.pointwise not in node.target.tags

    def _key(self, node: fx.Node) -> str:
        def message(argument: Any) -> str:
            if isinstance(argument, fx.Node):
                return json.dumps(_encode_value(_value_of(argument)))
            if isinstance(argument, (list, tuple)):
                return "[" + ",".join(map(message, argument)) + "]"
            return repr(argument)

        return f"{node.target}{message(node.args)}{message(list(node.kwargs.items()))}"

    def _run(self, node: fx.Node) -> dict[str, Any]:
        try:
            args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda n: _made_up(_value_of(n), self._times))
            if node.target not in self._ready:
                # The first run sets up the libraries' own memory, such as a product's workspace.
                node.target(*args, **kwargs)
                self._ready.add(node.target)
            measured = {"workspace_bytes": self._workspace(node, args, kwargs)}
            if not self._eager and "convolution" in str(node.target):
                # Inductor may have chosen the other layout.
                args, kwargs = fx.node.map_aggregate((args, kwargs), _channels_last)
                measured["workspace_bytes"] = max(measured["workspace_bytes"], self._workspace(node, args, kwargs))
            if self._times:
                measured["us"] = self._microseconds(node, args, kwargs)
            return {key: value for key, value in measured.items() if value}
        except (RuntimeError, TypeError, ValueError, IndexError):
            return {}  # it can't run on made-up operands, or there is no room: it is estimated

    def _workspace(self, node: fx.Node, args: Any, kwargs: Any) -> int:
        torch.cuda.synchronize(self._device)
        torch.cuda.reset_peak_memory_stats(self._device)
        before = torch.cuda.memory_allocated(self._device)
        made = node.target(*args, **kwargs)
        stays = torch.cuda.memory_allocated(self._device)
        peak = torch.cuda.max_memory_allocated(self._device)
        del made
        return max(0, peak - max(stays, before))

    def _microseconds(self, node: fx.Node, args: Any, kwargs: Any, rounds: int = 5) -> float:
        times = []
        for _ in range(rounds):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            node.target(*args, **kwargs)
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) * 1e3)
        return round(statistics.median(times), 2)


def _measure(joint: _Joint, what: str, eager: bool,
             meters: dict[torch.device, _Meter]) -> dict[fx.Node, dict[str, Any]]:
    """"workspaces" or "times" of a CUDA graph's nodes; nothing for others. Keeps what it learns in `meters`."""
    device = _device_of(joint)
    if what == "nothing" or device.type != "cuda":
        return {}
    return meters.setdefault(device, _Meter(device, what == "times", eager)).measure(joint)


def _profile_of(joint: _Joint) -> str:
    """The built-in profile nearest to the graph's device."""
    name = _device_name(joint).lower().replace(" ", "")
    known = ("h200", "h100", "a100", "rtx4090")
    return next((k for k in known if k in name), "cpu8" if name == "cpu" else "reference")


def _allocator_facts(joint: _Joint, profile: str) -> dict[str, Any]:
    """The file's figures of the device, beside the nodes' measurements."""
    cuda = _device_of(joint).type == "cuda"
    return {"allocation_granularity": _GRANULARITY, "measured_on": profile} if cuda else {}


def _made_up(value: Any, plausible: bool) -> Any:
    """An operand of this type; where times matter, of numbers that are no special case."""
    if not isinstance(value, torch.Tensor):
        return value
    reach = sum((size - 1) * stride for size, stride in zip(value.shape, value.stride())) + 1 if value.numel() else 0
    made = torch.zeros(reach, dtype=value.dtype, device=value.device)  # of integers: valid as indices, too
    if plausible and value.dtype.is_floating_point and value.dtype.itemsize > 1:
        made.uniform_(0.1, 0.9)
    return made.as_strided(value.shape, value.stride())


def _channels_last(value: Any) -> Any:
    images = isinstance(value, torch.Tensor) and value.dim() == 4
    return value.contiguous(memory_format=torch.channels_last) if images else value


def _is_view(target: torch._ops.OpOverload) -> bool:
    returns = target._schema.returns
    return bool(returns) and any(r.alias_info is not None for r in returns)


# ---------------------------------------------------------------------------------------------
# From a plan to two graphs


class _Emitter:
    """Writes forward and backward in the order of the plan. A recomputed node is copied again;
    readers read its latest copy."""

    def __init__(self, joint: _Joint, plan: dict[str, Any], for_inductor: bool = False) -> None:
        self._joint = joint
        self._plan = plan
        self._for_inductor = for_inductor
        self._same: dict[str, str] = plan["same"]
        file_names = _node_names(joint)
        self._name_of = file_names
        self._node_of = {name: node for node, name in file_names.items()}
        self._written = joint.written_primals()
        self._graph = fx.Graph()
        self._now: dict[str, fx.Node] = {}  # the latest copy, by the plan's name of the node
        self._runs: dict[str, int] = {}
        self._views: set[str] = set()  # views of saved values that backward makes
        self._compared: dict[fx.Node, None] = {}  # compared with their own maximum

    def emit(self) -> tuple[fx.GraphModule, fx.GraphModule]:
        backward = self._live_runs(self._plan["backward"], self._joint.gradients)
        requested = self._read_late(backward)
        goals = [*self._joint.results, *self._joint.sources, *(self._node_of[name] for name in requested)]
        forward, kept = self._forward(self._live_runs(self._plan["forward"], goals), requested)
        make = fx._lazy_graph_module._make_graph_module
        return make(self._joint.module, forward), make(self._joint.module, self._backward(backward, kept))

    def _live_runs(self, names: list[str], goals: Iterable[Any]) -> list[str]:
        """Removes runs without readers, such as that of a gradient that is dropped and recomputed: their
        operands would be saved for nothing."""
        wanted = {self._planned_name(_source(goal)) for goal in goals if isinstance(goal, fx.Node)}
        live = []
        for name in reversed(names):
            if name in wanted:
                wanted.discard(name)
                wanted.update(map(self._planned_name, self._node_of[name].all_input_nodes))
                live.append(name)
        return live[::-1]

    def _planned_name(self, node: fx.Node) -> str:
        name = self._name_of[node]
        return self._same.get(name, name)

    def _read_late(self, backward: list[str]) -> list[str]:
        """Values that backward reads and doesn't compute: inputs and saved values, in order of first use."""
        there = {self._planned_name(t) for t in self._joint.tangents}
        asked: dict[str, None] = {}

        def ask(node: fx.Node) -> None:
            name = self._planned_name(node)
            if name not in there and node.op != "get_attr":
                asked.setdefault(name)

        for name in backward:
            for operand in self._node_of[name].all_input_nodes:
                ask(operand)
            there.add(name)
        for gradient in self._joint.gradients:
            if isinstance(gradient, fx.Node):
                ask(gradient)
        self._check_saved(asked)
        return sorted(self._one_a_storage(asked), key=lambda name: self._no_version_check(self._node_of[name]))

    def _one_a_storage(self, asked: Iterable[str]) -> list[str]:
        """Saves a storage once. AOTAutograd donates each saved tensor to backward, whose kernels may then write
        over it, and doesn't ask whether another one shares its bytes. So where several of `asked` do, the
        value that they are all views of is saved, and backward makes the views."""
        def planned(node: fx.Node) -> fx.Node:
            return self._node_of[self._planned_name(node)]

        chains = {name: _view_chain(self._node_of[name], planned) for name in asked}
        shared = collections.Counter(chain[-1] for chain in chains.values())
        kept: dict[str, None] = {}
        for name, (*views, root) in chains.items():
            if shared[root] == 1 or root in self._written:
                kept.setdefault(name)
                continue
            self._views.update(map(self._planned_name, views))
            if root.op != "get_attr":
                kept.setdefault(self._planned_name(root))
        return list(kept)

    def _check_saved(self, asked: Iterable[str]) -> None:
        saved = set(self._plan["saved"])
        for name in asked:
            node = self._node_of[name]
            if node.op == "call_function" and name not in saved:
                raise _Unsupported(f"the plan reads {name} in backward and doesn't save it: a bug of Recut's")
            if not isinstance(_value_of(node), torch.Tensor):
                raise _Unsupported(f"{name} would have to be saved and is no tensor")

    def _no_version_check(self, node: fx.Node) -> bool:
        """Autograd refuses saved tensors that were written to afterwards. Running statistics may be: where
        they are read again, nothing that backward uses depends on them (_operands_that_count)."""
        return node in self._written or bool(node.meta.get("saved_tensor_with_no_vc_check", False))

    def _forward(self, names: list[str], requested: list[str]) -> tuple[fx.Graph, list[tuple[str, fx.Node]]]:
        for primal in self._joint.primals:
            self._add_input(primal.name, primal, self._planned_name(primal))
        for name in names:
            self._run(name)
        written = {copy: self._graph.node_copy(copy, self._current) for copy in self._joint.copies}
        kept = [(name, self._current(self._node_of[name])) for name in requested]
        results = [written.get(r) or self._current(r) if isinstance(r, fx.Node) else r for r in self._joint.results]
        descriptions = self._joint.descriptions[: self._joint.num_results] + self._saved_descriptions(kept)
        return self._finish([*results, *(node for _, node in kept)], descriptions), kept

    def _saved_descriptions(self, kept: list[tuple[str, fx.Node]]) -> list[Any]:
        from torch._functorch._aot_autograd import descriptors

        kinds = (descriptors.SavedForBackwardsAOTOutput, descriptors.SavedForBackwardsNoVcCheckAOTOutput)
        return [kinds[self._no_version_check(self._node_of[name])](i) for i, (name, _) in enumerate(kept)]

    def _backward(self, names: list[str], kept: list[tuple[str, fx.Node]]) -> fx.Graph:
        self._graph, self._now, self._compared = fx.Graph(), {}, {}
        for name, node in kept:
            self._add_input(node.name, node, name)
        for tangent in self._joint.tangents:
            self._add_input(tangent.name, tangent, self._planned_name(tangent))
        for name in names:
            self._run(name)
        gradients = [self._current(g) if isinstance(g, fx.Node) else g for g in self._joint.gradients]
        return self._finish(gradients, self._joint.descriptions[self._joint.num_results :])

    def _add_input(self, name: str, like: fx.Node, planned_name: str) -> None:
        node = self._graph.placeholder(name)
        node.meta = dict(like.meta)
        if self._no_version_check(self._node_of[planned_name]):
            node.meta["saved_tensor_with_no_vc_check"] = True
        self._now[planned_name] = node

    def _current(self, node: fx.Node) -> fx.Node:
        name = self._planned_name(node)
        if name not in self._now and node.op == "get_attr":
            self._now[name] = self._graph.node_copy(node)
        if name not in self._now and name in self._views:
            self._copy(name, self._node_of[name])
        return self._now[name]

    def _run(self, name: str) -> None:
        node = self._node_of[name]
        if node.target is operator.getitem:
            source = self._current(node.args[0])
            now = self._now.get(name)
            if now is not None and now.args and now.args[0] is source:
                return  # taken already, when the tuple was made
        self._copy(name, node)
        if isinstance(_value_of(node), (list, tuple)):
            # A tuple's items are unpacked at once, so that it keeps nothing alive.
            for user in node.users:
                if user.target is operator.getitem and self._planned_name(user) == self._name_of[user]:
                    self._copy(self._name_of[user], user)

    def _copy(self, name: str, node: fx.Node) -> fx.Node:
        self._runs[name] = self._runs.get(name, 0) + 1
        title = node.name if self._runs[name] == 1 else f"{node.name}_again{self._runs[name] - 1}"
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), self._current)
        copy = self._graph.create_node(node.op, node.target, args, kwargs, title, node.type)
        copy.meta = dict(node.meta)
        self._now[name] = copy
        if self._for_inductor and node.target is aten.eq.Tensor:
            self._compare_with_own(node, copy)
        return copy

    def _compare_with_own(self, node: fx.Node, copy: fx.Node) -> None:
        """The gradient of a maximum counts the elements equal to it and divides by the count. The count is 0 where the
        value was recomputed by another kernel, with other rounding, and the maximum was not. So the maximum is
        recomputed from that value."""
        for value, other in (node.args, node.args[::-1]):
            *views, extreme = _view_chain(other)
            own, made = self._current(value), self._now.get(self._planned_name(extreme))
            if extreme.target not in _EXTREMES or self._planned_name(extreme.args[0]) != self._planned_name(value):
                continue
            if own.op == "placeholder" or (made is not None and own in made.all_input_nodes):
                continue
            with self._graph.inserting_before(copy):
                now = self._graph.node_copy(extreme, self._current)
                for view in reversed(views):
                    now = self._graph.node_copy(view, lambda _, now=now: now)
            copy.replace_input_with(self._current(other), now)
            self._compared.setdefault(own)

    def _finish(self, outputs: list[Any], descriptions: list[Any]) -> fx.Graph:
        output = self._graph.output(tuple(outputs))
        output.meta["desc"] = descriptions
        self._graph.eliminate_dead_code()
        if self._for_inductor:
            _keep_products_in_place(self._graph)
            _make_far_values(self._graph)
            for node in filter(_is_made_late, self._compared):  # both kernels are to read the same bits
                if node.users:
                    _make_here(self._graph, node)
        self._graph.lint()
        return self._graph


def _viewed(node: fx.Node) -> fx.Node | None:
    """The operand whose storage this node's value shares, by the operator's schema or by the traced tensors."""
    if node.op != "call_function" or not node.all_input_nodes:
        return None
    operand = node.all_input_nodes[0]
    if node.target is operator.getitem:
        return operand if _viewed(operand) is not None else None
    if isinstance(node.target, torch._ops.OpOverload) and _is_view(node.target):
        return operand
    own = _storages(node)
    return next((other for other in node.all_input_nodes if own & _storages(other)), None)


def _view_chain(node: fx.Node, named: Callable[[fx.Node], fx.Node] = lambda n: n) -> list[fx.Node]:
    """The node, the value that it is a view of, and so on to the value that owns the storage."""
    chain = [node]
    while (operand := _viewed(chain[-1])) is not None:
        chain.append(named(operand))
    return chain


def _storages(node: fx.Node) -> set[int]:
    return {v.untyped_storage()._cdata for v in _flatten(node.meta.get("val")) if isinstance(v, torch.Tensor)}


def _keep_products_in_place(graph: fx.Graph) -> None:
    """Keeps Inductor from fusing a product and a later sum into an addmm at the sum. The plan may have the sum much
    later, as for a gradient that two layers share; the product's operands would stay alive until then. Two views
    that cancel each other stand in between."""
    calls = [n for n in graph.nodes if n.op == "call_function" and not _is_alias(n)]
    place = {node: i for i, node in enumerate(calls)}
    for product in [n for n in calls if n.target is aten.mm.default]:
        for total in [user for user in product.users if user.target is aten.add.Tensor]:
            if place[total] == place[product] + 1:
                continue
            value, now = product.meta["val"], product
            for shape in ([-1], list(value.shape)):
                with graph.inserting_before(total):
                    now = graph.call_function(aten.view.default, (now, shape))
                value = value.view(shape)
                now.meta = dict(product.meta) | {"val": value}
            total.replace_input_with(product, now)


_EXTREMES = (aten.amax.default, aten.amin.default, aten.max.default, aten.min.default)
_FAR = 16  # calls between a value and its reader above which Inductor has to realize it


def _make_far_values(graph: fx.Graph) -> None:
    """Inductor inlines an element-wise value into each kernel that reads it. Where the plan keeps such a value for
    later, as a recomputed dropout mask, its operands would stay alive instead. Where these are larger, the value
    is realized at its position in the plan."""
    calls = [n for n in graph.nodes if n.op == "call_function" and not _is_alias(n)]
    place = {node: i for i, node in enumerate(calls)}
    last: dict[fx.Node, int] = {}  # positions of last readers
    made_of: dict[fx.Node, set[fx.Node]] = {}  # by node: the values that must be alive to inline it into a kernel
    for node in graph.nodes:
        if _is_alias(node) or _is_made_late(node):
            made_of[node] = set().union(*(made_of[operand] for operand in node.all_input_nodes))
        else:
            made_of[node] = {node}
        readers = [place[n] for n in _readers(node) if n in place]
        last[node] = max(readers, default=len(calls) if node.users else -1)
    for node in filter(_is_made_late, calls):
        freed = sum(_storage_bytes(_value_of(n)) for n in made_of[node] if last[n] <= place[node])
        if last[node] - place[node] > _FAR and freed >= _storage_bytes(_value_of(node)) > 0:
            _make_here(graph, node)


def _is_made_late(node: fx.Node) -> bool:
    """Whether Inductor inlines it into the kernels that read it."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    return torch.Tag.pointwise in node.target.tags or node.target in (
        aten.clone.default, aten.constant_pad_nd.default, aten.full.default, aten.select_scatter.default,
        aten.slice_scatter.default, prims.convert_element_type.default, prims.iota.default)


def _readers(node: fx.Node) -> list[fx.Node]:
    """Its users, and the users of its views."""
    return [reader for user in node.users for reader in (_readers(user) if _is_alias(user) else [user])]


def _make_here(graph: fx.Graph, node: fx.Node) -> None:
    value = node.meta["val"]
    with graph.inserting_after(node):
        made = graph.call_function(prims.inductor_force_stride_order.default, (node, list(value.stride())))
    made.meta = dict(node.meta)
    node.replace_all_uses_with(made, delete_user_cb=lambda user: user is not made)


# ---------------------------------------------------------------------------------------------
# Random numbers with eager kernels


# Eager kernels draw from these alone: a node that runs twice gives the same numbers.
_RANDOM_COMPOSITES = ("native_dropout", "rand_like", "randn_like", "bernoulli", "randint", "randint_like")


@functools.cache
def _random_decompositions() -> dict[Any, Callable]:
    """Composite random operators in terms of `rand` and `randn`."""
    from torch._inductor.decomposition import select_decomp_table

    return {op: rule for op, rule in select_decomp_table().items()
            if getattr(op, "namespace", "") == "aten" and op._schema.name.split("::")[1] in _RANDOM_COMPOSITES}


def _functionalize_random(module: fx.GraphModule) -> None:
    """Makes random draws functions of a seed, as Inductor has them: seeds are drawn once a step,
    so that a recomputed draw gives the same numbers."""
    from torch._dynamo.utils import detect_fake_mode
    from torch._inductor.fx_passes.replace_random import replace_random_passes
    from torch._inductor.virtualized import V

    values = [n.meta.get("val") for n in module.graph.find_nodes(op="placeholder")]
    fake_mode = detect_fake_mode([v for v in values if isinstance(v, torch.Tensor)])
    if fake_mode is not None:
        with V.set_fake_mode(fake_mode):
            replace_random_passes(module)


def _draw_seeds(count: int) -> torch.Tensor:
    return torch.randint(2**63 - 1, (count,), dtype=torch.int64)  # on the host: reading one doesn't wait


@functools.cache
def _generator(device: torch.device) -> torch.Generator:
    return torch.Generator(device)


def _draw(size: Sequence[int], seed: torch.Tensor, mode: str, device: torch.device) -> torch.Tensor:
    generator = _generator(device).manual_seed(int(seed))
    return getattr(torch, mode)(size, generator=generator, device=device, dtype=torch.float32)


def _draw_integers(low: int, high: int, size: Sequence[int], seed: torch.Tensor, device: torch.device) -> torch.Tensor:
    return torch.randint(low, high, size, generator=_generator(device).manual_seed(int(seed)), device=device)


def _lower_random(graph: fx.Graph) -> None:
    """Eager kernels for Inductor's random prims: its own ignore the seed."""
    for node in graph.nodes:
        if node.target is prims.inductor_seeds.default:
            node.target, node.args = _draw_seeds, (node.args[0],)
        elif node.target is prims.inductor_seed.default:
            node.target, node.args = _draw_seeds, (1,)
        elif node.target is prims.inductor_lookup_seed.default:
            node.target = operator.getitem
        elif node.target is prims.inductor_random.default:
            node.target, node.args, node.kwargs = _draw, (*node.args[:3], node.meta["val"].device), {}
        elif node.target is prims.inductor_randint.default:
            node.target, node.args, node.kwargs = _draw_integers, (*node.args[:4], node.meta["val"].device), {}


def _run_eagerly(module: fx.GraphModule, _inputs: Sequence[Any]) -> Callable:
    """The graph as Python, node by node, each value dropped after its last reader; operands are
    handed over in a list that is emptied (a boxed call), so that they go as they are used up."""
    _lower_random(module.graph)
    module.graph.set_codegen(fx.graph._BoxedCodeGen())
    module.recompile()
    run = functools.partial(module.forward)
    run._boxed_call = True
    return run


# ---------------------------------------------------------------------------------------------
# Inductor's fusions


@dataclasses.dataclass
class _Buffer:
    """A kernel's output, or a graph input that can be freed. Kernels are numbers."""

    size: int  # bytes that appear when it is made
    size_freed: int  # bytes that go with its last reader
    maker: int  # -1: an input, there from the start
    readers: list[int]
    stays: bool  # an output of the graph


class _KernelOrder:
    """The order in which kernels run, and the bytes alive at each. Fused kernels form a group and
    run at one place: the later one moves up to the earlier, with what it needs, or the earlier one down
    to the later, with what needs it."""

    def __init__(self, needs: list[set[int]], buffers: list[_Buffer], in_place: list[bool]) -> None:
        """needs     of each kernel, in order: the kernels that have to run before it.
        in_place  of each: whether it may write over an operand that nobody reads later."""
        self._buffers, self._in_place = buffers, in_place
        self._needs = [set(need) for need in needs]  # by group, of groups
        self._touched: list[set[int]] = [set() for _ in needs]  # by group: buffers that it makes or reads
        for i, buffer in enumerate(buffers):
            for kernel in (*buffer.readers, *([buffer.maker] if buffer.maker >= 0 else [])):
                self._touched[kernel].add(i)
        self._group = list(range(len(needs)))  # of each kernel: the one whose number stands for its group
        self._inputs = sum(buffer.size for buffer in buffers if buffer.maker < 0 and (buffer.readers or buffer.stays))
        self._stand(list(range(len(needs))))
        self.fusions = 0

    def _stand(self, order: list[int]) -> None:
        self.order = order  # of groups
        self._place = dict(zip(order, range(len(order))))
        self.line, self._before = self._timeline(order, 0, self._inputs, self._group, range(len(self._buffers)))

    @property
    def peak(self) -> int:
        return max(self.line, default=0)

    def group(self, kernel: int) -> int:
        return self._group[kernel]

    def raises(self, a: int, b: int, limit: int, farthest: int | None = None) -> bool:
        """Whether these two kernels in one group would raise the peak, and over the limit. Of those that
        stand more than `farthest` places apart only those don't that couldn't whatever they give back."""
        if self._group[a] == self._group[b]:
            return False
        first, last = self._places(a, b)
        here = max(self.line[first : last + 1])
        moved = (*self._above(first, last), self.order[last])
        if here + sum(self._buffers[i].size for g in moved for i in self._touched[g]
                      if self._made_by(i) == g) <= limit:
            return False
        if farthest is not None and last - first > farthest:
            return True
        return max(self._fused(a, b)[1]) > max(limit, self.peak)

    def fuse(self, a: int, b: int) -> None:
        kept, gone = self._group[a], self._group[b]
        if kept == gone:
            return
        first, last = self._places(a, b)
        candidate, _ = self._fused(a, b)
        self._group = [kept if g == gone else g for g in self._group]
        self._touched[kept] |= self._touched[gone]
        self._needs[kept] |= self._needs[gone]
        for need in self._needs:
            if gone in need:
                need.remove(gone)
                need.add(kept)
        self._needs[kept].discard(kept)
        self.fusions += 1
        self._stand(self.order[:first] + candidate + self.order[last + 1 :])

    def _made_by(self, buffer: int) -> int:
        maker = self._buffers[buffer].maker
        return self._group[maker] if maker >= 0 else -1

    def _places(self, a: int, b: int) -> tuple[int, int]:
        one, other = self._place[self._group[a]], self._place[self._group[b]]
        return min(one, other), max(one, other)

    def _fused(self, a: int, b: int) -> tuple[list[int], list[int]]:
        """What then stands from the earlier one's place to the later one's, and the bytes alive at each, by
        the better of the two ways."""
        kept, gone = self._group[a], self._group[b]
        group = [kept if g == gone else g for g in self._group]
        first, last = self._places(a, b)
        touched = sorted({i for g in self.order[first : last + 1] for i in self._touched[g]})
        candidates = [[kept if g == gone else g for g in candidate] for candidate in self._candidates(first, last)]
        return min(((candidate, self._timeline(candidate, first, self._before[first], group, touched)[0]) for candidate in candidates),
                   key=lambda found: max(found[1]))

    def _candidates(self, first: int, last: int) -> Iterable[list[int]]:
        """The groups between these places, the two at one. (Inductor doesn't fuse two of which one needs
        the other through a third.)"""
        one, between = self.order[first], self.order[first + 1 : last]
        up, down = self._above(first, last), self._below(first, last)
        yield [g for g in between if g in up] + [one] + [g for g in between if g not in up]
        yield [g for g in between if g not in down] + [one] + [g for g in between if g in down]

    def _above(self, first: int, last: int) -> set[int]:
        """Groups in between that must run before the one at `last`."""
        needed, found = set(self._needs[self.order[last]]), set()
        for g in reversed(self.order[first + 1 : last]):
            if g in needed:
                found.add(g)
                needed |= self._needs[g]
        return found

    def _below(self, first: int, last: int) -> set[int]:
        """Groups in between that must run after the one at `first`."""
        found = {self.order[first]}
        for g in self.order[first + 1 : last]:
            if not found.isdisjoint(self._needs[g]):
                found.add(g)
        return found - {self.order[first]}

    def _timeline(self, candidate: list[int], first: int, alive: int, group: list[int],
                  touched: Iterable[int]) -> tuple[list[int], list[int]]:
        """Bytes alive while each of `way` runs, and before it does, where these groups stand from the place
        `first` on, `alive` are there when they begin, and these buffers come or go."""
        here = dict(zip(candidate, range(len(candidate))))
        change = [[0, 0] for _ in candidate]  # made and given back by each
        reuse: list[dict[int, list[int]]] = [{} for _ in candidate]
        for i in touched:
            buffer = self._buffers[i]
            start = here.get(group[buffer.maker], -1) if buffer.maker >= 0 else -1
            end = len(candidate) if buffer.stays else max((self._seen(group[r], here, first) for r in buffer.readers),
                                                    default=start)
            if start == end >= 0 and buffer.size == buffer.size_freed and buffer.readers:
                continue  # it stays within the kernel
            if start >= 0:
                change[start][0] += buffer.size
                reuse[start].setdefault(buffer.size, [0, 0])[0] += 1
            if 0 <= end < len(candidate):
                change[end][1] += buffer.size_freed
                if start < end:
                    reuse[end].setdefault(buffer.size_freed, [0, 0])[1] += 1
        return self._summed(candidate, change, reuse, alive)

    def _seen(self, g: int, here: dict[int, int], first: int) -> int:
        """A group's place among `here`, or whether it runs before them or after."""
        return here[g] if g in here else -1 if self._place[g] < first else len(here)

    def _summed(self, candidate: list[int], change: list[list[int]], reuse: list[dict[int, list[int]]],
                alive: int) -> tuple[list[int], list[int]]:
        line, before = [], []
        for g, (made, freed), sizes in zip(candidate, change, reuse):
            over = sum(size * min(pair) for size, pair in sizes.items()) if self._in_place[g] else 0
            before.append(alive)
            line.append(alive + made - over)
            alive += made - freed
        return line, before


class _FusionGuard:
    """Keeps Inductor's fusions from raising the peak of a graph over a limit: fusing kernels that stand
    far apart in the plan makes values live longer. Inductor asks its scheduler before each fusion
    whether it would (can_fusion_increase_peak_memory, a guess by shared operands); this answers with
    the peak of the plan's order with the two kernels at one place. Afterwards the kernels run in that
    order."""

    _FARTHEST = 64  # places; Inductor itself fuses nodes that share operands no farther

    def __init__(self, limit: int) -> None:
        """`limit`: bytes; the peak without any fusion counts where it is higher."""
        self._limit = limit
        self._known: dict[tuple[int, int, int], bool] = {}

    def before(self, nodes: list[Any]) -> list[Any]:
        """Inductor's hook before fusion."""
        scheduler = nodes[0].scheduler
        self._number = {member.get_name(): i for i, node in enumerate(nodes) for member in node.get_nodes()}
        self._kernels = _kernel_order(nodes)
        self._allowed = max(self._limit, self._kernels.peak)
        self._known.clear()
        self._guess = scheduler.can_fusion_increase_peak_memory
        scheduler.can_fusion_increase_peak_memory = self._raises
        return nodes

    def after(self, nodes: list[Any]) -> list[Any]:
        """Inductor's hook after fusion: restores the plan's order, which is final."""
        from torch._inductor import config

        for node in nodes:
            self._follow(node)
        config.reorder_for_peak_memory = False  # this compilation's: the back end patches it
        place = {group: i for i, group in enumerate(self._kernels.order)}
        ordered = sorted(nodes, key=lambda node: place[self._kernels.group(self._numbers(node)[0])])
        ordered = nodes[0].scheduler.topological_sort_schedule(ordered)
        _planning_info(ordered)  # which reordering would leave, and code generation reads
        return ordered

    def _raises(self, one: Any, other: Any, *rest: Any) -> bool:
        a, b = self._follow(one), self._follow(other)
        key = (self._kernels.fusions, a, b)
        if key not in self._known:
            self._known[key] = self._kernels.raises(a, b, self._allowed, self._FARTHEST)
        return self._known[key] or self._guess(one, other, *rest)

    def _follow(self, node: Any) -> int:
        """Follows Inductor's fusions since the last call; returns the group's number."""
        first, *others = self._numbers(node)
        for other in others:
            self._kernels.fuse(first, other)
        return self._kernels.group(first)

    def _numbers(self, node: Any) -> list[int]:
        return sorted({self._number[member.get_name()] for member in node.get_nodes()})


def _planning_info(nodes: list[Any]) -> tuple[dict[str, Any], set[str]]:
    """Inductor's own facts of sizes and readers, noted on its nodes and buffers; (inputs that can be given
    back, names of outputs)."""
    from torch._inductor import memory
    from torch._inductor.virtualized import V
    from torch.utils._ordered_set import OrderedSet

    scheduler, outputs = nodes[0].scheduler, OrderedSet(V.graph.get_output_names())
    _, inputs = memory.prepare_planning_info(nodes, scheduler.name_to_buf, scheduler.name_to_fused_node,
                                             OrderedSet(V.graph.graph_inputs.keys()), outputs)
    return inputs, outputs


def _kernel_order(nodes: list[Any]) -> _KernelOrder:
    """The kernel order of Inductor's scheduler nodes."""
    inputs, outputs = _planning_info(nodes)
    number = {node: i for i, node in enumerate(nodes)}
    maker = {made.get_name(): number[node] for node in nodes for made in node.get_outputs()}
    buffers = []
    for buffer in (*inputs.values(), *(made for node in nodes for made in node.get_outputs())):
        facts, name = buffer.mpi_buffer, buffer.get_name()
        size = facts.size_alloc if name in maker else facts.size_free
        buffers.append(_Buffer(size, facts.size_free, maker.get(name, -1), [number[r] for r in facts.succ_nodes],
                               name in outputs))
    needs = [{number[p] for p in node.mpi_node.pred_nodes} for node in nodes]
    return _KernelOrder(needs, buffers, [not node.is_extern() for node in nodes])


# ---------------------------------------------------------------------------------------------
# The back end


@dataclasses.dataclass
class GraphPlan:
    """The plan of one graph. Sizes in bytes; `step_us` as the device's profile prices it."""

    name: str
    planner: str  # "recut", "pytorch"
    reason: str = ""  # why PyTorch's own partitioner took it
    budget_bytes: int = 0  # of the activations' peak; 0: none
    holds: bool = True
    peak_bytes: int = 0  # predicted
    bound_bytes: int = 0  # no order of the graph peaks lower; 0: not known
    saved_bytes: int = 0
    step_us: float = 0
    recompute_us: float = 0
    repeats_attention: bool = False  # backward runs attention's forward kernel
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)  # by part of planning
    file: dict[str, Any] = dataclasses.field(default_factory=dict)  # fx-joint-graph
    plan: dict[str, Any] = dataclasses.field(default_factory=dict)


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def _bytes_of(budget: str | int | None) -> int | str:
    """Bytes, or "none", or "40%" as it is."""
    if budget is None or budget == "none":
        return "none"
    if isinstance(budget, int):
        return budget
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*|%)\s*", budget)
    if found and found[2] == "%":
        return budget
    if not found or found[2].upper() not in _UNITS:
        raise ValueError(f"budget {budget!r}: expected bytes such as 6GiB or 1000000, 40% or none")
    return int(float(found[1]) * _UNITS[found[2].upper()])


@dataclasses.dataclass(frozen=True)
class _Options:
    budget: int | str | float  # a float is PyTorch's own: a fraction of saved bytes
    scope: str
    kernels: str
    device: str
    measure: str
    strategy: str
    effort: float
    save: tuple[str, ...]
    recompute: tuple[str, ...]
    slack: float
    expansions: str = ""  # of operators that Recut lacks, as the library takes them


class Backend(CustomPartitionerFn):
    """A back end for `torch.compile`; `backend` makes it. `plans` holds one entry a graph."""

    def __init__(self, options: _Options, inductor: dict[str, Any], decompositions: dict | None) -> None:
        self.options = options
        self.plans: list[GraphPlan] = []
        self._inductor = inductor
        self._decompositions = decompositions
        self._meters: dict[torch.device, _Meter] = {}
        self._guard: _FusionGuard | None = None

    # torch.compile calls this.
    def __call__(self, module: fx.GraphModule, inputs: Sequence[Any], **partition: Any) -> Any:
        if partition:  # Inductor asks through custom_partitioner_fn
            return self.partition(module, inputs, **partition)
        if self.options.kernels == "inductor":
            from torch._inductor.compile_fx import compile_fx

            return compile_fx(module, inputs, config_patches=self._inductor_settings())
        from torch._dynamo.backends.common import aot_autograd

        table = {**_random_decompositions(), **(self._decompositions or {})}
        return aot_autograd(fw_compiler=_run_eagerly, bw_compiler=_run_eagerly, inference_compiler=_run_eagerly,
                            partition_fn=self.partition, decompositions=table)(module, inputs)

    def _inductor_settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"custom_partitioner_fn": self}
        if self.options.strategy == "peak" and self.options.budget != "none":
            # Changes of the other two by the hooks end with a compilation because they are named
            # here.
            settings |= {"_pre_fusion_custom_pass": self._before_fusion, "_post_fusion_custom_pass": self._after_fusion,
                         "reorder_for_peak_memory": True, "allow_buffer_reuse": True}
        return settings | self._inductor

    def _before_fusion(self, nodes: list[Any]) -> list[Any]:
        limits = [max(plan.budget_bytes, plan.peak_bytes) for plan in self.plans if plan.planner == "recut"]
        if not limits:
            return nodes
        if any(plan.repeats_attention for plan in self.plans):
            from torch._inductor import config

            # Attention's kernel gives its random state as numbers on the host, which Inductor takes to be on
            # the device: where they are given back within backward, it would have a kernel write there.
            config.allow_buffer_reuse = False
        self._guard = _FusionGuard(min(limits))  # whose graph this is, the hook doesn't say
        return self._guard.before(nodes)

    def _after_fusion(self, nodes: list[Any]) -> list[Any]:
        guard, self._guard = self._guard, None
        return guard.after(nodes) if guard else nodes

    def uuid(self) -> Any:
        """Part of the key of Inductor's caches: it separates plans."""
        code = hashlib.sha256(pathlib.Path(__file__).read_bytes())
        code.update(repr((self.options, _library().recut_version())).encode())
        return code.digest()

    # The partition function.
    def partition(self, module: fx.GraphModule, inputs: Sequence[Any], *, num_fwd_outputs: int,
                  **rest: Any) -> tuple[fx.GraphModule, fx.GraphModule]:
        if self.options.kernels == "eager":
            _functionalize_random(module)
        name = f"graph{len(self.plans)}"
        try:
            if self.options.strategy == "pytorch":
                return self._ask_pytorch(module, inputs, num_fwd_outputs, rest, name, "it was asked for")
            return self._plan(module, num_fwd_outputs, name)
        except (_Unsupported, RecutError) as why:
            warnings.warn(f"recut: PyTorch's own partitioner plans this graph: {why}", RuntimeWarning, stacklevel=2)
            return self._ask_pytorch(module, inputs, num_fwd_outputs, rest, name, str(why))

    def _ask_pytorch(self, module: fx.GraphModule, inputs: Sequence[Any], num_results: int, rest: dict[str, Any],
                     name: str, reason: str) -> tuple[fx.GraphModule, fx.GraphModule]:
        share = self.options.budget if isinstance(self.options.budget, float) else 1.0
        start = time.perf_counter()
        with torch._functorch.config.patch(activation_memory_budget=share):
            halves = partitioners.min_cut_rematerialization_partition(
                module, inputs, num_fwd_outputs=num_results, **rest)
        self.plans.append(GraphPlan(name, "pytorch", reason, seconds={"plan": time.perf_counter() - start}))
        return halves

    def _plan(self, module: fx.GraphModule, num_results: int, name: str) -> tuple[fx.GraphModule, fx.GraphModule]:
        clock = _Clock()
        module.graph.eliminate_dead_code()
        joint = _read_joint(module, num_results)
        _check_supported(joint)
        measured = self._measure(joint)
        clock.lap("measure")
        file = _file_json(joint, name, _graph_nodes(joint, measured), **_allocator_facts(joint, self._profile(joint)))
        text = json.dumps(file, separators=(",", ":")).encode()
        clock.lap("export")
        budget = self._activation_budget(joint)
        request, library = self._request(joint, budget), self.options.expansions
        plan, report, holds = _plan_expanded(joint, file, request, library) if library else _plan(text, request)
        clock.lap("plan")
        halves = _Emitter(joint, plan, self.options.kernels == "inductor").emit()
        clock.lap("emit")
        found = GraphPlan(name, "recut", "", report.get("budget_bytes", 0), holds, report["peak_bytes"],
                          report.get("peak_bound_bytes", 0), report["saved_bytes"], report["step_us"],
                          report["recompute_us"], _repeats_attention(joint, plan), clock.laps, file, plan)
        self.plans.append(found)
        self._say(found)
        return halves

    def _measure(self, joint: _Joint) -> dict[fx.Node, dict[str, Any]]:
        return _measure(joint, self.options.measure, self.options.kernels == "eager", self._meters)

    def _profile(self, joint: _Joint) -> str:
        return _profile_of(joint) if self.options.device == "auto" else self.options.device

    def _activation_budget(self, joint: _Joint) -> str:
        budget = self.options.budget
        if budget == "none" or (isinstance(budget, str) and budget.endswith("%")):
            return str(budget)
        if self.options.scope == "step":
            budget -= sum(_storage_bytes(p.meta["val"]) for p in joint.primals)
        return str(max(1, int(budget * (1 - self.options.slack))))

    def _request(self, joint: _Joint, budget: str) -> dict[str, Any]:
        options = self.options
        times = options.measure == "times" and _device_of(joint).type == "cuda"
        once = _run_once(joint)
        request = {"strategy": options.strategy, "budget": budget, "effort": options.effort,
                   "device": "measured" if times else self._profile(joint),
                   "save": [*options.save, *once], "recompute": [*options.recompute, *_to_recompute(joint, once)],
                   "ignore_checkpoints": True}  # the names say it: the module knows more about calls that run once
        if options.kernels == "inductor" and options.strategy == "peak":
            request["model"] = "fused"  # values inside a kernel of Inductor's take no memory
        return {key: value for key, value in request.items() if value != []}

    def _say(self, found: GraphPlan) -> None:
        if not found.holds:
            warnings.warn(f"recut: {found.name} can't be run within {_mib(found.budget_bytes)}: the lowest plan found "
                          f"peaks at {_mib(found.peak_bytes)} and is used (proved: none below "
                          f"{_mib(found.bound_bytes)})", RuntimeWarning, stacklevel=2)
        if len(self.plans) == 2 and self.options.budget != "none":
            warnings.warn("recut: the model has several graphs; the budget is each graph's own", RuntimeWarning,
                          stacklevel=2)


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name], self._last = now - self._last, now


def _mib(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB"


def _storage_bytes(value: Any) -> int:
    return value.untyped_storage().nbytes() if isinstance(value, torch.Tensor) else 0


def _plan_expanded(joint: _Joint, file: dict[str, Any], request: dict[str, Any],
                   expansions: str) -> tuple[dict, dict, bool]:
    """A plan that prices calls by the parts that the operator library gives them. In PyTorch's graph each is still one
    call, which runs where its last part does. Where an earlier part is to be saved, its operands are."""
    names = _node_names(joint)
    call_of = {names[n]: n for n in joint.calls()}
    known = set(names.values())  # no part of an expansion has one of these
    plan, report, holds = _plan(json.dumps(file).encode(), request, expansions)
    for part in ("forward", "backward", "saved"):
        plan[part] = [name for name in plan[part] if name in known]
    plan["same"] = {a: b for a, b in plan["same"].items() if a in known and b in known}
    ran = {*plan["forward"], *plan["backward"]}
    for part in ("forward", "backward"):
        order: list[str] = []
        for name in plan[part]:
            whole = names[call_of[name].args[0]] if call_of[name].target is operator.getitem else name
            if whole not in ran and whole not in order:
                order.append(whole)  # its results were expanded one by one
            order.append(name)
        plan[part] = order
    late = {names[n] for name in plan["backward"] for n in call_of[name].all_input_nodes} - {*plan["backward"]}
    plan["saved"] = sorted({*plan["saved"], *(late & {*plan["forward"]})})
    return plan, report, holds


def _run_once(joint: _Joint) -> list[str]:
    """Names of nodes that must not run again: those that read an input which forward writes to,
    draw inside a library's kernel, or are marked to be saved by the model's author."""
    names = _node_names(joint)
    written = joint.written_primals()
    changed: set[fx.Node] = set(written)
    once = []
    for node in joint.calls():
        if _is_backward(node):
            continue
        if any(operand in changed for operand in _operands_that_count(node)):
            if _is_alias(node):
                changed.add(node)
            else:
                once.append(names[node])
        elif _draws_inside(node):
            once.append(names[node])
        elif _is_to_save(node) and (source := _view_chain(node)[-1]).op == "call_function":
            once.append(names[source])
    late = [n for n in changed if any(_is_backward(user) for user in n.users)]
    if late:
        raise _Unsupported(f"backward reads {late[0].name}, an input that forward writes to")
    return once


def _operands_that_count(node: fx.Node) -> list[fx.Node]:
    """Operands that affect the values which backward reads. In training, batch norm normalizes by the
    batch alone: running statistics go only into the new running statistics."""
    if "batch_norm" not in str(node.target) or not isinstance(node.target, torch._ops.OpOverload):
        return node.all_input_nodes
    arguments = dict(zip((a.name for a in node.target._schema.arguments), node.args)) | node.kwargs
    if not arguments.get("training"):
        return node.all_input_nodes
    running = {"running_mean", "running_var"}
    return [a for name, a in arguments.items() if isinstance(a, fx.Node) and name not in running]


def _is_backward(node: fx.Node) -> bool:
    return node.meta.get("partitioner_tag") in ("is_backward", "must_be_in_backward")


def _repeats_attention(joint: _Joint, plan: dict[str, Any]) -> bool:
    names, again = _node_names(joint), set(plan["backward"])
    return any("attention" in str(n.target) and not _is_backward(n) and names[n] in again for n in joint.calls())


def _draws_inside(node: fx.Node) -> bool:
    """Attention with dropout: its kernel draws the mask by itself."""
    if not isinstance(node.target, torch._ops.OpOverload) or "attention" not in str(node.target):
        return False
    names = [a.name for a in node.target._schema.arguments]
    if "dropout_p" not in names or "backward" in str(node.target):
        return False
    at = names.index("dropout_p")
    share = node.kwargs.get("dropout_p", node.args[at] if at < len(node.args) else 0.0)
    return share != 0.0


def _to_recompute(joint: _Joint, once: Iterable[str]) -> list[str]:
    """Names of nodes that the model's author wants run again, where there is a choice: values that forward
    makes and backward reads, no results and none of `once`."""
    names = _node_names(joint)
    results = (_source(r) for r in (*joint.results, *joint.sources) if isinstance(r, fx.Node))
    fixed = {_view_chain(result)[-1] for result in results} | set(once)
    late = _run_in_backward(joint)
    return [names[n] for n in joint.calls()
            if _asks_to_recompute(n) and n not in late and not _is_alias(n)
            and n not in fixed and names[n] not in fixed and _is_read_by(n, late)]


def _run_in_backward(joint: _Joint) -> set[fx.Node]:
    """Calls that forward's results don't need."""
    needed: set[fx.Node] = {_source(r) for r in (*joint.results, *joint.sources) if isinstance(r, fx.Node)}
    for node in reversed(list(joint.calls())):
        if node in needed:
            needed.update(node.all_input_nodes)
    return set(joint.calls()) - needed


def _is_read_by(node: fx.Node, readers: set[fx.Node]) -> bool:
    """Whether one of `readers` reads it, itself or a view of it."""
    return any(user in readers or (_is_alias(user) and _is_read_by(user, readers)) for user in node.users)


def _is_alias(node: fx.Node) -> bool:
    return node.target is operator.getitem or (isinstance(node.target, torch._ops.OpOverload) and _is_view(node.target))


def _policy(node: fx.Node) -> str:
    """The policy that torch.utils.checkpoint set for it."""
    return getattr(node.meta.get("recompute"), "name", "")


def _asks_to_recompute(node: fx.Node) -> bool:
    return _policy(node) in ("MUST_RECOMPUTE", "PREFER_RECOMPUTE")


def _is_to_save(node: fx.Node) -> bool:
    """Whether a policy has it saved: as in PyTorch's partitioner, a value that a later checkpointed region
    begins with is, too, since backward would otherwise run all regions before it."""
    if _policy(node) == "MUST_SAVE":
        return True
    return _asks_to_recompute(node) and any(
        _asks_to_recompute(user) and _region(user) > _region(node) for user in node.users)


def _region(node: fx.Node) -> int:
    """The number of its checkpointed region; -1 where it is in none."""
    return node.meta.get("ac_graph_id") or -1


def backend(budget: str | int | float | None = "none", *, kernels: str = "inductor", scope: str = "activations",
            device: str = "auto", measure: str = "workspaces", strategy: str = "peak", effort: float = 0.5,
            save: Sequence[str] = (), recompute: Sequence[str] = (), slack: float = 0.01,
            decompositions: dict | None = None, inductor: dict[str, Any] | None = None,
            op_library: Sequence[str | os.PathLike] = ()) -> Backend:
    """A back end whose compiled steps peak within `budget`.

    budget    bytes ("6GiB", 6_000_000_000), a share of the peak without recomputation ("40%"), or
              "none". A budget that can't be held is said in a warning, and the lowest plan runs.
    scope     what the bytes are for: "activations" (all that a step allocates: activations,
              results, gradients, workspaces) or "step" (its inputs and parameters counted too; an
              optimizer's states are not in the graph and never counted).
    kernels   "inductor", or "eager": PyTorch's own kernels one by one.
    device    the profile that times are priced by: "auto" goes by the GPU's name.
    measure   "workspaces": what kernels take for themselves while they run is measured as the model
              is compiled; "times": their times as well, and recomputation is priced by them;
              "nothing". Measuring resets the device's peak statistics.
    strategy  "peak"; "default" keeps everything; "pytorch": PyTorch's own partitioner, where the
              budget is its fraction of saved bytes: for comparisons, all else being the same.
    effort    how long the planner searches: 1 is the command's default, which takes twice as long for plans
              that are hardly better.
    save, recompute   names or module patterns such as "h.*.mlp", as the command takes them.
    slack     the share of the budget that is left for the allocator, whose blocks may be up to
              1 MiB larger than what was asked for.
    decompositions, inductor   AOTAutograd's table (eager kernels), Inductor's settings.
    op_library   expansions of operators that Recut lacks, as the command's --op-library takes them: files of rules,
              "OPERATOR=FILE" of the operator's forward graph, or folders of both. They are priced by their parts.
    """
    for what, value, known in (("kernels", kernels, ("inductor", "eager")), ("scope", scope, ("activations", "step")),
                               ("measure", measure, ("workspaces", "times", "nothing")),
                               ("strategy", strategy, ("peak", "default", "pytorch"))):
        if value not in known:
            raise ValueError(f"{what} {value!r}: expected one of {', '.join(known)}")
    if strategy == "pytorch":
        share = 1.0 if budget in ("none", None) else float(budget)
        options = _Options(share, scope, kernels, device, "nothing", strategy, effort, (), (), 0.0)
    else:
        _library()  # where there is none, say so now
        options = _Options(_bytes_of(budget), scope, kernels, device, measure, strategy, effort, tuple(save),
                           tuple(recompute), slack, _expansions(op_library))
    return Backend(options, dict(inductor or {}), decompositions)


# ---------------------------------------------------------------------------------------------
# Export


def export(model: Callable, args: Sequence[Any], path: str | os.PathLike, *, kwargs: dict[str, Any] | None = None,
           name: str | None = None, forward: bool = False, partitions: Sequence[float] = (),
           decompositions: dict | str | None = "inductor", measure: str = "nothing",
           dynamic: bool | dict | Sequence[dict | None] = False) -> list[pathlib.Path]:
    """Writes the joint graph of `model(*args, **kwargs)` to `path` (.json.gz or .json), one file a
    graph where the model breaks into several: model.json.gz, model.1.json.gz, …; gives their paths.

    forward     the forward graph alone, as an inference would run it (key "forward"), its parameters and buffers named.
    partitions  PyTorch's budgets to ask its own partitioner for, such as (1.0, 0.5, 0.0): what it
                saves and recomputes stands in the file, and the joint graph after Inductor's passes.
    decompositions   "inductor": its table; None: none; or a table.
    measure     as `backend` has it; nothing is measured of graphs whose sizes are symbols.
    dynamic     sizes that become symbols. True: all that torch.compile(dynamic=True) takes. Or for each argument, by
                position or name, its dimensions and their ranges: {"images": {0: None}, 1: {0: (2, 64)}}; a list
                has one entry an argument.
    """
    if decompositions == "inductor":
        from torch._inductor.decomposition import select_decomp_table

        decompositions = select_decomp_table()
    writer = _Writer(pathlib.Path(path), name or type(model).__name__, partitions, measure, model)
    from torch._dynamo.backends.common import aot_autograd

    capture = aot_autograd(fw_compiler=writer.finish_joint, bw_compiler=_run_eagerly,
                           inference_compiler=writer.take_forward, partition_fn=writer.take_joint,
                           decompositions=decompositions)
    def note_and_capture(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        writer.dynamo_graph = module.graph
        return capture(module, inputs)

    torch._dynamo.reset()
    kwargs = kwargs or {}
    with torch.no_grad() if forward else torch.enable_grad(), _marked(model, args, kwargs, dynamic):
        try:
            torch.compile(model, backend=note_and_capture, dynamic=dynamic is True)(*args, **kwargs)
        except Exception:
            if writer.fault is None:
                raise
    torch._dynamo.reset()
    if writer.fault is not None:
        raise writer.fault
    if not writer.paths:
        raise RecutError("nothing was captured: " + ("" if forward else "no output needs a gradient, or ")
                         + "Dynamo doesn't trace the model; TORCH_LOGS=graph_breaks says why")
    return writer.paths


@contextlib.contextmanager
def _marked(model: Callable, args: Sequence[Any], kwargs: dict[str, Any], dynamic: Any) -> Iterable[None]:
    """Marks the dimensions that `dynamic` names for Dynamo, and takes the marks away afterwards."""
    named = {} if isinstance(dynamic, bool) else dynamic if isinstance(dynamic, dict) else dict(enumerate(dynamic))
    before: list[tuple[torch.Tensor, dict[str, Any]]] = []

    def marks(tensor: torch.Tensor) -> dict[str, Any]:
        return {key: copy.copy(held) for key, held in tensor.__dict__.items()
                if key.startswith(("_dynamo_", "_specialize_on"))}

    try:
        for which, dimensions in named.items():
            tensor = _argument_of(model, args, kwargs, which) if dimensions else None
            for dimension, span in (dimensions or {}).items():
                if not -tensor.dim() <= dimension < tensor.dim():
                    raise RecutError(f"dynamic: argument {which!r} has no dimension {dimension}; found {tensor.dim()}")
                before.append((tensor, marks(tensor)))
                least, most = (None, None) if span is None else span
                if span is not None and not (isinstance(least, int) and isinstance(most, int)):
                    raise RecutError(f"dynamic: the range of argument {which!r} is {span!r}; expected None or "
                                     "(least, most)")
                torch._dynamo.mark_dynamic(tensor, dimension % tensor.dim(), min=least, max=most)
        yield
    finally:
        for tensor, held in reversed(before):
            for key in marks(tensor):
                del tensor.__dict__[key]
            tensor.__dict__.update(held)


def _argument_of(model: Callable, args: Sequence[Any], kwargs: dict[str, Any], which: int | str) -> torch.Tensor:
    if isinstance(which, int):
        found = args[which] if 0 <= which < len(args) else None
    else:
        function = model.forward if isinstance(model, torch.nn.Module) else model
        found = inspect.signature(function).bind(*args, **kwargs).arguments.get(which, kwargs.get(which))
    if not isinstance(found, torch.Tensor):
        raise RecutError(f"dynamic: argument {which!r} is {type(found).__name__}; expected the position or name of a "
                         "tensor")
    return found


class _Writer:
    def __init__(self, path: pathlib.Path, name: str, budgets: Sequence[float], measure: str,
                 model: Callable | None = None) -> None:
        self.paths: list[pathlib.Path] = []
        self.dynamo_graph: fx.Graph | None = None  # that the next capture is made from
        self.fault: RecutError | None = None  # which Dynamo wraps into its own
        self._unfinished: list[tuple[_Joint, dict[str, Any]]] = []
        self._path, self._name, self._budgets, self._measure, self._model = path, name, tuple(budgets), measure, model
        self._meters: dict[torch.device, _Meter] = {}

    def take_joint(self, module: fx.GraphModule, inputs: Sequence[Any], *, num_fwd_outputs: int, **rest: Any) -> Any:
        if not inputs:  # a region of invoke_subgraph, whose halves will stand in the graph that calls it
            return partitioners.default_partition(module, inputs, num_fwd_outputs=num_fwd_outputs)
        module.graph.eliminate_dead_code()
        _note_paths(self.dynamo_graph, module.graph)
        with self._refusals():
            joint = _read_joint(module, num_fwd_outputs)
            file = self._file(joint)
            if self._budgets:
                file |= self._partitions(module, inputs, num_fwd_outputs)
        self._unfinished.append((joint, file))
        return partitioners.default_partition(module, inputs, num_fwd_outputs=num_fwd_outputs)

    def finish_joint(self, module: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        """The compiler of the forward half."""
        for joint, file in self._unfinished:
            self._write(file | _view_facts(joint, file))
        self._unfinished.clear()
        return _run_eagerly(module, inputs)

    @contextlib.contextmanager
    def _refusals(self) -> Iterable[None]:
        try:
            yield
        except _Unsupported as why:
            self.fault = RecutError(f"this graph can't be exported: {why}")
            raise self.fault from None

    def take_forward(self, module: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
        _note_paths(self.dynamo_graph, module.graph)
        with self._refusals():
            joint = _read_forward(module)
            file = self._file(joint)
            file |= _view_facts(joint, file)
        file["forward"] = file.pop("joint")
        run = _run_eagerly(module, inputs)

        def write_and_run(arguments: list[Any]) -> Any:  # only a call shows which tensors are the model's own
            if file:
                self._write(file | {kind: self._held(arguments, kind) for kind in ("parameters", "buffers")})
                file.clear()
            return run(arguments)

        write_and_run._boxed_call = True
        return write_and_run

    def _held(self, arguments: Sequence[Any], kind: str) -> list[str]:
        own = {t.data_ptr() for t in getattr(self._model, kind)()} if isinstance(self._model, torch.nn.Module) else set()
        return [f"primals_{i + 1}" for i, a in enumerate(arguments) if isinstance(a, torch.Tensor) and a.data_ptr() in own]

    def _title(self) -> str:
        return self._name if not self.paths else f"{self._name}.{len(self.paths)}"

    def _file(self, joint: _Joint) -> dict[str, Any]:
        traced = _traced_facts(joint)
        measuring = "nothing" if "symbols" in traced else self._measure
        measured = _measure(joint, measuring, True, self._meters)
        facts = {} if measuring == "nothing" else _allocator_facts(joint, _profile_of(joint))
        return _file_json(joint, self._title(), _graph_nodes(joint, measured), **facts, **traced)

    def _partitions(self, module: fx.GraphModule, inputs: Sequence[Any], num_results: int) -> dict[str, Any]:
        from torch._inductor.compile_fx import _recursive_joint_graph_passes

        changed = _recursive_joint_graph_passes(copy.deepcopy(module), skip_invoke_subgraph=True)
        found = []
        for budget in self._budgets:
            start = time.perf_counter()
            with torch._functorch.config.patch(activation_memory_budget=float(budget)):
                forward, backward = partitioners.min_cut_rematerialization_partition(
                    copy.deepcopy(changed), inputs, num_fwd_outputs=num_results, compiler="inductor")
            found.append({"budget": float(budget), "seconds": time.perf_counter() - start}
                         | _partition_names(changed, forward, backward))
        return {"joint_after_passes": _graph_nodes(_read_joint(changed, num_results)), "partitions": found}

    def _write(self, file: dict[str, Any]) -> None:
        path = self._path
        if self.paths:
            stem = path.name.split(".")[0]
            path = path.with_name(path.name.replace(stem, f"{stem}.{len(self.paths)}", 1))
        text = json.dumps(file, separators=(",", ":")).encode()
        path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
        self.paths.append(path)


def _partition_names(joint: fx.GraphModule, forward: fx.GraphModule, backward: fx.GraphModule) -> dict[str, list[str]]:
    """The values saved between forward and backward, and the nodes that both run."""
    made = {n.name for n in forward.graph.nodes if n.op == "call_function"}
    inputs = [n.name for n in backward.graph.find_nodes(op="placeholder") if not aot_utils._is_tangent(n)]
    again = [n.name for n in backward.graph.nodes if n.op == "call_function" and n.name in made]
    order = {n.name: i for i, n in enumerate(joint.graph.nodes)}
    return {"saved": sorted(inputs, key=lambda n: order.get(n, -1)), "recomputed": again}


# ---------------------------------------------------------------------------------------------
# Report


@dataclasses.dataclass
class Report:
    """A planned step and its measurement, in bytes and milliseconds."""

    graphs: list[GraphPlan]
    predicted_peak_bytes: int  # of the graph that peaks highest
    measured_peak_bytes: int  # the highest allocated bytes in the step, above those before it
    requested_peak_bytes: int  # requested bytes; the allocator adds up to 1 MiB a block
    predicted_ms: float
    measured_ms: float

    def __str__(self) -> str:
        lines = [f"peak  predicted {_mib(self.predicted_peak_bytes)}, measured {_mib(self.measured_peak_bytes)} "
                 f"({_mib(self.requested_peak_bytes)} before the allocator rounds)",
                 f"time  predicted {self.predicted_ms:.2f} ms, measured {self.measured_ms:.2f} ms"]
        for graph in self.graphs:
            budget = _mib(graph.budget_bytes) if graph.budget_bytes else "none"
            message = graph.reason and f" ({graph.reason})"
            lines.append(f"{graph.name}  {graph.planner}{message}: budget {budget}, peak {_mib(graph.peak_bytes)}, saved "
                         f"{_mib(graph.saved_bytes)}, planned in {1e3 * sum(graph.seconds.values()):.0f} ms")
        return "\n".join(lines)


def report(planned: Backend, step: Callable[[], Any], *, before: Callable[[], Any] = lambda: None, repeats: int = 5,
           path: str | os.PathLike | None = None) -> Report:
    """Runs `step`, a forward and a backward of what `planned` compiles, and sets what was measured
    beside what was predicted. `before` runs ahead of each and isn't measured; it should drop the
    gradients: `lambda: model.zero_grad(set_to_none=True)`. A CUDA device is needed.

    path   writes each planned graph there, as `export` does, with its plan beside it (NAME.plan.json).
           The window and the page open the first; its graph `joint_after_passes` is what was
           planned, for the budget that the plan names.
    """
    if not torch.cuda.is_available():
        raise RecutError("a report needs a CUDA device: memory is measured by its allocator")
    for _ in range(2):  # compiles, and lets libraries set up their own memory
        before()
        step()
    peaks, times = {"allocated_bytes": 0, "requested_bytes": 0}, []
    for _ in range(repeats):
        before()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        at_rest = torch.cuda.memory_stats()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
        highest = torch.cuda.memory_stats()
        for kind, peak in peaks.items():
            peaks[kind] = max(peak, highest[f"{kind}.all.peak"] - at_rest[f"{kind}.all.current"])
    graphs = list(planned.plans)
    if path is not None:
        _write_plans(graphs, pathlib.Path(path))
    return Report(graphs, max((g.peak_bytes for g in graphs), default=0), *peaks.values(),
                  sum(g.step_us for g in graphs) / 1e3, statistics.median(times))


def _write_plans(graphs: list[GraphPlan], path: pathlib.Path) -> None:
    writer = _Writer(path, "", (), "nothing")
    for graph in graphs:
        if graph.file:
            writer._write(graph.file | {"joint_after_passes": graph.file["joint"]})
            stem = writer.paths[-1].name.removesuffix(".gz").removesuffix(".json")
            writer.paths[-1].with_name(f"{stem}.plan.json").write_text(json.dumps(graph.plan, indent=1) + "\n")
