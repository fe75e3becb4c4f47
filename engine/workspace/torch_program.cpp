#include "engine/workspace/torch_program.h"

#include <fmt/core.h>

#include <cmath>
#include <set>

#include "engine/eval/inputs.h"
#include "engine/support/version.h"

// The file's parts: inputs as a table, the functions that draw or read them, one line for each
// call, and the comparison. Calls are written from the operator table:
//   %y = mm(%x, %wt)  ⇒  y = torch.ops.aten.mm.default(x, wt)
// Parameters by which Recut extends a schema (the number of a random draw) are left out.

namespace recut {
namespace {

constexpr std::string_view kTorchHead = R"(#!/usr/bin/env python3
"""Runs a graph of Recut in PyTorch, call by call.

usage: run.py [--device cuda] [--outputs FILE]

It prints the norm of each output, and the error of FILE's outputs, which run.sh writes.
"""
import argparse
import json
import math
import pathlib
import struct

import torch

HERE = pathlib.Path(__file__).parent
MASK = (1 << 64) - 1
DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
          "U8": torch.uint8, "BOOL": torch.bool}
)";

constexpr std::string_view kTorchDrawing = R"(

def signed(x):
    x &= MASK
    return x - (1 << 64) if x >> 63 else x


def shift(x, n):
    return (x >> n) & ((1 << (64 - n)) - 1)


def mix(seed, value):
    """splitmix64 of Python's numbers."""
    x = (seed + 0x9E3779B97F4A7C15 + value) & MASK
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def drawn(name, dtype, shape, bound):
    """The values that Recut draws for the seed and the input's name."""
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = (h ^ byte) * 0x100000001B3 & MASK
    start = mix(SEED, h) + 0x9E3779B97F4A7C15
    x = torch.arange(math.prod(shape), dtype=torch.int64) + signed(start)
    x = (x ^ shift(x, 30)) * signed(0xBF58476D1CE4E5B9)
    x = (x ^ shift(x, 27)) * signed(0x94D049BB133111EB)
    x = x ^ shift(x, 31)
    if dtype.is_floating_point:
        values = bound * (shift(x, 11).to(torch.float64) * 2.0**-52 - 1)
    else:
        values = shift(x, 63) if bound > 0 else x * 0
    return values.to(dtype).reshape(shape)


def read_safetensors(path):
    data = bytearray(path.read_bytes())
    (size,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        values = torch.empty(0, dtype=dtype)
        if end > begin:
            values = torch.frombuffer(data[8 + size + begin:8 + size + end], dtype=dtype)
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def make_inputs(device):
    given = read_safetensors(HERE / DATA) if DATA else {}
    values = []
    for name, dtype, shape, strides, bound in INPUTS:
        value = given.get("in." + name)
        if value is None:
            value = drawn(name, dtype, shape, bound)
        values.append(torch.empty_strided(shape, strides, dtype=dtype, device=device).copy_(value))
    return values

)";

constexpr std::string_view kTorchMain = R"(

def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--outputs", type=pathlib.Path, default=HERE / "outputs.safetensors")
    options = parser.parse_args()
    print("PyTorch", torch.__version__)
    with torch.no_grad():
        outputs = run(options.device, *make_inputs(options.device))
    found = read_safetensors(options.outputs) if options.outputs.exists() else {}
    for position, (name, value) in enumerate(zip(OUTPUTS, outputs)):
        if value is None:
            continue
        exact = value.cpu().to(torch.float64)
        line = f"out.{position} {name}: {exact.numel()} elements, norm {exact.norm().item():.9e}"
        other = found.get(f"out.{position}")
        if other is not None:
            error = (other.to(torch.float64) - exact).norm().item()
            line += f", Recut's is off by {error / max(exact.norm().item(), 1e-300):.1e}"
        print(line)


if __name__ == "__main__":
    main()
)";

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A string literal of Python.
std::string python_string(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      literal += std::string("\\") + c;
    else if (byte < 0x20 || byte == 0x7f)
      literal += fmt::format("\\x{:02x}", byte);
    else
      literal += c;
  }
  return literal + "\"";
}

