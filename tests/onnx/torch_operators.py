"""ONNX's operators by PyTorch's, as far as the models of make_models.py use them: read from ONNX's operator
specifications and independent of Recut, so that autograd gives gradients to compare with. In f64.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

REAL = torch.float64
DTYPES = {TensorProto.FLOAT: REAL, TensorProto.DOUBLE: REAL, TensorProto.INT64: torch.int64,
          TensorProto.INT32: torch.int32, TensorProto.BOOL: torch.bool}


def tensor_of(proto) -> torch.Tensor:
    values = torch.from_numpy(np.array(numpy_helper.to_array(proto)))
    return values.to(REAL) if values.is_floating_point() else values


class Node:
    """One call: its attributes, and its inputs by place (None where one is left out)."""

    def __init__(self, proto, opset: int, inputs: list) -> None:
        self.op, self.opset, self.inputs, self.outputs = proto.op_type, opset, inputs, len(proto.output)
        self.attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def __getitem__(self, place: int):
        return self.inputs[place] if place < len(self.inputs) else None

    def get(self, name: str, default=None):
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def ints(self, place: int):
        return None if self[place] is None else [int(i) for i in self[place].reshape(-1)]

    def axes(self, place: int, since: int):
        """Axes, which moved from attribute to input `place` in opset `since`."""
        return self.ints(place) if self.opset >= since else self.get("axes")


OPERATORS = {}


def operator(*names: str):
    def add(function):
        OPERATORS.update({name: function for name in names})
        return function
    return add


# ---------------------------------------------------------------------------------------------
# Element by element

ELEMENTWISE = {
    "Abs": torch.abs, "Atan": torch.atan, "Ceil": torch.ceil, "Cos": torch.cos, "Erf": torch.erf, "Exp": torch.exp,
    "Floor": torch.floor, "Log": torch.log, "Neg": torch.neg, "Not": torch.logical_not, "Reciprocal": torch.reciprocal,
    "Relu": torch.relu, "Round": torch.round, "Sigmoid": torch.sigmoid, "Sign": torch.sign, "Sin": torch.sin,
    "Softplus": F.softplus, "Softsign": F.softsign, "Sqrt": torch.sqrt, "Tanh": torch.tanh, "HardSwish": F.hardswish,
    "Selu": F.selu, "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Less": torch.lt, "LessOrEqual": torch.le,
    "Greater": torch.gt, "GreaterOrEqual": torch.ge, "Equal": torch.eq, "Identity": lambda x: x,
    "Dropout": lambda x, *rest: x,
}
OPERATORS.update({name: (lambda n, f=f: f(*n.inputs)) for name, f in ELEMENTWISE.items()})
OPERATORS.update({
    "Elu": lambda n: F.elu(n[0], n.get("alpha", 1.0)),
    "Celu": lambda n: F.celu(n[0], n.get("alpha", 1.0)),
    "LeakyRelu": lambda n: F.leaky_relu(n[0], n.get("alpha", 0.01)),
    "ThresholdedRelu": lambda n: torch.where(n[0] > n.get("alpha", 1.0), n[0], torch.zeros_like(n[0])),
    "HardSigmoid": lambda n: torch.clamp(n.get("alpha", 0.2) * n[0] + n.get("beta", 0.5), 0, 1),
    "PRelu": lambda n: torch.where(n[0] < 0, n[1] * n[0], n[0]),
    "Where": lambda n: torch.where(n[0], n[1], n[2]),
    "Cast": lambda n: n[0].to(DTYPES[n.get("to")]),
    "Sum": lambda n: sum(n.inputs),
    "Mean": lambda n: sum(n.inputs) / len(n.inputs),
    "Pow": lambda n: torch.pow(n[0], n[1].to(n[0].dtype)),
})


@operator("Div")
def div(n):
    return torch.div(n[0], n[1], rounding_mode=None if n[0].is_floating_point() else "trunc")


@operator("Mod")
def mod(n):
    return torch.fmod(n[0], n[1]) if n.get("fmod", 0) else torch.remainder(n[0], n[1])


@operator("Max", "Min")
def extreme(n):
    result = n[0]
    for other in n.inputs[1:]:
        result = (torch.maximum if n.op == "Max" else torch.minimum)(result, other)
    return result


@operator("Clip")
def clip(n):
    low, high = (None if n[i] is None else float(n[i]) for i in (1, 2))
    return n[0] if low is None and high is None else torch.clamp(n[0], low, high)


# ---------------------------------------------------------------------------------------------
# Reductions

REDUCTIONS = {
    "ReduceSum": torch.sum, "ReduceMean": torch.mean, "ReduceMax": torch.amax, "ReduceMin": torch.amin,
    "ReduceL1": lambda x, a, keepdim: x.abs().sum(a, keepdim=keepdim),
    "ReduceL2": lambda x, a, keepdim: x.square().sum(a, keepdim=keepdim).sqrt(),
    "ReduceSumSquare": lambda x, a, keepdim: x.square().sum(a, keepdim=keepdim),
    "ReduceLogSumExp": torch.logsumexp,
}


@operator(*REDUCTIONS, "ReduceProd")
def reduce(n):
    axes, keep = n.axes(1, 13 if n.op == "ReduceSum" else 18), bool(n.get("keepdims", 1))
    axes = list(range(n[0].dim())) if axes is None else [a % n[0].dim() for a in axes]
    if n.op != "ReduceProd":
        return REDUCTIONS[n.op](n[0], axes, keepdim=keep)
    result = n[0]
    for axis in sorted(axes, reverse=True):
        result = result.prod(axis, keepdim=keep)
    return result


@operator("ArgMax", "ArgMin")
def arg_extreme(n):
    return (torch.argmax if n.op == "ArgMax" else torch.argmin)(n[0], n.get("axis", 0), bool(n.get("keepdims", 1)))


@operator("CumSum")
def cum_sum(n):
    axis, x = int(n[1]), n[0]
    x = x.flip(axis) if n.get("reverse", 0) else x
    total = x.cumsum(axis) - (x if n.get("exclusive", 0) else 0)
    return total.flip(axis) if n.get("reverse", 0) else total


@operator("TopK")
def top_k(n):
    return tuple(torch.topk(n[0], int(n[1]), n.get("axis", -1), bool(n.get("largest", 1)), bool(n.get("sorted", 1))))


OPERATORS["Softmax"] = lambda n: torch.softmax(n[0], n.get("axis", -1))
OPERATORS["LogSoftmax"] = lambda n: torch.log_softmax(n[0], n.get("axis", -1))


# ---------------------------------------------------------------------------------------------
# Shapes and places

OPERATORS.update({
    "Shape": lambda n: torch.tensor(n[0].shape, dtype=torch.int64),
    "Transpose": lambda n: n[0].permute(n.get("perm", list(range(n[0].dim()))[::-1])),
    "Concat": lambda n: torch.cat(n.inputs, n.get("axis")),
    "Expand": lambda n: n[0] * torch.ones(n.ints(1), dtype=n[0].dtype),
    "Tile": lambda n: n[0].repeat(n.ints(1)),
    "Range": lambda n: torch.arange(*(n[i].item() for i in range(3)), dtype=n[0].dtype),
    "GatherElements": lambda n: n[0].gather(n.get("axis", 0), torch.remainder(n[1], n[0].shape[n.get("axis", 0)])),
    "ScatterElements": lambda n: n[0].scatter(n.get("axis", 0), n[1], n[2]),
})


@operator("Constant")
def constant(n):
    return tensor_of(n.get("value"))


@operator("ConstantOfShape")
def constant_of_shape(n):
    value = tensor_of(n.get("value")).reshape(())
    return torch.full(n.ints(0), value.item(), dtype=value.dtype)


@operator("Reshape")
def reshape(n):
    sizes = [n[0].shape[i] if size == 0 and not n.get("allowzero", 0) else size for i, size in enumerate(n.ints(1))]
    return n[0].reshape(sizes)


@operator("Flatten")
def flatten(n):
    axis = n.get("axis", 1)
    return n[0].reshape(math.prod(n[0].shape[:axis]), -1)


@operator("Unsqueeze")
def unsqueeze(n):
    axes = n.axes(1, 13)
    rank, x = n[0].dim() + len(axes), n[0]
    for axis in sorted(a % rank for a in axes):
        x = x.unsqueeze(axis)
    return x


@operator("Squeeze")
def squeeze(n):
    axes, x = n.axes(1, 13), n[0]
    axes = [i for i, size in enumerate(x.shape) if size == 1] if axes is None else [a % x.dim() for a in axes]
    for axis in sorted(axes, reverse=True):
        x = x.squeeze(axis)
    return x


@operator("Split")
def split(n):
    axis = n.get("axis", 0)
    sizes = n.axes(1, 13) if n.opset < 13 else n.ints(1)
    return torch.split(n[0], n[0].shape[axis] // n.outputs if sizes is None else sizes, axis)


@operator("Slice")
def slice_(n):
    x, starts, ends = n[0], n.ints(1), n.ints(2)
    axes = n.ints(3) or list(range(len(starts)))
    for start, end, axis, step in zip(starts, ends, axes, n.ints(4) or [1] * len(starts)):
        places = torch.tensor(range(x.shape[axis])[slice(start, end if step > 0 or end >= -x.shape[axis] else None, step)],
                              dtype=torch.int64)
        x = x.index_select(axis, places)
    return x


@operator("Gather")
def gather(n):
    axis = n.get("axis", 0) % n[0].dim()
    places = torch.remainder(n[1], n[0].shape[axis])
    rows = n[0].index_select(axis, places.reshape(-1))
    return rows.reshape(n[0].shape[:axis] + places.shape + n[0].shape[axis + 1:])


@operator("GatherND")
def gather_nd(n):
    return n[0][tuple(n[1].unbind(-1))]


@operator("ScatterND")
def scatter_nd(n):
    assert n.get("reduction", "none") in ("none", "add")
    return n[0].index_put(tuple(n[1].unbind(-1)), n[2], accumulate=n.get("reduction", "none") == "add")


@operator("OneHot")
def one_hot(n):
    count, (off, on) = int(n[1]), n[2]
    hot = F.one_hot(torch.remainder(n[0], count), count).bool()
    axis = n.get("axis", -1)
    return torch.where(hot, on, off).movedim(-1, axis)


@operator("Trilu")
def trilu(n):
    return (torch.triu if n.get("upper", 1) else torch.tril)(n[0], 0 if n[1] is None else int(n[1]))


@operator("Pad")
def pad(n):
    begins, ends = (n.ints(1)[:n[0].dim()], n.ints(1)[n[0].dim():])
    x = n[0]
    if n.get("mode", "constant") == "constant":
        flat = [p for both in zip(begins[::-1], ends[::-1]) for p in both]
        return F.pad(x, flat, value=0.0 if n[2] is None else float(n[2]))
    for axis, (begin, end) in enumerate(zip(begins, ends)):  # reflect: which elements, axis by axis
        size = x.shape[axis]
        places = [abs(i) if i < size else 2 * (size - 1) - i for i in range(-begin, size + end)]
        x = x.index_select(axis, torch.tensor(places))
    return x


@operator("DepthToSpace", "SpaceToDepth")
def blocks(n):
    k, (batch, channels, height, width) = n.get("blocksize"), n[0].shape
    if n.op == "SpaceToDepth":
        x = n[0].reshape(batch, channels, height // k, k, width // k, k).permute(0, 3, 5, 1, 2, 4)
        return x.reshape(batch, channels * k * k, height // k, width // k)
    part = channels // k // k
    if n.get("mode", "DCR") == "DCR":
        x = n[0].reshape(batch, k, k, part, height, width).permute(0, 3, 4, 1, 5, 2)
    else:
        x = n[0].reshape(batch, part, k, k, height, width).permute(0, 1, 4, 2, 5, 3)
    return x.reshape(batch, part, height * k, width * k)
