// Builds one call on inputs of given types, for tests of shape rules and kernels.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"

namespace recut::test {

// An argument by its parameter's name; missing ones are absent.
using Named = std::vector<std::pair<std::string, Argument>>;

struct CallBuilder {
  Graph graph;

  Argument input(DType dtype, Shape shape) {
    return graph.add_input(InputKind::input, make_type(dtype, std::move(shape)),
                           {graph.unused_name("x")});
  }

  Result<NodeId> call(std::string_view name, const Named& named) {
    return graph.make(find(name).op, arguments(find(name), named));
  }

  // A call whose types are given, not inferred.
  NodeId append(std::string_view name, const Named& named, std::vector<TensorType> types) {
    return graph.append(find(name).op, arguments(find(name), named), std::move(types),
                        {graph.unused_name(name)});
  }

  // The type of the call's first output as text, or its first error.
  std::string type(std::string_view name, const Named& named) {
    const auto made = call(name, named);
    return made ? format(graph.type(*made)) : made.diagnostics().front().message;
  }

 private:
  static const Operator& find(std::string_view name) {
    const Operator* op = find_operator_by_name(name);
    INFO(name);
    REQUIRE(op != nullptr);
    return *op;
  }

  static std::vector<Argument> arguments(const Operator& op, const Named& named) {
    std::vector<Argument> list(op.parameters.size());
    for (const auto& [parameter, argument] : named) {
      INFO(op.name << " " << parameter);
      REQUIRE(op.parameter(parameter).has_value());
      list[*op.parameter(parameter)] = argument;
    }
    return list;
  }
};

inline Argument ints(std::vector<std::int64_t> values) { return Argument(values); }

}  // namespace recut::test
