"""Models with nested graphs and sequences: If, Loop, Scan and the Sequence operators, and the recurrent operators."""
import numpy as np
from onnx import TensorProto

from model_writer import Model

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def known(m: Model, value, dtype=np.int64) -> str:
    m.count += 1
    return m.tensor(f"known_{m.count}", np.array(value, dtype))


def branches(m: Model, condition: str, then_branch, else_branch, *outputs: tuple):
    """An If whose branches give values of these (dtype, rank)."""
    graphs = [m.nested(name, [], build, list(outputs)) for name, build in (("then", then_branch), ("else", else_branch))]
    return m("If", condition, outputs=len(outputs), then_branch=graphs[0], else_branch=graphs[1])


def conditional(name: str, flag_value: bool, rate_value: int) -> Model:
    """Conditions of shapes, of values, and of both in one another."""
    m = Model(name, 13)
    x, y = m.input("x", [2, 3]), m.input("y", [2, 1])
    flag, rate = m.input("flag", [1], B), m.input("rate", [], I)
    m.given["rate"] = np.array(rate_value, np.int64)
    m.given["flag"] = np.array([flag_value])

    one_column = m("Equal", m("Gather", m("Shape", y), m.number_of(1), axis=0), m.number_of(1))
    squeezed = branches(m, one_column, lambda b: [b("Squeeze", y, b.ints(1))], lambda b: [b("Identity", y)], (F, None))
    m.show(squeezed, 1)
    both = branches(m, flag, lambda b: [b("Mul", x, b.weight("then.weight", 2, 3)), b("Identity", y), b("Abs", b.ints(1, 2))],
                    lambda b: [b("Add", x, b.weight("else.weight", 3)), b("Neg", y), b("Abs", b.ints(1, 3))], (F, 2), (F, 2), (I, 1))
    for value, dtype, rank in zip(both, (F, F, I), (2, 2, 1)):
        m.show(value, rank, dtype)
    wide = m("Greater", m("ReduceMax", x, keepdims=1), m.number(0.5))

    def inner(b: Model) -> list:
        scaled = b("Mul", x, b.number(2.0))
        return [branches(b, wide, lambda c: [c("Add", scaled, y)], lambda c: [c("Sub", scaled, x)], (F, 2))]

    fast = m("Equal", rate, m.number_of(16))
    m.show(branches(m, fast, inner, lambda b: [b("Tanh", x)], (F, 2)), 2)
    m.show(branches(m, m("Not", fast), lambda b: [b("Log", x)], inner, (F, 2)), 2)
    return m


def body(m: Model, carried: list[tuple], build, outputs: list[tuple]):
    """The body of a Loop: `build` takes its model, the iteration and the carried values."""
    def whole(b: Model, iteration: str, condition: str, *state: str) -> list:
        results = build(b, iteration, *state)
        return results if len(results) > len(outputs) else [b("Identity", condition), *results]
    return m.nested("body", [(I, 0), (B, 0), *carried], whole, [(B, 0), *outputs])


def loops() -> Model:
    m = Model("tiny_loop", 15)
    x = m.input("x", [4, 3])
    state = (F, 1)
    first = m("Gather", x, m.number_of(0), axis=0)

    def rows(b: Model, i: str, total: str) -> list:
        row = b("Add", b("Gather", x, i, axis=0), b("Mul", total, b.weight("decay", 3)))
        return [row, b("Tanh", row)]

    rows_of_x = m("Gather", m("Shape", x), m.number_of(0), axis=0)
    total, gathered = m("Loop", rows_of_x, "", first, outputs=2, body=body(m, [state], rows, [state, state]))
    m.show(total, 1)
    m.show(gathered, 2)

    def doubled(b: Model, i: str, n: str, sum_: str) -> list:
        more = b("Mul", n, b.number_of(2))
        return [b("Less", more, b.number_of(20)), more, b("Add", sum_, b("Cast", more, to=F)), b("Identity", more)]

    one = m.number_of(1)
    n, sum_, steps = m("Loop", "", known(m, True, np.bool_), one, first, outputs=3,
                       body=body(m, [(I, 0), state], doubled, [(I, 0), state, (I, 0)]))
    m.show(n, 0, I)
    m.show(sum_, 1)
    m.show(steps, 1, I)

    def alternating(b: Model, i: str, kept: str) -> list:
        even = b("Equal", b("Mod", i, b.number_of(2)), b.number_of(0))
        return [branches(b, even, lambda c: [c("Add", kept, x)], lambda c: [c("Mul", kept, x)], (F, 2))]

    m.show(m("Loop", known(m, 5), "", x, body=body(m, [(F, 2)], alternating, [(F, 2)])), 2)
    m.show(m("Loop", known(m, 3), known(m, False, np.bool_), x, body=body(m, [(F, 2)], alternating, [(F, 2)])), 2)

    def nested(b: Model, i: str, kept: str) -> list:
        def inner(c: Model, j: str, more: str) -> list:
            return [c("Add", more, c("Cast", c("Mul", i, j), to=F))]
        return [b("Loop", known(b, 2), "", kept, body=body(b, [(F, 2)], inner, [(F, 2)]))]

    m.show(m("Loop", known(m, 3), "", x, body=body(m, [(F, 2)], nested, [(F, 2)])), 2)
    return m


