"""An ONNX model in the making, and its inputs: make_models.py and its families build models with it.
Needs Debian's python3-onnx and python3-numpy.
"""
import json
import pathlib
import struct

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Model:
    """A graph in the making: every operator is a method call that gives its output's name."""

    def __init__(self, name: str, opset: int = 17, scale: float = 1.0) -> None:
        self.name, self.opset, self.scale = name, opset, scale
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.random = np.random.default_rng(7)
        self.given: dict[str, np.ndarray] = {}  # values of inputs that can't be just any
        self.module = ""
        self.count = 0

    def input(self, name: str, shape: list, dtype: int = TensorProto.FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name: str, shape: list, dtype: int = TensorProto.FLOAT) -> None:
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def tensor(self, name: str, values: np.ndarray) -> str:
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def weight(self, name: str, *shape: int) -> str:
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        values = self.random.standard_normal(shape) * (self.scale / np.sqrt(fan_in) if len(shape) > 1 else 0.1)
        return self.tensor(name, values.astype(np.float32))

    def ints(self, *values: int) -> str:
        self.count += 1
        return self.tensor(f"ints_{self.count}", np.array(values, np.int64))

    def number(self, value: float) -> str:
        return self("Constant", value=numpy_helper.from_array(np.array(value, np.float32)))

    def number_of(self, value: int) -> str:
        return self("Constant", value=numpy_helper.from_array(np.array(value, np.int64)))

    def __call__(self, operator: str, *inputs: str, outputs: int = 1, **attributes):
        self.count += 1
        names = [f"{self.module}/{operator}_{self.count}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, f"{self.module}/{operator}_{self.count}",
                                           **attributes))
        return names[0] if outputs == 1 else names

    def show(self, name: str, rank: int | None, dtype: int = TensorProto.FLOAT) -> None:
        """An output whose sizes, and perhaps rank, the model leaves to be found out."""
        self.output(name, None if rank is None else [None] * rank, dtype)

    def nested(self, name: str, inputs: list[tuple], build, outputs: list[tuple]) -> onnx.GraphProto:
        """A branch or body: `build` takes its model and inputs' names, and gives outputs' names; types are (dtype, rank)."""
        inner = Model(f"{self.name}_{name}", self.opset, self.scale)
        inner.random, inner.count, inner.module = self.random, self.count + 1000, f"{self.module}/{name}"
        names = [inner.input(f"{name}_in_{i}_{self.count}", [None] * rank, dtype) for i, (dtype, rank) in enumerate(inputs)]
        results = build(inner, *names)
        for result, (dtype, rank) in zip(results, outputs):
            inner.show(result, rank, dtype)
        self.count = inner.count
        return helper.make_graph(inner.nodes, inner.name, inner.inputs, inner.outputs, inner.initializers)

    def save(self, folder: pathlib.Path, check: bool = True) -> None:
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], producer_name="recut")
        model.ir_version = 8
        if check:
            onnx.checker.check_model(model)
        (folder / f"{self.name}.onnx").write_bytes(model.SerializeToString())
        write_safetensors(folder / f"{self.name}.safetensors", {"in." + i.name: self.values_of(i) for i in self.inputs})

    def values_of(self, value) -> np.ndarray:
        sizes = {"batch": 2, "tokens": 5}
        shape = [sizes.get(d.dim_param, d.dim_value) for d in value.type.tensor_type.shape.dim]
        if value.name in self.given:
            return self.given[value.name]
        if value.type.tensor_type.elem_type == TensorProto.INT64:
            return self.random.integers(0, 2 if value.name == "mask" else 11, shape)
        return self.random.standard_normal(shape).astype(np.float32)


def write_safetensors(path: pathlib.Path, tensors: dict) -> None:
    header, data = {}, b""
    for name, values in tensors.items():
        raw = values.tobytes()
        header[name] = {"dtype": {"float32": "F32", "int64": "I64", "int32": "I32", "bool": "BOOL"}[str(values.dtype)], "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
