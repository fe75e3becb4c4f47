// Programs of torch.export: signatures, arguments, sizes and nested graphs, in small programs that
// are written here.
#include "engine/input/exported_program.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"

namespace recut {
namespace {

constexpr std::string_view kMeta =
    R"({{"dtype": {}, "sizes": [{}], "strides": [{}], "storage_offset": {{"as_int": 0}}, "device": {{"type": "cpu", "index": null}}, "layout": 7, "requires_grad": false}})";

std::string meta(std::string_view sizes, std::string_view strides, int dtype = 7) {
  return fmt::format(fmt::runtime(kMeta), dtype, sizes, strides);
}
// f32[2, 3]
std::string plain_meta() {
  return meta(R"({"as_int": 2}, {"as_int": 3})", R"({"as_int": 3}, {"as_int": 1})");
}

std::string tensor(std::string_view name) {
  return fmt::format(R"({{"as_tensor": {{"name": "{}"}}}})", name);
}

struct Small {
  std::string inputs, input_specs, nodes, outputs, output_specs, tensors;
  std::string more = R"("sym_int_values": {})";
  std::string top = R"("range_constraints": {})";
  int major = 8;

  // An input, of its kind in the signature.
  void input(std::string_view name, std::string_view spec, const std::string& of = plain_meta()) {
    add(inputs, tensor(name));
    add(input_specs, std::string(spec));
    type(name, of);
  }
  void user_input(std::string_view name) {
    input(name, fmt::format(R"({{"user_input": {{"arg": {}}}}})", tensor(name)));
  }
  void parameter(std::string_view name) {
    input(name,
          fmt::format(R"({{"parameter": {{"arg": {{"name": "{0}"}}, "parameter_name": "m.{0}"}}}})",
                      name));
  }
  void buffer(std::string_view name) {
    input(
        name,
        fmt::format(
            R"({{"buffer": {{"arg": {{"name": "{0}"}}, "buffer_name": "m.{0}", "persistent": true}}}})",
            name));
  }
  void type(std::string_view name, const std::string& of) {
    add(tensors, fmt::format("\"{}\": {}", name, of));
  }
  // A call of operands and one result.
  void program_call(std::string_view name, std::string_view target, const std::string& arguments,
                    const std::string& of) {
    add(nodes,
        fmt::format(R"({{"target": "{}", "inputs": [{}], "outputs": [{}], "metadata": {{}}}})",
                    target, arguments, tensor(name)));
    type(name, of);
  }
  void output(std::string_view name) {
    output(name, fmt::format(R"({{"user_output": {{"arg": {}}}}})", tensor(name)));
  }
  void output(std::string_view name, const std::string& spec) {
    add(outputs, tensor(name));
    add(output_specs, spec);
  }

  std::string json() const {
    return fmt::format(
        R"({{"graph_module": {{"graph": {{"inputs": [{}], "outputs": [{}], "nodes": [{}], "tensor_values": {{{}}}, {}}},
 "signature": {{"input_specs": [{}], "output_specs": [{}]}}, "module_call_graph": []}},
 "schema_version": {{"major": {}, "minor": 9}}, "opset_version": {{"aten": 10}}, {}}})",
        inputs, outputs, nodes, tensors, more, input_specs, output_specs, major, top);
  }

 private:
  static void add(std::string& list, const std::string& item) {
    if (!list.empty()) list += ", ";
    list += item;
  }
};

std::string argument(std::string_view name, std::string_view value, int kind = 1) {
  return fmt::format(R"({{"name": "{}", "arg": {}, "kind": {}}})", name, value, kind);
}

Result<GraphFile> read_small(const Small& small, const Dimensions& sizes = {}) {
  const std::string json = small.json();
  auto program = read_exported_program(json, "p.json", "p");
  if (!program) return program.diagnostics();
  auto file = parse_joint_graph(program->json, "p.json", kDefaultGraphKey, sizes);
  if (file) return file;
  Diagnostics faults = file.diagnostics();
  program->relocate(faults, json);
  return faults;
}

std::string printed_small(const Small& small, const Dimensions& sizes = {}) {
  const auto file = read_small(small, sizes);
  if (!file) return format(file.diagnostics());
  CHECK(verify(file->graph).empty());
  return print(file->graph);
}

