"""Models of the operators that tiny_pieces lacks, each with an output of its own."""
import numpy as np
from onnx import TensorProto

from model_writer import Model

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def known(m: Model, value, dtype=np.int64) -> str:
    m.count += 1
    return m.tensor(f"known_{m.count}", np.array(value, dtype))


def einsums(m: Model, x: str, y: str, z: str) -> None:
    """x [2, 3, 4], y [2, 4, 5], z [4, 4]"""
    for equation, inputs, rank in (("bij,bjk->bik", (x, y), 3), ("bij,bjk", (x, y), 2), ("ijk->kji", (x,), 3),
                                   ("bij->b", (x,), 1), ("ii->i", (z,), 1), ("ii", (z,), 0), ("...ij,...jk->...ik", (x, y), 3),
                                   ("bij,jk,bkl->bil", (x, z, y), 3), ("bij,bkj->bik", (x, x), 3), ("...j->...", (x,), 2),
                                   ("ij,kl->ikjl", (z, z), 4), ("abc,abc->ca", (x, x), 2)):
        m.show(m("Einsum", *inputs, equation=equation), rank)


def more_pieces() -> Model:
    m = Model("tiny_more_pieces", 18)
    x, y, z = m.input("x", [2, 3, 4]), m.input("y", [2, 4, 5]), m.input("z", [4, 4])
    image = m.input("image", [2, 4, 5, 6])
    einsums(m, x, y, z)
    for name, attributes in (("Shrink", {"lambd": 0.4, "bias": 0.1}), ("Shrink", {}), ("MeanVarianceNormalization", {"axes": [0, 2]})):
        m.show(m(name, x, **attributes), 3)
    huge = m("Div", x, m("Sub", m("Round", x), m("Round", x)))
    for attributes in ({}, {"detect_positive": 0}, {"detect_negative": 0}):
        m.show(m("IsInf", huge, **attributes), 3, B)
    for k in (-2, 0, 1):
        m.show(m("EyeLike", known(m, np.zeros((3, 4)), np.float32), k=k), 2)
    m.show(m("ReverseSequence", x, known(m, [3, 2]), batch_axis=0, time_axis=1), 3)
    m.show(m("ReverseSequence", x, known(m, [2, 1, 2]), batch_axis=1, time_axis=0), 3)
    m.show(m("GatherND", x, known(m, [[[0], [-1]], [[2], [1]]]), batch_dims=1), 3)
    for reduction in ("add", "mul", "max", "min"):
        m.show(m("ScatterND", x, known(m, [[0, 1], [0, 1], [1, -1]]), m.weight(f"rows_{reduction}", 3, 4), reduction=reduction), 3)
        m.show(m("ScatterElements", x, known(m, [[[0], [0]], [[-1], [2]]]), m.weight(f"updates_{reduction}", 2, 2, 1), axis=1,
                 reduction=reduction), 3)
    whole = m("Round", x)
    for name in ("ArgMax", "ArgMin"):
        m.show(m(name, whole, axis=1, select_last_index=1, keepdims=0), 2, I)
    m.show(m("GroupNormalization", image, m.weight("scale", 2), m.weight("bias", 2), num_groups=2), 4)
    for p in (1, 2, 3):
        m.show(m("GlobalLpPool", image, p=p), 4)
        m.show(m("LpPool", image, kernel_shape=[2, 3], strides=[1, 2], pads=[1, 0, 0, 1], p=p), 4)
    m.show(m("AveragePool", image, kernel_shape=[3, 2], pads=[2, 1, 2, 0]), 4)
    for mode in ("bilinear", "nearest", "bicubic"):
        grid = m("Mul", m.input(f"grid_{mode}", [2, 3, 5, 2]), m.number(0.6))
        for padding in ("zeros", "border", "reflection"):
            m.show(m("GridSample", image, grid, mode=mode, padding_mode=padding, align_corners=int(padding == "border")), 4)
    for attributes in ({}, {"cubic_coeff_a": -0.5, "coordinate_transformation_mode": "align_corners"}, {"exclude_outside": 1}):
        m.show(m("Resize", image, "", known(m, [1, 1, 1.7, 0.6], np.float32), mode="cubic", **attributes), 4)
    m.show(m("Resize", image, "", "", m.ints(7, 9), mode="linear", axes=[2, 3]), 4)
    m.show(m("Resize", image, "", known(m, [2.0], np.float32), mode="nearest", axes=[3]), 4)
    return m


def opset_21() -> Model:
    m = Model("tiny_opset21", 21)
    image = m.input("image", [2, 4, 5, 6])
    m.show(m("GroupNormalization", image, m.weight("scale", 4), m.weight("bias", 4), num_groups=2), 4)
    for mode in ("linear", "nearest", "cubic"):
        m.show(m("GridSample", image, m.input(f"grid_{mode}", [2, 3, 5, 2]), mode=mode), 4)
    m.show(m("Gelu", image, approximate="tanh"), 4)
    for part in m("Split", image, outputs=3, axis=2, num_outputs=3):
        m.show(part, 4)
    return m


def more_models() -> list[Model]:
    return [more_pieces(), opset_21()]
