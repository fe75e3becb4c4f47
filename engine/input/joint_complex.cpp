#include "engine/input/joint_complex.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "engine/input/joint_values.h"
#include "engine/ir/builder.h"

namespace recut {
namespace {

Result<double> read_part(JsonValue value) {
  if (value.is(JsonKind::integer)) return static_cast<double>(value.integer());
  if (value.is(JsonKind::real)) return value.real();
  if (value.is(JsonKind::object) && value.size() == 1 && (*value.items().begin()).key == "float")
    value = (*value.items().begin()).value;
  const auto special = value.is(JsonKind::text) ? special_real(value.text()) : std::nullopt;
  if (special) return *special;
  return error(
      fmt::format("a part of a complex number is {}, expected a number, 'inf', '-inf' or 'nan'",
                  describe(value.kind())));
}

bool is_double(const Argument& argument, const Graph& graph) {
  if (const auto* id = argument.get<NodeId>()) return real_of(graph.type(*id).dtype) == DType::f64;
  const auto* dtype = argument.get<DType>();
  return dtype != nullptr && real_of(*dtype) == DType::f64;
}

}  // namespace

bool is_complex_number(JsonValue value) {
  return value.is(JsonKind::object) && value.size() == 1 &&
         (*value.items().begin()).key == "complex";
}

bool has_complex_number(const JointNode& node) {
  for (const JsonValue& values : {node.args, node.kwargs})
    if (values.present())
      for (const JsonMember member : values.items())
        if (is_complex_number(member.value)) return true;
  return false;
}

Result<std::complex<double>> read_complex_number(JsonValue value) {
  const JsonValue parts = (*value.items().begin()).value;
  if (!parts.is(JsonKind::array) || parts.size() != 2)
    return error("a complex number without two parts found, expected a list like [1.0, -2.0]");
  std::vector<double> numbers;
  for (const JsonMember part : parts.items()) {
    const auto number = read_part(part.value);
    if (!number) return number.diagnostics();
    numbers.push_back(*number);
  }
  return std::complex<double>(numbers[0], numbers[1]);
}

void add_complex_numbers(const ComplexNumbers& numbers, const JointNode& node, Graph& graph,
                         std::vector<Argument>& arguments) {
  if (numbers.empty()) return;
  // A number alone is complex128, and beside a tensor or a dtype as wide as that.
  const bool alone = std::none_of(arguments.begin(), arguments.end(), [](const Argument& a) {
    return a.get<NodeId>() != nullptr || a.get<DType>() != nullptr ||
           a.get<ArgumentList>() != nullptr;
  });
  const bool wide = alone || std::any_of(arguments.begin(), arguments.end(),
                                         [&](const Argument& a) { return is_double(a, graph); });
  const DType part = wide ? DType::f64 : DType::f32;
  Builder b(graph);
  const auto scope = b.scope({std::string(node.module), node.seq_nr, {}, std::string(node.source)});
  for (const auto& [position, number] : numbers) {
    const Value real = b.full({}, number.real(), part), imag = b.full({}, number.imag(), part);
    arguments[position] = b(Op::complex, {real, imag}).id();
  }
}

}  // namespace recut
