"""Models of opsets 7 to 12, with the operators whose form or meaning changed since."""
import numpy as np
from onnx import TensorProto

from model_writer import Model

B, I = TensorProto.BOOL, TensorProto.INT64


def along_last_axes(m: Model, x: str, axes: tuple) -> None:
    """Softmax and its like took the dimensions from an axis on as one."""
    for name in ("Softmax", "LogSoftmax", "Hardmax"):
        m.show(m(name, x), 3)
        for axis in axes:
            m.show(m(name, x, axis=axis), 3)


def axes_in_attributes(m: Model, x: str, last: int) -> None:
    for name in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSum"):
        m.show(m(name, m("Abs", x), axes=[0, last], keepdims=0), 1)
    m.show(m("ReduceSumSquare", x), 3)
    wide = m("Unsqueeze", x, axes=[0, 2])
    m.show(m("Squeeze", wide, axes=[2]), 4)
    m.show(m("Squeeze", wide), 3)
    for part in m("Split", x, outputs=2, axis=2, split=[1, 3]):
        m.show(part, 3)
    for part in m("Split", x, outputs=2, axis=2):
        m.show(part, 3)


def of_attributes(m: Model, x: str, image: str) -> None:
    """Attributes of opsets up to 9 that later became inputs."""
    m.show(m("Slice", x, starts=[-2, 1], ends=[1 << 40, 3], axes=[1, 2]), 3)
    m.show(m("Slice", x, starts=[0, 1], ends=[1, 3]), 3)
    m.show(m("Clip", x, min=-0.5), 3)
    m.show(m("Clip", x, max=0.5, min=-0.25), 3)
    m.show(m("Clip", x), 3)
    m.show(m("Pad", image, pads=[0, 0, 1, 0, 0, 0, 2, 1], value=1.5), 4)
    m.show(m("Pad", image, pads=[0, 0, 1, 2, 0, 0, 0, 1], mode="reflect"), 4)
    values, places = m("TopK", x, outputs=2, k=2)
    m.show(values, 3)
    m.show(places, 3, I)


