// Evaluates one call on complex values, which are written as pairs of parts.
#pragma once

#include <complex>

#include "tests/eval/one_call.h"

namespace recut::test {

struct ComplexCall : OneCall {
  // A tensor of these numbers in c128 or another complex dtype.
  Argument complexes(Shape shape, const std::vector<Complex>& values, DType dtype = DType::c128) {
    const Argument argument = builder.input(dtype, std::move(shape));
    const NodeId id = *argument.get<NodeId>();
    Tensor made = allocate(builder.graph.type(id), nullptr);
    Complexes dense;
    dense.shape = made.shape;
    dense.data = values;
    pack(dense, made);
    inputs[id] = made;
    return argument;
  }
  Argument complexes(const std::vector<Complex>& values, DType dtype = DType::c128) {
    return complexes({static_cast<std::int64_t>(values.size())}, values, dtype);
  }

  std::vector<Complex> numbers(std::string_view name, const Named& named) {
    const auto made = builder.call(name, named);
    INFO((made ? std::string() : format(made.diagnostics())));
    REQUIRE(made.ok());
    builder.graph.results = {*made};
    const auto evaluation = evaluate(builder.graph, inputs, options);
    INFO((evaluation ? std::string() : format(evaluation.diagnostics())));
    REQUIRE(evaluation.ok());
    return unpack<Complex>(evaluation->outputs.front()).data;
  }
};

inline bool complex_near(const std::vector<Complex>& found, const std::vector<Complex>& expected,
                         double tolerance = 1e-13) {
  if (found.size() != expected.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    UNSCOPED_INFO("found " << found[i].real() << " + " << found[i].imag() << " i, expected "
                           << expected[i].real() << " + " << expected[i].imag() << " i");
    if (!(std::abs(found[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]))))
      return false;
  }
  return true;
}

}  // namespace recut::test