TEST_CASE("exported programs: roles of inputs, and keywords") {
  Small small;
  small.parameter("w");
  small.buffer("b");
  small.user_input("x");
  small.program_call("y", "torch.ops.aten.add.Tensor",
                     argument("self", tensor("x")) + ", " + argument("other", tensor("w")) + ", " +
                         argument("alpha", R"({"as_float": 2.0})", 2),
                     plain_meta());
  small.program_call("z", "torch.ops.aten.mul.Tensor",
                     argument("self", tensor("y")) + ", " + argument("other", tensor("b")),
                     plain_meta());
  small.output("z");
  CHECK(printed_small(small) == R"(graph "p" on cpu {
  %w = parameter f32[2, 3]  @"m.w"
  %b = constant f32[2, 3]  @"m.b"
  %x = input f32[2, 3]
  %y = add.Tensor(%x, %w, alpha=2.0) : f32[2, 3]
  %z = mul.Tensor(%y, %b) : f32[2, 3]
  results %z
}
)");
}

TEST_CASE("exported programs: written values follow the results, whatever their order") {
  Small small;
  small.parameter("w");
  small.buffer("b");
  small.user_input("x");
  small.program_call("next", "torch.ops.aten.mul.Tensor",
                     argument("self", tensor("b")) + ", " + argument("other", tensor("w")),
                     plain_meta());
  small.program_call("y", "torch.ops.aten.relu.default", argument("self", tensor("x")),
                     plain_meta());
  small.output("next", R"({"buffer_mutation": {"arg": {"name": "next"}, "buffer_name": "m.b"}})");
  small.output("y");
  CHECK(printed_small(small) == R"(graph "p" on cpu {
  %w = parameter f32[2, 3]  @"m.w"
  %b = input f32[2, 3]  @"m.b"
  %x = input f32[2, 3]
  %next = mul.Tensor(%b, %w) : f32[2, 3]
  %y = relu(%x) : f32[2, 3]
  %written.1 = detach(%next) : f32[2, 3]
  results %y, %written.1
  mutation 1 %b
}
)");
}

TEST_CASE("exported programs: gradients among the outputs make a joint graph") {
  Small small;
  small.parameter("w");
  small.user_input("x");
  small.program_call("y", "torch.ops.aten.mul.Tensor",
                     argument("self", tensor("x")) + ", " + argument("other", tensor("w")),
                     plain_meta());
  small.program_call("g", "torch.ops.aten.relu.default", argument("self", tensor("x")),
                     plain_meta());
  small.output("y", R"({"loss_output": {"arg": {"name": "y"}}})");
  small.output("g",
               R"({"gradient_to_parameter": {"arg": {"name": "g"}, "parameter_name": "m.w"}})");
  CHECK(printed_small(small) == R"(graph "p" on cpu {
  %w = parameter f32[2, 3]  @"m.w"
  %x = input f32[2, 3]
  %y = mul.Tensor(%x, %w) : f32[2, 3]
  %g = relu(%x) : f32[2, 3]
  results %y
  gradients %g, none
}
)");
}

TEST_CASE("exported programs: symbolic sizes have hints and ranges") {
  Small small;
  small.user_input("u");
  const std::string size =
      R"~({"as_expr": {"expr_str": "Mul(Integer(2), Symbol('s0', integer=True, positive=True))", "hint": {"as_int": 10}}})~";
  const std::string bare =
      R"~({"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 5}}})~";
  small.inputs += ", " + tensor("x");
  small.input_specs += R"(, {"user_input": {"arg": {"as_tensor": {"name": "x"}}}})";
  small.type("x", meta(bare, R"({"as_int": 1})"));
  small.program_call(
      "y", "torch.ops.aten.repeat.default",
      argument("self", tensor("x")) + ", " + argument("repeats", R"({"as_ints": [2]})"),
      meta(size, R"({"as_int": 1})"));
  small.program_call("z", "torch.ops.aten.view.default",
                     argument("self", tensor("y")) + ", " +
                         argument("size", R"({"as_sym_ints": [{"as_int": 2}, {"as_name": "n"}]})"),
                     meta(R"({"as_int": 2}, )" + bare, bare + R"(, {"as_int": 1})"));
  small.more = fmt::format(R"("sym_int_values": {{"n": {}}})", bare);
  small.nodes =
      R"({"target": "torch.ops.aten.sym_size.int", "inputs": [], "outputs": [{"as_sym_int": {"as_name": "n"}}], "metadata": {}}, )" +
      small.nodes;
  small.top = R"("range_constraints": {"s0": {"min_val": 2, "max_val": 8}})";
  small.output("z");
  CHECK(printed_small(small).find("%z = view(%y, [2, 5]) : f32[2, 5]") != std::string::npos);
  CHECK(printed_small(small, {{"s0", 7}}).find("%z = view(%y, [2, 7]) : f32[2, 7]") !=
        std::string::npos);
  CHECK(printed_small(small, {{"s0", 9}}).find("traced for s0 from 2 to 8") != std::string::npos);
}

