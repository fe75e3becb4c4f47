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
    return graph.add_input(InputKind::input, make_type(dtype, std::move(shape)), {});
  }

  Result<NodeId> call(std::string_view name, const Named& named) {
    const Operator* op = find_operator_by_name(name);
    INFO(name);
    REQUIRE(op != nullptr);
    std::vector<Argument> arguments(op->parameters.size());
    for (const auto& [parameter, argument] : named) {
      INFO(parameter);
      REQUIRE(op->parameter(parameter).has_value());
      arguments[*op->parameter(parameter)] = argument;
    }
    return graph.make(op->op, std::move(arguments));
  }

  // The type of the call's first output as text, or its first complaint.
  std::string type(std::string_view name, const Named& named) {
    const auto made = call(name, named);
    return made ? format(graph.type(*made)) : made.diagnostics().front().message;
  }
};

}  // namespace recut::test