std::string python_real(double x) {
  if (std::isnan(x)) return "math.nan";
  if (std::isinf(x)) return x > 0 ? "math.inf" : "-math.inf";
  std::string text = fmt::format("{}", x);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string python_ints(std::span<const std::int64_t> numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
  return text + "]";
}

class TorchWriter {
 public:
  TorchWriter(const Graph& graph, const TorchProgramOptions& options)
      : graph_(graph), options_(options) {
    for (const NodeId id : graph_.order()) names_.push_back(identifier(graph_.node_name(id)));
  }

  TorchProgram write() {
    program_.text = kTorchHead;
    program_.text += fmt::format(
        "SEED = {}\nDATA = {}\n\n# Written by Recut {}. Name, dtype, shape, strides and bound of "
        "the drawn values.\nINPUTS = [\n",
        options_.seed, options_.data.empty() ? "None" : python_string(options_.data), version());
    for (const NodeId id : graph_.order())
      if (graph_.op(id).is(kInput)) program_.text += input_row(id);
    program_.text += "]\nOUTPUTS = [" + output_names() + "]\n";
    program_.text += kTorchDrawing;
    program_.text += "\ndef run(device" + parameters() + "):\n";
    for (const NodeId id : graph_.order())
      if (!graph_.op(id).is(kInput)) program_.text += call_line(id);
    program_.text += "    return [" + outputs() + "]\n";
    program_.text += kTorchMain;
    return std::move(program_);
  }

 private:
  // A word of Python that no other value has.
  std::string identifier(const std::string& name) {
    static const std::set<std::string, std::less<>> kTaken = {
        "False", "None",   "True",     "and",   "as",       "assert", "async",   "await",
        "break", "class",  "def",      "del",   "elif",     "else",   "except",  "for",
        "from",  "global", "if",       "in",    "is",       "import", "finally", "lambda",
        "not",   "or",     "nonlocal", "pass",  "raise",    "return", "try",     "while",
        "with",  "yield",  "device",   "torch", "continue", "math"};
    std::string word;
    for (const char c : name) word += is_word_character(c) ? c : '_';
    const bool digit = !word.empty() && word.front() >= '0' && word.front() <= '9';
    if (word.empty() || digit || kTaken.count(word) != 0) word.insert(0, "v_");
    std::string unique = word;
    for (int n = 2; !taken_.insert(unique).second; ++n) unique = fmt::format("{}__{}", word, n);
    return unique;
  }
  const std::string& name(NodeId id) const { return names_[graph_.position(id)]; }

  std::string input_row(NodeId id) const {
    const TensorType& type = graph_.type(id);
    return fmt::format("    ({}, torch.{}, {}, {}, {}),\n", python_string(graph_.node_name(id)),
                       torch_name(type.dtype), python_ints(type.shape), python_ints(type.strides),
                       python_real(random_bound(graph_, id)));
  }

  std::string parameters() const {
    std::string text;
    for (const NodeId id : graph_.order())
      if (graph_.op(id).is(kInput)) text += ", " + name(id);
    return text;
  }

  template <class Text>
  std::string each_output(Text&& text_of) const {
    std::string text;
    for (const auto* list : {&graph_.results, &graph_.gradients})
      for (const NodeId id : *list) text += (text.empty() ? "" : ", ") + text_of(id);
    return text;
  }
  std::string outputs() const {
    return each_output([&](NodeId id) { return id.valid() ? name(id) : std::string("None"); });
  }
  std::string output_names() const {
    return each_output([&](NodeId id) {
      return id.valid() ? python_string(graph_.node_name(id)) : std::string("None");
    });
  }

  // The reason why PyTorch has no such operator; "": it has.
  static std::string missing(const Operator& op) {
    const bool of_torch = op.target.starts_with("aten.") || op.target.starts_with("prims.");
    if (is_external(op.op)) return "it is a custom operator";
    if (op.is(kCollective | kWait)) return "it needs other ranks";
    return of_torch ? "" : "PyTorch has no such operator";
  }

  std::string call_line(NodeId id) {
    const Node& node = graph_[id];
    const Operator& op = operator_of(node.op);
    if (node.op == Op::getitem)
      return fmt::format("    {} = {}[{}]\n", name(id), argument(op, node, 0),
                         argument(op, node, 1));
    if (const std::string reason = missing(op); !reason.empty()) {
      program_.notes.push_back(fmt::format("{} ({}): {}", graph_.node_name(id), op.target, reason));
      return fmt::format("    # Not written: {}\n    raise NotImplementedError({})\n", reason,
                         python_string(op.target));
    }
    std::string remark;
    if (op.is(kRandom)) {
      remark = "  # PyTorch draws other numbers";
      program_.notes.push_back(fmt::format("{} ({}): PyTorch draws other random numbers",
                                           graph_.node_name(id), op.target));
    }
    return fmt::format("    {} = torch.ops.{}({}){}\n", name(id), op.target, arguments(op, node),
                       remark);
  }

  // Positional as far as they go, then by name.
  std::string arguments(const Operator& op, const Node& node) const {
    std::string text;
    bool by_name = false;
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      const Parameter& parameter = op.parameters[i];
      by_name = by_name || node.arguments[i].absent() || parameter.keyword_only;
      const bool of_recut = op.is(kImpure) && parameter.name == "draw";
      if (node.arguments[i].absent() || of_recut) continue;
      if (!text.empty()) text += ", ";
      if (by_name) text += fmt::format("{}=", parameter.name);
      text += argument(op, node, i);
    }
    return text;
  }

  std::string argument(const Operator& op, const Node& node, std::size_t i) const {
    return value(node.arguments[i], op.parameters[i].name);
  }

  std::string value(const Argument& a, std::string_view parameter) const {
    if (a.absent() || a.none()) return "None";
    if (const auto* id = a.get<NodeId>()) return name(*id);
    if (const auto* b = a.get<bool>()) return *b ? "True" : "False";
    if (const auto* i = a.get<std::int64_t>()) return fmt::format("{}", *i);
    if (const auto* d = a.get<double>()) return python_real(*d);
    if (const auto* dtype = a.get<DType>()) return fmt::format("torch.{}", torch_name(*dtype));
    if (const auto* list = a.get<ArgumentList>()) {
      std::string text = "[";
      for (const Argument& item : *list)
        text += (text.size() == 1 ? "" : ", ") + value(item, parameter);
      return text + "]";
    }
    const std::string& text = *a.get<std::string>();
    if (parameter == "device") return "device";
    if (parameter == "layout" || parameter == "memory_format") return "torch." + text;
    return python_string(text);
  }

  const Graph& graph_;
  const TorchProgramOptions& options_;
  TorchProgram program_;
  std::vector<std::string> names_;  // by position
  std::set<std::string> taken_;
};

}  // namespace

TorchProgram torch_program(const Graph& graph, const TorchProgramOptions& options) {
  return TorchWriter(graph, options).write();
}

}  // namespace recut
