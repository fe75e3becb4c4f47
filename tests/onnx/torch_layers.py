"""More of torch_operators.py: products, windows, normalisation, resizing and recurrent networks."""
import math

import torch
import torch.nn.functional as F

from torch_operators import REAL, Node, operator


@operator("MatMul")
def matmul(n):
    return n[0] @ n[1]


@operator("Gemm")
def gemm(n):
    a, b = (n[i].T if n.get(name, 0) else n[i] for i, name in ((0, "transA"), (1, "transB")))
    product = n.get("alpha", 1.0) * (a @ b)
    return product if n[2] is None else product + n.get("beta", 1.0) * n[2]


class Window:
    """Kernel, strides, dilations and pads of a call on images; auto_pad and ceil_mode made pads."""

    def __init__(self, n: Node, kernel: list) -> None:
        rank = len(kernel)
        self.kernel, self.strides = list(kernel), n.get("strides", [1] * rank)
        self.dilations = n.get("dilations", [1] * rank)
        self.reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations)]
        pads = n.get("pads", [0] * 2 * rank)
        self.begins, self.ends = list(pads[:rank]), list(pads[rank:])
        self.more = [0] * rank  # beyond the pads, for the last window of ceil_mode
        for i, size in enumerate(n[0].shape[2:]):
            if n.get("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER"):
                total = max((math.ceil(size / self.strides[i]) - 1) * self.strides[i] + self.reach[i] - size, 0)
                small, large = total // 2, total - total // 2
                upper = n.get("auto_pad") == "SAME_UPPER"
                self.begins[i], self.ends[i] = (small, large) if upper else (large, small)
            elif n.get("ceil_mode", 0):
                left = (size + self.begins[i] + self.ends[i] - self.reach[i]) % self.strides[i]
                self.more[i] = (self.strides[i] - left) % self.strides[i]

    def padded(self, x, value: float):
        flat = []
        for begin, end, more in list(zip(self.begins, self.ends, self.more))[::-1]:
            flat += [begin, end + more]
        return F.pad(x, flat, value=value)


@operator("Conv")
def conv(n):
    w = Window(n, n[1].shape[2:])
    function = (F.conv1d, F.conv2d, F.conv3d)[len(w.kernel) - 1]
    return function(w.padded(n[0], 0.0), n[1], n[2], w.strides, 0, w.dilations, n.get("group", 1))


@operator("ConvTranspose")
def conv_transpose(n):
    w = Window(n, n[1].shape[2:])
    assert w.begins == w.ends and "output_shape" not in n.attributes
    return F.conv_transpose2d(n[0], n[1], n[2], w.strides, w.begins, n.get("output_padding", [0, 0]), n.get("group", 1),
                              w.dilations)


@operator("MaxPool")
def max_pool(n):
    w = Window(n, n.get("kernel_shape"))
    return F.max_pool2d(w.padded(n[0], -math.inf), w.kernel, w.strides, 0, w.dilations)


@operator("AveragePool")
def average_pool(n):
    """Sums over counts: of what is there, or also of the pads, but not of what ceil_mode adds."""
    w = Window(n, n.get("kernel_shape"))
    there = torch.ones_like(n[0][:1, :1])
    if n.get("count_include_pad", 0):
        flat = [p for both in zip(w.begins[::-1], w.ends[::-1]) for p in both]
        there = F.pad(F.pad(there, flat, value=1.0), [p for more in w.more[::-1] for p in (0, more)])
    else:
        there = w.padded(there, 0.0)
    size = math.prod(w.kernel)
    sums = F.avg_pool2d(w.padded(n[0], 0.0), w.kernel, w.strides) * size
    return sums / (F.avg_pool2d(there, w.kernel, w.strides) * size)


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(n):
    axes = list(range(2, n[0].dim()))
    return n[0].mean(axes, keepdim=True) if n.op == "GlobalAveragePool" else n[0].amax(axes, keepdim=True)


def along_channels(values, x):
    return values.reshape([1, -1] + [1] * (x.dim() - 2))