// A call of a nested graph that adds 1; the operand comes behind the graph.
std::string nested_graph(std::string_view op) {
  return fmt::format(
      R"({{"as_graph": {{"name": "g", "graph": {{"inputs": [{0}], "outputs": [{1}], "nodes": [
  {{"target": "torch.ops.aten.{2}.default", "inputs": [{3}], "outputs": [{1}], "metadata": {{}}}}],
  "tensor_values": {{"a": {4}, "r": {4}}}}}}}}})",
      tensor("a"), tensor("r"), op, argument("self", tensor("a")), plain_meta());
}

TEST_CASE("exported programs: nested graphs stand in the place of their calls") {
  Small small;
  small.user_input("x");
  small.program_call("y", "torch.ops.higher_order.wrap_with_set_grad_enabled",
                     argument("", R"({"as_bool": false})") + ", " +
                         argument("", nested_graph("relu")) + ", " + argument("", tensor("x")),
                     plain_meta());
  small.program_call("z", "torch.ops.higher_order.wrap_with_set_grad_enabled",
                     argument("", R"({"as_bool": true})") + ", " +
                         argument("", nested_graph("sin")) + ", " + argument("", tensor("y")),
                     plain_meta());
  small.output("z");
  CHECK(printed_small(small) == R"(graph "p" on cpu {
  %x = input f32[2, 3]
  %inlined_1.r = relu(%x) : f32[2, 3]
  %y = detach(%inlined_1.r) : f32[2, 3]
  %inlined_2.r = sin(%y) : f32[2, 3]
  results %inlined_2.r
}
)");
}

// `x` in an autocast region of bf16: the result of `op` is recorded as `dtype`.
std::string printed_autocast(std::string_view op, int dtype, std::string_view enabled) {
  Small small;
  small.user_input("x");
  std::string region = nested_graph(op);
  const std::string recorded = fmt::format("\"r\": {}", plain_meta());
  region.replace(region.find(recorded), recorded.size(),
                 fmt::format("\"r\": {}", meta(R"({"as_int": 2}, {"as_int": 3})",
                                               R"({"as_int": 3}, {"as_int": 1})", dtype)));
  small.program_call("y", "torch.ops.higher_order.wrap_with_autocast",
                     argument("", R"({"as_string": "cpu"})") + ", " +
                         argument("", R"({"as_scalar_type": 13})") + ", " +
                         argument("", fmt::format(R"({{"as_bool": {}}})", enabled)) + ", " +
                         argument("", R"({"as_bool": false})") + ", " + argument("", region) +
                         ", " + argument("", tensor("x")),
                     plain_meta());
  small.output("y");
  return printed_small(small);
}

TEST_CASE("exported programs: autocast converts operands to the dtype that is recorded") {
  CHECK(printed_autocast("relu", 7, "true").find("_to_copy") == std::string::npos);
  const std::string converted = printed_autocast("relu", 13, "true");
  CHECK(converted.find("_to_copy(%x, dtype=bf16) : bf16[2, 3]") != std::string::npos);
  CHECK(converted.find("%inlined_1.r = relu(%") != std::string::npos);
  CHECK(
      printed_autocast("relu", 13, "false").find("relu is recorded as bf16[2, 3], expected f32") !=
      std::string::npos);
}

TEST_CASE("exported programs: the branch of a condition that isn't taken passes no gradient") {
  Small small;
  small.input("p", fmt::format(R"({{"user_input": {{"arg": {}}}}})", tensor("p")),
              meta("", "", /*dtype=*/12));
  small.user_input("x");
  small.program_call("y", "torch.ops.higher_order.cond",
                     argument("", tensor("p")) + ", " + argument("", nested_graph("sqrt")) + ", " +
                         argument("", nested_graph("neg")) + ", " +
                         argument("", fmt::format(R"({{"as_tensors": [{{"name": "x"}}]}})")),
                     plain_meta());
  small.output("y");
  CHECK(printed_small(small) == R"(graph "p" on cpu {
  %p = input bool[]
  %x = input f32[2, 3]
  %gated.1 = where.ScalarOther(%p, %x, 0.0) : f32[2, 3]
  %inlined_2.r = sqrt(%gated.1) : f32[2, 3]
  %gated.3 = where.ScalarSelf(%p, 0.0, %x) : f32[2, 3]
  %inlined_4.r = neg(%gated.3) : f32[2, 3]
  %y = where.self(%p, %inlined_2.r, %inlined_4.r) : f32[2, 3]
  results %y
}
)");
}

