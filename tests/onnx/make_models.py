#!/usr/bin/env python3
"""Builds the ONNX models that Recut is tried on, and inputs for them (NAME.safetensors, in.<input>): the small ones that
stand in tests/onnx/models (in forward/ those without gradients), and with --large ResNet-18 and -50, MobileNetV2, BERT,
GPT-2, ViT, one layer of BERT and one block of GPT-2, in their real sizes.
Needs Debian's python3-onnx and python3-numpy. reference.mjs beside it adds what the models give, gradients.py their
gradients.

usage: make_models.py FOLDER [--large]

Values are random, but fixed: the same bytes every time. Nodes are named as PyTorch's exporter names them.
"""
import functools
import pathlib
import sys
from collections.abc import Callable

import numpy as np
import onnx.defs
from onnx import TensorProto, numpy_helper

from control_models import control_models
from model_writer import Model
from more_models import more_models
from older_models import older_models

# ---------------------------------------------------------------------------------------------
# Blocks


def conv_bn(m: Model, x: str, name: str, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1,
            act: str = "") -> str:
    m.module = "/" + name.replace(".", "/")
    w = m.weight(name + ".weight", outputs, inputs // groups, kernel, kernel)
    x = m("Conv", x, w, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)
    scale = m.tensor(name + ".bn.weight", m.random.uniform(0.5, 1.5, outputs).astype(np.float32))
    bias = m.weight(name + ".bn.bias", outputs)
    mean = m.weight(name + ".bn.running_mean", outputs)
    var = m.tensor(name + ".bn.running_var", m.random.uniform(0.5, 1.5, outputs).astype(np.float32))
    x = m("BatchNormalization", x, scale, bias, mean, var, epsilon=1e-5)
    if act == "relu":
        x = m("Relu", x)
    if act == "relu6":
        x = m("Clip", x, m.number(0.0), m.number(6.0))
    return x


def basic_block(m: Model, x: str, path: str, inputs: int, width: int, stride: int) -> str:
    y = conv_bn(m, x, path + ".conv1", inputs, width, 3, stride, act="relu")
    return conv_bn(m, y, path + ".conv2", width, width, 3)


def bottleneck(m: Model, x: str, path: str, inputs: int, width: int, stride: int) -> str:
    y = conv_bn(m, x, path + ".conv1", inputs, width // 4, 1, act="relu")
    y = conv_bn(m, y, path + ".conv2", width // 4, width // 4, 3, stride, act="relu")
    return conv_bn(m, y, path + ".conv3", width // 4, width, 1)


def resnet(name: str, widths: list[int], blocks: list[int], size: int, classes: int, batch, one=basic_block,
           stem: int = 0) -> Model:
    """`widths`: of the stages' results; `stem`: of the first convolution's, by default as the first stage's."""
    m = Model(name, 13)
    x = m.input("x", [batch, 3, size, size])
    x = conv_bn(m, x, "conv1", 3, stem or widths[0], 7, 2, act="relu")
    x = m("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    inputs = stem or widths[0]
    for stage, (width, count) in enumerate(zip(widths, blocks)):
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            path = f"layer{stage + 1}.{block}"
            y = one(m, x, path, inputs, width, stride)
            if stride != 1 or inputs != width:
                x = conv_bn(m, x, path + ".downsample", inputs, width, 1, stride)
            m.module = "/" + path.replace(".", "/")
            x = m("Relu", m("Add", y, x))
            inputs = width
    m.module = ""
    x = m("Flatten", m("GlobalAveragePool", x), axis=1)
    x = m("Gemm", x, m.weight("fc.weight", classes, inputs), m.weight("fc.bias", classes), transB=1)
    m.output(x, [batch, classes])
    return m


def mobilenet(name: str, stem: int, settings: list[tuple], last: int, size: int, classes: int) -> Model:
    """MobileNetV2: inverted residuals, (expansion, channels, repeats, stride) a stage."""
    m = Model(name, 13)
    x = conv_bn(m, m.input("x", [1, 3, size, size]), "features.0", 3, stem, 3, 2, act="relu6")
    inputs, index = stem, 1
    for expansion, channels, repeats, first_stride in settings:
        for repeat in range(repeats):
            stride, path, hidden, y = first_stride if repeat == 0 else 1, f"features.{index}", inputs * expansion, x
            if expansion != 1:
                y = conv_bn(m, y, path + ".expand", inputs, hidden, 1, act="relu6")
            y = conv_bn(m, y, path + ".depthwise", hidden, hidden, 3, stride, hidden, act="relu6")
            y = conv_bn(m, y, path + ".project", hidden, channels, 1)
            x = m("Add", x, y) if stride == 1 and inputs == channels else y
            inputs, index = channels, index + 1
    x = conv_bn(m, x, f"features.{index}", inputs, last, 1, act="relu6")
    m.module = ""
    x = m("ReduceMean", x, axes=[2, 3], keepdims=0)
    x = m("Gemm", x, m.weight("classifier.weight", classes, last), m.weight("classifier.bias", classes), transB=1)
    m.output(x, [1, classes])
    return m


def linear(m: Model, x: str, name: str, inputs: int, outputs: int) -> str:
    return m("Add", m("MatMul", x, m.weight(name + ".weight", inputs, outputs)), m.weight(name + ".bias", outputs))


def layer_norm(m: Model, x: str, name: str, width: int, written_out: bool) -> str:
    weight = m.tensor(name + ".weight", m.random.uniform(0.5, 1.5, width).astype(np.float32))
    bias = m.weight(name + ".bias", width)
    if not written_out:
        return m("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-5)
    centred = m("Sub", x, m("ReduceMean", x, axes=[-1], keepdims=1))
    variance = m("ReduceMean", m("Pow", centred, m.number(2.0)), axes=[-1], keepdims=1)
    normalised = m("Div", centred, m("Sqrt", m("Add", variance, m.number(1e-5))))
    return m("Add", m("Mul", normalised, weight), bias)


def sizes_of(m: Model, x: str, *take) -> str:
    """A shape as exporters compute it: sizes of x, and numbers."""
    parts = []
    for item in take:
        if isinstance(item, str):
            index = m("Constant", value=numpy_helper.from_array(np.array(int(item), np.int64)))
            size = m("Gather", m("Shape", x), index, axis=0)
            parts.append(m("Unsqueeze", size, m.ints(0)))
        else:
            parts.append(m.ints(item))
    return m("Concat", *parts, axis=0)


def heads(m: Model, x: str, count: int, width: int) -> str:
    x = m("Reshape", x, sizes_of(m, x, "0", "1", count, width // count))
    return m("Transpose", x, perm=[0, 2, 1, 3])


def joined(m: Model, x: str, width: int) -> str:
    x = m("Transpose", x, perm=[0, 2, 1, 3])
    return m("Reshape", x, sizes_of(m, x, "0", "1", width))


def attended(m: Model, q: str, k: str, v: str, width: int, count: int, bias: str = "") -> str:
    """The heads' mixed values; `bias` is added to the scores."""
    scores = m("Div", m("MatMul", q, m("Transpose", k, perm=[0, 1, 3, 2])), m.number(np.sqrt(width // count)))
    if bias:
        scores = m("Add", scores, bias)
    return m("MatMul", m("Softmax", scores, axis=-1), v)


def exact_gelu(m: Model, x: str) -> str:
    halved = m("Mul", x, m("Add", m("Erf", m("Div", x, m.number(np.sqrt(2)))), m.number(1.0)))
    return m("Mul", halved, m.number(0.5))


def encoder_layer(m: Model, x: str, path: str, bias: str, width: int, count: int) -> str:
    """One layer of BERT, norms behind; `path` begins the weights' names."""
    m.module = "/encoder/" + path.replace(".", "/") + "attention"
    q, k, v = (heads(m, linear(m, x, f"{path}attention.{part}", width, width), count, width)
               for part in ("query", "key", "value"))
    mixed = linear(m, joined(m, attended(m, q, k, v, width, count, bias), width), path + "attention.output", width, width)
    x = layer_norm(m, m("Add", mixed, x), path + "attention.norm", width, True)
    m.module = "/encoder/" + path.replace(".", "/") + "mlp"
    y = exact_gelu(m, linear(m, x, path + "intermediate", width, 4 * width))
    y = linear(m, y, path + "output", 4 * width, width)
    return layer_norm(m, m("Add", y, x), path + "norm", width, True)


def bert(name: str, batch, tokens, width: int, count: int, paths: list[str]) -> Model:
    """Layers with an additive mask made of 0 and 1, exact GELU as Erf; norms written out, as before opset 17."""
    m = Model(name, 14)
    x = m.input("hidden", [batch, tokens, width])
    mask = m.input("mask", [batch, tokens], TensorProto.INT64)
    m.module = "/encoder"
    open_mask = m("Cast", m("Unsqueeze", m("Unsqueeze", mask, m.ints(1)), m.ints(2)), to=TensorProto.FLOAT)
    bias = m("Mul", m("Sub", m.number(1.0), open_mask), m.number(-10000.0))
    for path in paths:
        x = encoder_layer(m, x, path, bias, width, count)
    m.output(x, [batch, tokens, width])
    return m


def decoder_layer(m: Model, x: str, layer: int, causal: Callable[[], str], width: int, count: int) -> str:
    """One causal block of GPT-2 with tanh GELU, norms before."""
    path = f"h.{layer}"
    m.module = f"/transformer/{path}/attn"
    y = layer_norm(m, x, path + ".ln_1", width, False)
    flat = m("Reshape", y, m.ints(-1, width))
    qkv = m("Gemm", flat, m.weight(path + ".attn.c_attn.weight", width, 3 * width),
            m.weight(path + ".attn.c_attn.bias", 3 * width))
    qkv = m("Reshape", qkv, sizes_of(m, y, "0", "1", 3 * width))
    q, k, v = (heads(m, part, count, width) for part in m("Split", qkv, m.ints(width, width, width), outputs=3, axis=2))
    scores = m("MatMul", q, m("Transpose", k, perm=[0, 1, 3, 2]))
    scores = m("Div", scores, m.number(np.sqrt(width // count)))
    scores = m("Where", causal(), scores, m.number(np.finfo(np.float32).min))
    mixed = joined(m, m("MatMul", m("Softmax", scores, axis=-1), v), width)
    x = m("Add", x, linear(m, mixed, path + ".attn.c_proj", width, width))
    m.module = f"/transformer/{path}/mlp"
    y = linear(m, layer_norm(m, x, path + ".ln_2", width, False), path + ".mlp.c_fc", width, 4 * width)
    cube = m("Mul", m("Pow", y, m.number(3.0)), m.number(0.044715))
    inner = m("Mul", m("Add", y, cube), m.number(np.sqrt(2 / np.pi)))
    y = m("Mul", m("Mul", y, m.number(0.5)), m("Add", m("Tanh", inner), m.number(1.0)))
    return m("Add", x, linear(m, y, path + ".mlp.c_proj", 4 * width, width))


def gpt(name: str, tokens, width: int, count: int, vocabulary: int, layers: int) -> Model:
    """Embeddings, causal blocks, and logits by the embedding's transpose."""
    m = Model(name, 17)
    ids = m.input("ids", [1, tokens], TensorProto.INT64)
    m.module = "/transformer"
    wte = m.weight("wte.weight", vocabulary, width)
    wpe = m.weight("wpe.weight", 1024 if width > 64 else 16, width)
    length = m("Gather", m("Shape", ids), m("Constant", value=numpy_helper.from_array(np.array(1, np.int64))), axis=0)
    zero, one = (m("Constant", value=numpy_helper.from_array(np.array(i, np.int64))) for i in (0, 1))
    places = m("Unsqueeze", m("Range", zero, length, one), m.ints(0))
    x = m("Add", m("Gather", wte, ids, axis=0), m("Gather", wpe, places, axis=0))

    @functools.cache
    def causal() -> str:  # made where the first block needs it
        length1 = m("Unsqueeze", length, m.ints(0))
        square = m("Concat", length1, length1, axis=0)
        whole = m("ConstantOfShape", square, value=numpy_helper.from_array(np.array([1], np.float32)))
        return m("Cast", m("Trilu", whole, upper=0), to=TensorProto.BOOL)

    for layer in range(layers):
        x = decoder_layer(m, x, layer, causal, width, count)
    m.module = ""
    x = layer_norm(m, x, "ln_f", width, False)
    m.output(m("MatMul", x, m("Transpose", wte, perm=[1, 0])), [1, tokens, vocabulary])
    return m


def vit(name: str, size: int, patch: int, width: int, count: int, layers: int, classes: int) -> Model:
    """A vision transformer: patches by a convolution, a class token, layers with norms before."""
    m = Model(name, 17)
    places = (size // patch) ** 2
    x = m.input("x", [1, 3, size, size])
    m.module = "/patches"
    x = m("Conv", x, m.weight("patches.weight", width, 3, patch, patch), m.weight("patches.bias", width),
          kernel_shape=[patch] * 2, strides=[patch] * 2)
    x = m("Transpose", m("Reshape", x, m.ints(1, width, places)), perm=[0, 2, 1])
    x = m("Add", m("Concat", m.weight("class_token", 1, 1, width), x, axis=1), m.weight("positions", 1, places + 1, width))
    for layer in range(layers):
        path = f"blocks.{layer}."
        m.module = f"/blocks/{layer}"
        y = layer_norm(m, x, path + "norm1", width, False)
        q, k, v = (heads(m, linear(m, y, f"{path}attention.{part}", width, width), count, width)
                   for part in ("query", "key", "value"))
        mixed = linear(m, joined(m, attended(m, q, k, v, width, count), width), path + "attention.output", width, width)
        x = m("Add", x, mixed)
        y = exact_gelu(m, linear(m, layer_norm(m, x, path + "norm2", width, False), path + "mlp.fc1", width, 4 * width))
        x = m("Add", x, linear(m, y, path + "mlp.fc2", 4 * width, width))
    m.module = ""
    x = m("Gather", layer_norm(m, x, "norm", width, False),
          m("Constant", value=numpy_helper.from_array(np.array(0, np.int64))), axis=1)
    m.output(m("Gemm", x, m.weight("head.weight", classes, width), m.weight("head.bias", classes), transB=1), [1, classes])
    return m


def lstm() -> Model:
    m = Model("tiny_lstm", 14)
    x = m.input("x", [5, 2, 3])
    weights = [m.weight("weight_ih", 2, 16, 3), m.weight("weight_hh", 2, 16, 4), m.weight("bias", 2, 32)]
    state = [m.weight("h0", 2, 2, 4), m.weight("c0", 2, 2, 4)]
    y, h, c = m("LSTM", x, *weights, "", *state, outputs=3, hidden_size=4, direction="bidirectional")
    for name, shape in ((y, [5, 2, 2, 4]), (h, [2, 2, 4]), (c, [2, 2, 4])):
        m.output(name, shape)
    return m


def images() -> Model:
    """Odd pooling, padding, resizing and transposed convolutions."""
    m = Model("tiny_images", 16)
    x = m.input("x", [1, 4, 9, 10])

    def show(y: str, *shape: int) -> None:
        m.output(y, list(shape))

    show(m("MaxPool", x, kernel_shape=[3, 2], strides=[2, 2], pads=[0, 0, 1, 1]), 1, 4, 4, 5)
    show(m("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], dilations=[2, 2], ceil_mode=1), 1, 4, 3, 4)
    show(m("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 1, 4, 5, 5)
    show(m("AveragePool", x, kernel_shape=[2, 2], pads=[0, 1, 1, 0], count_include_pad=1), 1, 4, 9, 10)
    show(m("GlobalMaxPool", x), 1, 4, 1, 1)
    show(m("Conv", x, m.weight("same", 6, 2, 3, 2), auto_pad="SAME_UPPER", strides=[2, 3], group=2), 1, 6, 5, 4)
    show(m("ConvTranspose", x, m.weight("up", 4, 3, 3, 3), m.weight("up_bias", 3), strides=[2, 2], pads=[1, 1, 1, 1],
           output_padding=[1, 1]), 1, 3, 18, 20)
    scales = m.tensor("scales", np.array([1, 1, 2, 2], np.float32))
    show(m("Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
         1, 4, 18, 20)
    show(m("Resize", x, "", scales, mode="linear", coordinate_transformation_mode="half_pixel"), 1, 4, 18, 20)
    show(m("Resize", x, "", "", m.ints(1, 4, 13, 7), mode="nearest", coordinate_transformation_mode="half_pixel"),
         1, 4, 13, 7)
    show(m("Resize", x, "", "", m.ints(1, 4, 5, 15), mode="linear", coordinate_transformation_mode="align_corners"),
         1, 4, 5, 15)
    show(m("Pad", x, m.ints(0, 0, 1, 2, 0, 0, 3, 0), mode="reflect"), 1, 4, 13, 12)
    show(m("Pad", x, m.ints(0, 0, -1, 2, 0, 0, 1, 0), m.number(2.5)), 1, 4, 9, 12)
    show(m("InstanceNormalization", x, m.weight("in_w", 4), m.weight("in_b", 4)), 1, 4, 9, 10)
    show(m("DepthToSpace", x, blocksize=2, mode="CRD"), 1, 1, 18, 20)
    show(m("DepthToSpace", x, blocksize=2), 1, 1, 18, 20)
    show(m("SpaceToDepth", m("Slice", x, m.ints(0), m.ints(8), m.ints(2)), blocksize=2), 1, 16, 4, 5)
    return m


def pieces() -> Model:
    """Operators that the other models lack, each with an output of its own."""
    m = Model("tiny_pieces", 17)
    x = m.input("x", [3, 4])
    y = m.input("y", [4])
    ids = m.input("ids", [2, 2], TensorProto.INT64)
    m.given["ids"] = np.array([[0, 2], [2, 1]])
    F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    for name in ("Sigmoid", "Exp", "Abs", "Neg", "Floor", "Ceil", "Round", "Sign", "Softplus", "Softsign", "HardSigmoid",
                 "HardSwish", "Elu", "Selu", "Celu", "LeakyRelu", "ThresholdedRelu", "Sin", "Cos", "Reciprocal", "Atan"):
        m.output(m(name, x), [3, 4], F)
    m.output(m("PRelu", x, y), [3, 4], F)
    m.output(m("Log", m("Abs", x)), [3, 4], F)
    for name in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"):
        m.output(m(name, x, y), [3, 4], B)
    for name in ("Sub", "Div", "Max", "Min", "Sum", "Mean"):
        m.output(m(name, x, y), [3, 4], F)
    m.output(m("Mod", x, y, fmod=1), [3, 4], F)
    for name in ("ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"):
        m.output(m(name, x, axes=[-1], keepdims=0), [3], F)
    m.output(m("ReduceSum", x, m.ints(0)), [1, 4], F)
    m.output(m("ReduceMean", x), [1, 1], F)
    m.output(m("ArgMax", x, axis=1, keepdims=0), [3], I)
    m.output(m("ArgMin", x, axis=0), [1, 4], I)
    m.output(m("CumSum", x, m.ints(1), exclusive=1, reverse=1), [3, 4], F)
    values, places = m("TopK", x, m.ints(2), outputs=2, axis=1)
    m.output(values, [3, 2], F)
    m.output(places, [3, 2], I)
    m.output(m("Gather", x, ids, axis=1), [3, 2, 2], F)
    m.output(m("Gather", x, m("Sub", ids, m.ints(2)), axis=0), [2, 2, 4], F)
    m.output(m("GatherElements", x, m("Neg", ids), axis=0), [2, 2], F)
    m.output(m("GatherND", x, ids), [2], F)
    m.output(m("ScatterElements", x, ids, m.weight("updates", 2, 2), axis=1), [3, 4], F)
    m.output(m("ScatterND", x, m("Slice", ids, m.ints(0), m.ints(1), m.ints(1)), m.weight("rows", 2, 4), reduction="add"),
             [3, 4], F)
    m.output(m("OneHot", ids, m.ints(3), m.tensor("off_on", np.array([-1, 2], np.float32)), axis=1), [2, 3, 2], F)
    m.output(m("Slice", x, m.ints(-1, 2 ** 31), m.ints(-9, 0), m.ints(1, 0), m.ints(-2, -1)), [2, 2], F)
    m.output(m("Tile", x, m.ints(2, 1)), [6, 4], F)
    m.output(m("Expand", y, m.ints(2, 1, 4)), [2, 1, 4], F)
    m.output(m("Squeeze", m("Unsqueeze", x, m.ints(0, -1)), m.ints(0)), [3, 4, 1], F)
    first, second = m("Split", x, outputs=2, axis=1)
    m.output(m("Concat", second, first, axis=-1), [3, 4], F)
    m.output(m("MatMul", x, y), [3], F)
    m.output(m("MatMul", m("Reshape", x, m.ints(3, 1, 4)), m.weight("batch", 2, 1, 4, 2)), [2, 3, 1, 2], F)
    m.output(m("Gemm", x, x, m.weight("c", 3, 1), transB=1, alpha=0.5, beta=2.0), [3, 3], F)
    m.output(m("LogSoftmax", x, axis=0), [3, 4], F)
    m.output(m("Trilu", x, upper=1), [3, 4], F)
    m.output(m("Where", m("Not", m("Less", x, y)), x, m.number(0.25)), [3, 4], F)
    m.output(m("Cast", m("Mul", x, m.number(10.0)), to=I), [3, 4], I)
    m.output(m("Div", m("Mul", ids, m.ints(7)), m.ints(-2)), [2, 2], I)
    m.output(m("Mod", m("Neg", ids), m.ints(3)), [2, 2], I)
    m.output(m("Dropout", x), [3, 4], F)
    return m


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if "--large" in sys.argv:
        resnet("resnet18", [64, 128, 256, 512], [2, 2, 2, 2], 224, 1000, 1).save(folder)
        settings = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
        mobilenet("mobilenet_v2", 32, settings, 1280, 224, 1000).save(folder)
        bert("bert_layer", 1, 128, 768, 12, [""]).save(folder)
        gpt("gpt_block", 128, 768, 12, 50257, 1).save(folder)
        widths = [256, 512, 1024, 2048]
        resnet("resnet50", widths, [3, 4, 6, 3], 224, 1000, 1, bottleneck, stem=64).save(folder)
        bert("bert", 1, 128, 768, 12, [f"layer.{i}." for i in range(12)]).save(folder)
        gpt("gpt2", 128, 768, 12, 50257, 12).save(folder)
        vit("vit", 224, 16, 768, 12, 12, 1000).save(folder)
        return
    resnet("tiny_resnet", [4, 6], [1, 1], 16, 3, "batch").save(folder)
    mobilenet("tiny_mobilenet", 4, [(1, 4, 1, 1), (2, 4, 2, 1)], 6, 16, 3).save(folder)
    bert("tiny_bert", "batch", "tokens", 8, 2, [""]).save(folder)
    gpt("tiny_gpt", 6, 8, 2, 11, 1).save(folder)
    for model in (lstm(), images(), pieces()):
        model.save(folder)
    forward = folder / "forward"
    forward.mkdir(exist_ok=True)
    for model in (*older_models(), *control_models(), *more_models()):
        model.save(forward, check=model.opset <= onnx.defs.onnx_opset_version())


if __name__ == "__main__":
    main()