def scans() -> Model:
    m = Model("tiny_scan", 11)
    x, z = m.input("x", [4, 3]), m.input("z", [3, 4])
    start = m("Gather", x, m.number_of(1), axis=0)

    def running(b: Model, total: str, row: str, column: str) -> list:
        total = b("Add", total, b("Mul", row, column))
        return [total, b("Identity", total), b("Mul", row, b.weight("scale", 3))]

    graph = m.nested("body", [(F, 1)] * 3, running, [(F, 1)] * 3)
    for settings in ({}, {"scan_input_directions": [1, 0], "scan_output_axes": [1, 0]},
                     {"scan_output_directions": [1, 0], "scan_output_axes": [0, -1]}):
        for value, rank in zip(m("Scan", start, x, z, outputs=3, body=graph, num_scan_inputs=2,
                                 scan_input_axes=[0, 1], **settings), (1, 2, 2)):
            m.show(value, rank)
    return m


def sequences() -> Model:
    m = Model("tiny_sequences", 13)
    x, y = m.input("x", [5, 4]), m.input("y", [2, 4])
    three = m("SequenceConstruct", x, y, m("Neg", x))
    m.show(m("ConcatFromSequence", three, axis=0), 2)
    m.show(m("SequenceAt", three, m.number_of(-2)), 2)
    m.show(m("SequenceLength", three), 0, I)
    m.show(m("ConcatFromSequence", m("SequenceInsert", three, y), axis=0), 2)
    m.show(m("ConcatFromSequence", m("SequenceInsert", three, y, m.number_of(0)), axis=0), 2)
    m.show(m("ConcatFromSequence", m("SequenceInsert", three, y, m.number_of(-1)), axis=0), 2)
    m.show(m("ConcatFromSequence", m("SequenceErase", three, m.number_of(1)), axis=0, new_axis=1), 3)
    m.show(m("ConcatFromSequence", m("SequenceErase", three), axis=-2), 2)
    for settings in ({"axis": 1}, {"axis": 1, "keepdims": 0}):
        m.show(m("SequenceAt", m("SplitToSequence", x, **settings), m.number_of(2)), 1 + settings.get("keepdims", 1))
    m.show(m("SequenceAt", m("SplitToSequence", x, m.number_of(2)), m.number_of(-1)), 2)
    m.show(m("SequenceAt", m("SplitToSequence", x, m.ints(1, 3), axis=-1), m.number_of(1)), 2)
    empty = m("SequenceInsert", m("SequenceEmpty"), x)
    m.show(m("SequenceAt", empty, m.number_of(0)), 2)
    sizes = m("SplitToSequence", m("Shape", x), keepdims=0)
    rows = m("Unsqueeze", m("SequenceAt", sizes, m.number_of(1)), m.ints(0))
    m.show(m("Reshape", x, m("Concat", rows, m.ints(-1), axis=0)), 2)
    return m


def recurrent() -> Model:
    """The recurrent operators in each direction, with and without what they may be given."""
    m = Model("tiny_recurrent", 14)
    x = m.input("x", [4, 3, 2])
    lengths = m.input("lengths", [3], TensorProto.INT32)
    m.given["lengths"] = np.array([4, 1, 3], np.int32)
    fixed = known(m, [2, 4, 3], np.int32)
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}
    functions = {"RNN": ["Relu"], "GRU": ["HardSigmoid", "Softsign"], "LSTM": ["Sigmoid", "Softplus", "Relu"]}

    def add(name: str, direction: str, bias: bool, lens: str, states: bool, **attributes) -> None:
        n, d = gates[name], 2 if direction == "bidirectional" else 1
        m.count += 1
        weight = lambda part, *shape: m.weight(f"{name}_{m.count}.{part}", d, *shape)
        inputs = [x, weight("w", n * 5, 2), weight("r", n * 5, 5), weight("b", 2 * n * 5) if bias else "", lens]
        inputs += [weight("h", 3, 5)] if states else [""]
        if name == "LSTM":
            inputs += [weight("c", 3, 5)] if states else [""]
            inputs += [weight("p", 15)] if attributes.pop("peepholes", False) else []
        results = m(name, *inputs, outputs=3 if name == "LSTM" else 2, hidden_size=5, direction=direction, **attributes)
        for value, rank in zip(results, (4, 3, 3)):
            m.show(value, rank)

    for name in gates:
        more = {"linear_before_reset": 1} if name == "GRU" else {}
        add(name, "forward", False, "", False)
        add(name, "reverse", True, "", True, **more)
        add(name, "bidirectional", True, fixed, True)
        add(name, "bidirectional", True, lengths, False, activations=functions[name] * 2, **more)
        add(name, "forward", True, lengths, True)
    add("LSTM", "bidirectional", True, "", True, peepholes=True)
    add("LSTM", "reverse", True, "", False, peepholes=True, input_forget=1)
    return m


def control_models() -> list[Model]:
    return [conditional("tiny_if", True, 16), conditional("tiny_if_not", False, 8), loops(), scans(), sequences(), recurrent()]