TEST_CASE("exported programs: every kind of argument that an unknown operator can have") {
  Small small;
  small.user_input("x");
  std::string arguments = argument("a", tensor("x"));
  for (const std::string_view value :
       {R"({"as_none": true})",
        R"({"as_int": 3})",
        R"({"as_ints": [1, 2]})",
        R"({"as_float": "Infinity"})",
        R"({"as_floats": [1.5, 2]})",
        R"({"as_bool": true})",
        R"({"as_bools": [true, false]})",
        R"({"as_string": "s"})",
        R"({"as_strings": ["s", "t"]})",
        R"({"as_scalar_type": 13})",
        R"({"as_memory_format": 2})",
        R"({"as_layout": 7})",
        R"({"as_device": {"type": "cpu", "index": 1}})",
        R"({"as_tensors": [{"name": "x"}, {"name": "x"}]})",
        R"({"as_optional_tensor": {"as_none": true}})",
        R"({"as_optional_tensors": [{"as_tensor": {"name": "x"}}, {"as_none": true}]})",
        R"({"as_sym_int": {"as_int": 4}})",
        R"({"as_sym_bool": {"as_bool": true}})",
        R"({"as_int_lists": [[1], [2, 3]]})",
        R"({"as_nested_tensors": [[{"name": "x"}]]})",
        R"({"as_complex": {"real": 1.0, "imag": 2.0}})",
        R"({"as_custom_obj": {"name": "o", "class_fqn": "c"}})",
        R"({"as_string_to_argument": {"k": {"as_int": 1}}})"})
    arguments += ", " + argument("a", value);
  small.program_call("y", "torch.ops.mine.all_kinds.default", arguments, plain_meta());
  small.output("y");
  const std::string printed = printed_small(small);
  INFO(printed);
  CHECK(
      printed.find(
          R"(mine.all_kinds.default(%x, none, 3, [1, 2], inf, [1.5, 2.0], true, [true, false], "s", ["s", "t"], bf16)") !=
      std::string::npos);
  CHECK(printed.find(R"("dict", ["k", 1])") != std::string::npos);
  CHECK(printed.find(R"(4, true, [[1], [2, 3]], [[%x]])") != std::string::npos);
}

TEST_CASE("exported programs: faults say where, what was found and what is expected") {
  const auto fault = [](const Small& small) {
    const auto file = read_small(small);
    return file ? std::string() : format(file.diagnostics());
  };
  Small small;
  small.user_input("x");
  small.output("x");
  Small major = small;
  major.major = 7;
  CHECK(fault(major).find("schema version 7, expected 8") != std::string::npos);
  Small sparse = small;
  sparse.type("s", meta("", "").replace(meta("", "").find("\"layout\": 7"), 11, "\"layout\": 1"));
  sparse.nodes = fmt::format(
      R"({{"target": "torch.ops.aten.relu.default", "inputs": [], "outputs": [{}], "metadata": {{}}}})",
      tensor("s"));
  CHECK(fault(sparse).find("the type of 's': its layout is 'sparse_coo', expected 'strided'") !=
        std::string::npos);
  Small kind = small;
  kind.program_call("y", "torch.ops.aten.relu.default", argument("self", R"({"as_new_kind": 1})"),
                    plain_meta());
  CHECK(fault(kind).find("argument 'self' of 'torch.ops.aten.relu.default': it is of kind "
                         "'as_new_kind', which this version doesn't know") != std::string::npos);
  CHECK(fault(kind).find("p.json:1:") == 0);
  Small shape = small;
  shape.program_call("y", "torch.ops.aten.mm.default",
                     argument("self", tensor("x")) + ", " + argument("mat2", tensor("x")),
                     plain_meta());
  CHECK(fault(shape).find("p.json:1:") == 0);
  CHECK(fault(shape).find("node 'y'") != std::string::npos);
  Small counts = small;
  counts.output_specs = "";
  CHECK(fault(counts).find("the signature has 0 outputs, the graph 1") != std::string::npos);
  CHECK_FALSE(read_exported_program("[1]", "p.json", "p").ok());
  CHECK_FALSE(read_exported_program("{}", "p.json", "p").ok());
}

}  // namespace
}  // namespace recut