@operator("BatchNormalization")
def batch_normalization(n):
    scale, bias, mean, var = (along_channels(n[i], n[0]) for i in range(1, 5))
    return (n[0] - mean) / torch.sqrt(var + n.get("epsilon", 1e-5)) * scale + bias


def normalised(x, axes: list, epsilon: float):
    centred = x - x.mean(axes, keepdim=True)
    return centred / torch.sqrt(centred.square().mean(axes, keepdim=True) + epsilon)


@operator("InstanceNormalization")
def instance_normalization(n):
    whole = normalised(n[0], list(range(2, n[0].dim())), n.get("epsilon", 1e-5))
    return whole * along_channels(n[1], n[0]) + along_channels(n[2], n[0])


@operator("LayerNormalization")
def layer_normalization(n):
    first = n.get("axis", -1) % n[0].dim()
    whole = normalised(n[0], list(range(first, n[0].dim())), n.get("epsilon", 1e-5)) * n[1]
    return whole if n[2] is None else whole + n[2]


# ---------------------------------------------------------------------------------------------
# Resizing: along one axis after another


def source_places(n, size: int, new_size: int, scale: float):
    places = torch.arange(new_size, dtype=REAL)
    kind = n.get("coordinate_transformation_mode", "half_pixel")
    if kind == "asymmetric":
        return places / scale
    if kind == "align_corners":
        return places * (size - 1) / max(new_size - 1, 1)
    assert kind == "half_pixel"
    return (places + 0.5) / scale - 0.5


def resized_nearest(n, x, axis: int, places):
    rounding = {"floor": torch.floor, "ceil": torch.ceil, "round_prefer_floor": lambda p: torch.ceil(p - 0.5),
                "round_prefer_ceil": lambda p: torch.floor(p + 0.5)}[n.get("nearest_mode", "round_prefer_floor")]
    return x.index_select(axis, rounding(places).long().clamp(0, x.shape[axis] - 1))


def resized_linear(x, axis: int, places):
    low = torch.floor(places)
    share = (places - low).reshape([-1] + [1] * (x.dim() - 1 - axis))
    below, above = (x.index_select(axis, (low + i).long().clamp(0, x.shape[axis] - 1)) for i in (0, 1))
    return below * (1 - share) + above * share


@operator("Resize")
def resize(n):
    x = n[0]
    for axis, size in enumerate(n[0].shape):
        new_size = n.ints(3)[axis] if n[3] is not None else math.floor(size * float(n[2][axis]))
        scale = new_size / size if n[3] is not None else float(n[2][axis])
        if new_size == size and scale == 1:
            continue
        places = source_places(n, size, new_size, scale)
        x = resized_nearest(n, x, axis, places) if n.get("mode", "nearest") == "nearest" else resized_linear(x, axis, places)
    return x


# ---------------------------------------------------------------------------------------------
# Recurrent networks


def lstm_direction(n, d: int, reverse: bool):
    x, (w, r) = n[0], (n[1][d], n[2][d])
    hidden = n.get("hidden_size")
    bias = torch.zeros(4 * hidden, dtype=REAL) if n[3] is None else n[3][d][:4 * hidden] + n[3][d][4 * hidden:]
    zero = torch.zeros(x.shape[1], hidden, dtype=REAL)
    h, c = (zero if n[i] is None else n[i][d] for i in (5, 6))
    steps = range(x.shape[0])
    outputs = {}
    for t in (reversed(steps) if reverse else steps):
        i, o, f, g = (x[t] @ w.T + h @ r.T + bias).split(hidden, dim=1)  # ONNX's order of gates
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs[t] = h
    return torch.stack([outputs[t] for t in steps]), h, c


@operator("LSTM")
def lstm(n):
    assert n[4] is None and n[7] is None and "activations" not in n.attributes
    directions = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[n.get("direction", "forward")]
    parts = [lstm_direction(n, d, reverse) for d, reverse in enumerate(directions)]
    return torch.stack([p[0] for p in parts], 1), torch.stack([p[1] for p in parts]), torch.stack([p[2] for p in parts])