def pooled(m: Model, image: str) -> None:
    m.show(m("MaxPool", image, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"), 4)
    m.show(m("AveragePool", image, kernel_shape=[3, 2], strides=[2, 1], auto_pad="SAME_LOWER"), 4)
    m.show(m("AveragePool", image, kernel_shape=[2, 2], pads=[1, 0, 0, 1]), 4)
    m.show(m("AveragePool", image, kernel_shape=[2, 2], pads=[1, 0, 0, 1], count_include_pad=1), 4)
    m.show(m("LRN", image, size=3, alpha=0.5, beta=0.6, bias=1.5), 4)
    m.show(m("LpNormalization", image, axis=1, p=1), 4)
    m.show(m("LpNormalization", image), 4)


def scale(m: Model, *scales: float) -> str:
    m.count += 1
    return m.tensor(f"scales_{m.count}", np.array(scales, np.float32))


def opset_7() -> Model:
    m = Model("tiny_opset7", 7)
    x, image = m.input("x", [2, 3, 4]), m.input("image", [1, 4, 5, 6])
    along_last_axes(m, x, (0, 2))
    axes_in_attributes(m, x, 2)
    of_attributes(m, x, image)
    pooled(m, image)
    m.show(m("Upsample", image, scales=[1.0, 1.0, 2.0, 3.0], mode="nearest"), 4)
    m.show(m("Upsample", image, scales=[1.0, 1.0, 2.0, 2.0], mode="linear"), 4)
    m.show(m("Upsample", image, scales=[1.0, 1.0, 1.5, 2.0]), 4)
    kept, mask = m("Dropout", x, outputs=2, ratio=0.25)
    m.show(kept, 3)
    m.show(mask, 3)
    statistics = [m.tensor(f"bn_{i}", m.random.uniform(0.5, 1.5, 4).astype(np.float32)) for i in range(4)]
    folded = m("Conv", image, m.weight("conv", 4, 4, 3, 3))
    m.show(m("BatchNormalization", folded, *statistics, spatial=1), 4)
    flat = m("Flatten", x, axis=1)
    m.show(m("Gemm", flat, m.weight("w", 5, 12), m.weight("b", 5), transB=1, alpha=0.5), 2)
    m.show(m("Reshape", x, m.ints(0, -1)), 2)
    return m


def opset_9() -> Model:
    m = Model("tiny_opset9", 9)
    x, image = m.input("x", [2, 3, 4]), m.input("image", [1, 4, 5, 6])
    along_last_axes(m, x, (0, 2))
    axes_in_attributes(m, x, 2)
    of_attributes(m, x, image)
    m.show(m("Upsample", image, scale(m, 1, 1, 2, 2), mode="nearest"), 4)
    m.show(m("Upsample", image, scale(m, 1, 1, 2, 1.5), mode="linear"), 4)
    m.show(m("Upsample", image, scale(m, 1, 1, 1, 2.5)), 4)
    places = m.tensor("places", np.array([[0, 2, 1, 0]], np.int64))
    rows = m("Squeeze", m("Slice", x, starts=[0], ends=[1], axes=[0]), axes=[0])
    m.show(m("Scatter", rows, places, m.weight("updates", 1, 4), axis=0), 2)
    m.show(m("Where", m("Greater", x, m.number(0.0)), x, m("Tanh", x)), 3)
    return m


def opset_10() -> Model:
    m = Model("tiny_opset10", 10)
    x, image = m.input("x", [2, 3, 4]), m.input("image", [1, 4, 6, 6])
    for mode in ("nearest", "linear"):
        for scales in ((1, 1, 2, 3), (1, 1, 0.5, 0.5), (1, 1, 1.5, 0.4)):
            m.show(m("Resize", image, scale(m, *scales), mode=mode), 4)
    m.show(m("Slice", x, m.ints(3, -1), m.ints(-9, 0), m.ints(1, 2), m.ints(-1, -2)), 3)
    values, places = m("TopK", x, m.ints(2), outputs=2, axis=1)
    m.show(values, 3)
    m.show(places, 3, I)
    kept, mask = m("Dropout", x, outputs=2)
    m.show(kept, 3)
    m.show(mask, 3, B)
    m.show(m("MaxPool", image, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), 4)
    m.show(m("Mod", m.input("ids", [2, 2], I), m.ints(3)), 2, I)
    return m


def opset_11() -> Model:
    m = Model("tiny_opset11", 11)
    x, image = m.input("x", [2, 3, 4]), m.input("image", [1, 4, 5, 6])
    along_last_axes(m, x, (0, -1, -2))
    axes_in_attributes(m, x, -1)
    m.show(m("Resize", image, m.tensor("roi", np.zeros(0, np.float32)), scale(m, 1, 1, 2, 3), mode="nearest",
             coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor"), 4)
    m.show(m("Resize", image, "roi", scale(m, 1, 1, 1.5, 0.7), mode="linear"), 4)
    low, high = m("ReduceMean", image, keepdims=0), m("ReduceMax", m("Mul", image, m.number(0.5)), keepdims=0)
    m.show(m("Clip", image, low, high), 4)
    m.show(m("Clip", image, high, low), 4)
    m.show(m("Clip", image, low), 4)
    m.show(m("Clip", image, "", m.number(0.5)), 4)
    m.show(m("Clip", image, low, m.number(0.5)), 4)
    m.show(m("Pad", image, m.ints(0, 0, 1, 0, 0, 0, 2, 1), m.number(1.5)), 4)
    m.show(m("Gemm", m("Flatten", x, axis=-1), m.weight("w", 4, 5)), 2)
    m.show(m("CumSum", x, m.tensor("axis", np.array(1, np.int64))), 3)
    return m


def opset_12() -> Model:
    m = Model("tiny_opset12", 12)
    x = m.input("x", [2, 3, 4])
    along_last_axes(m, x, (0, 1, 2))
    axes_in_attributes(m, x, -1)
    kept, mask = m("Dropout", x, m.number(0.5), outputs=2)
    m.show(kept, 3)
    m.show(mask, 3, B)
    ids = m.input("ids", [2, 2], I)
    m.show(m("Clip", ids, m.tensor("low", np.array(2, np.int64)), m("ReduceMax", ids, keepdims=0)), 2, I)
    m.show(m("LessOrEqual", x, m.number(0.0)), 3, B)
    return m


def older_models() -> list[Model]:
    return [opset_7(), opset_9(), opset_10(), opset_11(), opset_12()]
