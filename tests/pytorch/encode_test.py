"""Files that recut_torch writes of graphs with symbols, nested graphs, writes and views, read by the library. The graphs
are made of a stand-in's parts: needs no PyTorch.

usage: encode_test.py     RECUT_LIBRARY: librecut.so
"""

from __future__ import annotations

import json
import operator
import pathlib
import sys
import types
import unittest
from typing import Any

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent.parent / "native" / "pytorch")]

import stand_in  # noqa: E402

stand_in.install()
import torch  # noqa: E402

import recut_torch  # noqa: E402


class Number(int):
    is_Integer = True


class Expression(str):
    is_Integer = False
    free_symbols = ("s7",)


def symbolic(text: str) -> Any:
    size = torch.SymInt()
    span = types.SimpleNamespace(lower=Number(2), upper=types.SimpleNamespace(is_Integer=False, is_Float=False))
    size.node = types.SimpleNamespace(expr=Expression(text), shape_env=types.SimpleNamespace(
        backed_var_to_val={"s7": Number(6)}, var_to_range={"s7": span}))
    return size


class Value(stand_in.Tensor):
    layout, device, dtype = torch.strided, stand_in.Device("cpu"), "torch.float32"

    def __init__(self, *shape: Any, stride: tuple | None = None, storage: int = 0) -> None:
        super().__init__(None)
        self.shape = shape
        self._stride = stride if stride is not None else (*shape[1:], 1) if shape else ()
        self._storage = storage or id(self)

    def stride(self) -> tuple:
        return self._stride

    def untyped_storage(self) -> Any:
        return types.SimpleNamespace(_cdata=self._storage)


def described(kind: str, text: str, **fields: Any) -> Any:
    made = type(kind, (), {"expr": lambda _: text, "__repr__": lambda _: f"{kind}({text})"})()
    made.__dict__.update(fields)
    return made


def node(name: str, op: str, target: Any, *args: Any, val: Any = None, desc: Any = None, **kwargs: Any) -> stand_in.Node:
    made = stand_in.Node(name, op, target, args, kwargs)
    made.meta = {"val": val} | ({"desc": desc} if desc else {})
    return made


def given(name: str, val: Any, desc: Any = None) -> stand_in.Node:
    return node(name, "placeholder", name, val=val, desc=desc)


def call(name: str, target: str, *args: Any, val: Any, **kwargs: Any) -> stand_in.Node:
    return node(name, "call_function", stand_in.OpOverload(target), *args, val=val, **kwargs)


def ended(nodes: list[stand_in.Node], outputs: tuple, **held: Any) -> stand_in.GraphModule:
    return stand_in.GraphModule([*nodes, node("output", "output", "output", outputs)], **held)


def file_of(module: stand_in.GraphModule, primals: list, tangents: list, outputs: list, descriptions: list, results: int,
            copies: list | None = None) -> dict[str, Any]:
    joint = recut_torch._Joint(module, primals, tangents, outputs, descriptions, results, copies or [])
    return recut_torch._file_json(joint, "test", recut_torch._graph_nodes(joint), **recut_torch._traced_facts(joint))


def planned(file: dict[str, Any]) -> dict[str, Any]:
    return recut_torch._plan(json.dumps(file).encode(), {"budget": "none"})[0]


