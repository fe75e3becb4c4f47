"""A stand-in for the few parts of PyTorch that recut_torch touches when it writes a plan's graphs, so
that this can be tested where PyTorch isn't installed. `install()` before recut_torch is imported."""

from __future__ import annotations

import sys
import types
from typing import Any, Callable


class Anything:
    """Whatever is asked of it."""

    def __getattr__(self, _name: str) -> Anything:
        return Anything()

    def __call__(self, *_: Any, **__: Any) -> Anything:
        return Anything()


class Tensor:
    """A value's type as the file has it, in a storage of its own."""

    def __init__(self, recorded: dict[str, Any] | None) -> None:
        self.recorded = recorded

    def untyped_storage(self) -> types.SimpleNamespace:
        return types.SimpleNamespace(_cdata=id(self))


# By the beginnings of their names; `slice_backward` and the like make new values.
VIEWS = ("view", "permute", "transpose", "t.", "expand", "slice.", "select.", "squeeze", "unsqueeze", "alias",
         "detach", "_unsafe_view", "split", "unbind", "as_strided", "reshape", "diagonal.")


class OpOverload(str):
    """An operator by its name, `aten.mm.default`."""

    @property
    def is_view(self) -> bool:
        return self.startswith(tuple(f"aten.{view}" for view in VIEWS))

    @property
    def _schema(self) -> types.SimpleNamespace:
        return types.SimpleNamespace(returns=[types.SimpleNamespace(alias_info="a" if self.is_view else None)])


class HigherOrderOperator:
    """An operator by its name, `cond`."""

    def __init__(self, name: str) -> None:
        self.name = lambda: name


class Node:
    """As fx has them: made in order, knowing their users."""

    def __init__(self, name: str, op: str, target: Any, args: Any = (), kwargs: dict | None = None) -> None:
        self.name, self.op, self.target, self.args, self.kwargs = name, op, target, args, kwargs or {}
        self.meta: dict[str, Any] = {}
        self.users: dict[Node, None] = {}
        self.type = None

    @property
    def all_input_nodes(self) -> list[Node]:
        found: dict[Node, None] = {}
        map_arg((self.args, self.kwargs), found.setdefault)
        return list(found)


def map_arg(argument: Any, of_node: Callable[[Node], Any]) -> Any:
    if isinstance(argument, Node):
        return of_node(argument)
    if isinstance(argument, (list, tuple)):
        return type(argument)(map_arg(item, of_node) for item in argument)
    if isinstance(argument, dict):
        return {key: map_arg(item, of_node) for key, item in argument.items()}
    return argument


class Graph:
    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def _add(self, node: Node) -> Node:
        for operand in node.all_input_nodes:
            operand.users[node] = None
        self.nodes.append(node)
        return node

    def placeholder(self, name: str) -> Node:
        return self._add(Node(name, "placeholder", name))

    def create_node(self, op: str, target: Any, args: Any, kwargs: dict, name: str, _type: Any) -> Node:
        return self._add(Node(name, op, target, args, kwargs))

    def node_copy(self, node: Node, operand: Callable[[Node], Node] = lambda n: n) -> Node:
        copy = Node(node.name, node.op, node.target, map_arg(node.args, operand), map_arg(node.kwargs, operand))
        copy.meta = dict(node.meta)
        return self._add(copy)

    def output(self, values: tuple) -> Node:
        return self._add(Node("output", "output", "output", (values,)))

    def find_nodes(self, op: str) -> list[Node]:
        return [node for node in self.nodes if node.op == op]

    def eliminate_dead_code(self) -> None:
        for node in reversed(list(self.nodes)):
            if node.op == "call_function" and not node.users:
                self.nodes.remove(node)
                for operand in node.all_input_nodes:
                    del operand.users[node]

    def lint(self) -> None:
        """Every name once, every operand made before it is read."""
        made: dict[str, Node] = {}
        for node in self.nodes:
            assert node.name not in made, f"{node.name} stands twice"
            for operand in node.all_input_nodes:
                assert made.get(operand.name) is operand, f"{node.name} reads {operand.name} before it is made"
            made[node.name] = node


class Device:
    def __init__(self, kind: str) -> None:
        self.type = kind


class GraphModule:
    """A graph, and what its get_attr nodes name."""

    def __init__(self, nodes: list[Node], **held: Any) -> None:
        self.graph = Graph()
        self.graph.owning_module = self
        for node in nodes:
            node.graph = self.graph
            self.graph._add(node)
        self.__dict__.update(held)


def install() -> None:
    def module(name: str, **parts: Any) -> types.ModuleType:
        made = types.ModuleType(name)
        made.__dict__.update(parts)
        sys.modules[name] = made
        return made

    kinds = {kind: type(kind, (), {}) for kind in
             ("dtype", "layout", "memory_format", "SymInt", "SymFloat", "SymBool", "Generator")}
    fx = module("torch.fx", Node=Node, Graph=Graph, GraphModule=GraphModule, node=types.SimpleNamespace(map_arg=map_arg),
                _lazy_graph_module=types.SimpleNamespace(_make_graph_module=lambda _module, graph: graph))
    module("torch", Tensor=Tensor, ops=Anything(), fx=fx, device=Device, strided="torch.strided", __version__="none",
           _ops=types.SimpleNamespace(OpOverload=OpOverload, HigherOrderOperator=HigherOrderOperator),
           are_deterministic_algorithms_enabled=lambda: True, is_autocast_enabled=lambda _: False,
           _guards=types.SimpleNamespace(TracingContext=types.SimpleNamespace(try_get=lambda: None)), **kinds)
    module("torch._functorch", partitioners=Anything())
    module("torch._functorch._aot_autograd", utils=Anything(), descriptors=Anything())
    module("torch._inductor")
    module("torch._inductor.custom_graph_pass", CustomPartitionerFn=object)
    module("torch.utils")
    module("torch.utils._python_dispatch", _disable_current_modes=None)