class Cases(unittest.TestCase):
    def test_symbols_and_a_written_input(self) -> None:
        source, new = described("PlainAOTInput", "args[0]"), described("PlainAOTInput", "args[1]")
        x = given("x", Value(symbolic("s7"), 4), source)
        w = given("w", Value(symbolic("s7"), 4), new)
        t = given("t", Value(symbolic("s7"), 4), described("TangentAOTInput", "__output_tangent(output[0])"))
        twice = call("twice", "aten.mul.Tensor", x, 2, val=Value(symbolic("s7"), 4))
        both = call("both", "aten.mul.Tensor", twice, w, val=Value(symbolic("s7"), 4))
        back = call("back", "aten.mul.Tensor", t, twice, val=Value(symbolic("s7"), 4))
        outputs = [twice, both, None, back]
        descriptions = [described("InputMutationAOTOutput", "__input_mutation(args[0])", mutated_input=source),
                        described("PlainAOTOutput", "output[0]", idx=0), None, described("GradAOTOutput", "__grad(args[1])")]
        file = file_of(ended([x, w, t, twice, both, back], tuple(outputs)), [x, w], [t], outputs, descriptions, 2)
        self.assertEqual(file["version"], 2)
        self.assertEqual(file["symbols"], {"s7": {"hint": 6, "min": 2, "max": None}})
        self.assertEqual(file["writes"], [{"result": 0, "input": "primals_1"}])
        self.assertEqual((file["tangents"], file["deterministic"]), ([1], True))
        self.assertEqual(file["joint"][0]["val"]["shape"], ["s7", 4])
        self.assertEqual(planned(file)["forward"], ["twice", "both"])

    def test_views_are_known_once_a_forward_is_compiled(self) -> None:
        inputs = [described("PlainAOTInput", f"args[{i}]") for i in range(2)]
        x, y = given("x", Value(4), inputs[0]), given("y", Value(2, 3), inputs[1])
        results = [described("InputMutationAOTOutput", "__input_mutation(args[1])", mutated_input=inputs[1]),
                   *(described("PlainAOTOutput", f"output[{i}]", idx=i) for i in range(4)),
                   described("IntermediateBaseAOTOutput", "__intermediate_base(output[2])")]
        values = [call(f"v{i}", "aten.neg.default", x, val=Value(4)) for i in range(6)]
        module = ended([x, y, *values], tuple(values))
        joint = recut_torch._Joint(module, [x, y], [], values, results, 6, [])
        facts = recut_torch._traced_facts(joint)
        self.assertEqual(recut_torch._view_facts(joint, facts), {})

        def result(kind: str, base: int | None) -> Any:
            return types.SimpleNamespace(output_type=types.SimpleNamespace(name=kind), base_idx=base)

        known = types.SimpleNamespace(
            input_info=[types.SimpleNamespace(mutates_metadata=i == 1, mutates_data=False) for i in range(2)],
            output_info=[result("is_input", 0), result("alias_of_input", 0),
                         result("alias_of_intermediate_save_as_output", 0),
                         result("alias_of_intermediate_base_is_user_output", 1)])
        torch._guards.TracingContext.try_get = lambda: types.SimpleNamespace(fw_metadata=known)
        try:
            found = recut_torch._view_facts(joint, facts)
        finally:
            torch._guards.TracingContext.try_get = lambda: None
        self.assertEqual(found["writes"], [{"result": 0, "input": "primals_2", "metadata_only": True}])
        self.assertEqual(found["views"], [{"result": 1, "input": "primals_1", "same": True},
                                          {"result": 2, "input": "primals_1"}, {"result": 3, "of_result": 5},
                                          {"result": 4, "of_result": 2}])

    def test_nested_graphs(self) -> None:
        def branch(target: str) -> stand_in.GraphModule:
            x = given("arg0_1", Value(4))
            made = call("made", target, x, val=Value(4))
            return ended([x, made], (made,))

        take, x = given("take", Value()), given("x", Value(4))
        take.meta["val"].dtype = "torch.bool"
        t = given("t", Value(4))
        graphs = [node(name, "get_attr", name) for name in ("true_graph_0", "false_graph_0")]
        chosen = node("cond", "call_function", stand_in.HigherOrderOperator("cond"), take, *graphs, (x,), val=(Value(4),))
        item = node("getitem", "call_function", operator.getitem, chosen, 0, val=Value(4))
        outputs = [item, None, None]
        module = ended([take, x, t, *graphs, chosen, item], tuple(outputs), true_graph_0=branch("aten.sin.default"),
                       false_graph_0=branch("aten.cos.default"))
        file = file_of(module, [take, x], [t], outputs, [None] * 3, 1)
        inside = {n["name"]: n["subgraph"] for n in file["joint"] if "subgraph" in n}
        self.assertEqual([n["op"] for n in inside["true_graph_0"]], ["placeholder", "call_function", "output"])
        self.assertEqual(inside["false_graph_0"][1]["target"], "aten.cos.default")
        self.assertNotIn("val", file["joint"][3])
        self.assertIn("cond", planned(file)["forward"])

    def test_arguments_of_all_kinds(self) -> None:
        def encoded(argument: Any) -> Any:
            return json.loads(json.dumps(recut_torch._encode_argument(argument, {})))

        for argument, expected in ((1 - 2j, {"complex": [1.0, -2.0]}), (complex("nan"), {"complex": ["nan", 0.0]}),
                                   (slice(None, 3, 1), {"slice": [None, 3, 1]}), (float("-inf"), {"float": "-inf"}),
                                   ({"BLOCK": 64, "of": (1, 2)}, {"dict": {"BLOCK": 64, "of": [1, 2]}}),
                                   (stand_in.HigherOrderOperator("scan"), {"operator": "torch.ops.higher_order.scan"}),
                                   (symbolic("2*s7"), {"sym": "2*s7", "type": "SymInt"})):
            self.assertEqual(encoded(argument), expected)

    def test_inputs_of_one_storage_and_a_write_at_the_end(self) -> None:
        x, y = given("x", Value(4, storage=7)), given("y", Value(4, storage=7))
        twice = call("twice", "aten.mul.Tensor", x, y, val=Value(4))
        copy = call("copy_", "aten.copy_.default", x, twice, val=Value(4))
        file = file_of(ended([x, y, twice, copy], (twice,)), [x, y], [], [twice], [None], 1, [copy])
        self.assertEqual(file["shared_storages"], [["primals_1", "primals_2"]])
        self.assertEqual(file["writes"], [{"result": 1, "input": "primals_1"}])
        self.assertEqual(file["joint"][-1]["args"], [[{"node": "twice"}, {"node": "twice"}]])

    def test_what_cannot_be_written_is_named(self) -> None:
        x = given("x", Value(4))
        for odd, words in ((call("odd", "aten.neg.default", x, object(), val=Value(4)), "odd .*an argument of type object"),
                           (call("odd", "aten.neg.default", x, val=object()), "odd .*a value of type object"),
                           (node("odd", "call_module", "inner", x), "odd .*a node of kind call_module")):
            with self.assertRaisesRegex(recut_torch._Unsupported, words):
                file_of(ended([x, odd], (odd,)), [x], [], [odd], [None], 1)


if __name__ == "__main__":
    unittest.main(verbosity=1)
