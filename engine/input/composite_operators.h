// Operators of a file that are more than one operator of the table, or another one: composites of a
// program in training form, other names, and operators that write to more than their first operand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/builder.h"
#include "engine/ir/call.h"
#include "engine/ir/operator.h"

namespace recut {

// A composite's expansion: its results, and values that it writes to its parameters' tensors.
struct Expansion {
  std::vector<Value> results;
  std::vector<std::pair<std::string_view, Value>> writes;
  bool applies = true;  // false: the call is as the table has it, or of an unknown operator

  Expansion(Value result) : results{result} {}  // NOLINT: implicit, as `return x` is the usual case
  Expansion(std::vector<Value> all) : results(std::move(all)) {}  // NOLINT
  static Expansion none() {
    Expansion nothing{std::vector<Value>()};
    nothing.applies = false;
    return nothing;
  }

  // False where a result is missing, as for an operand that is no tensor.
  bool is_whole() const {
    for (const Value& result : results)
      if (!result.valid()) return false;
    return !results.empty();
  }
};

// Writes the expansion of a checked call. Errors are the builder's.
using Expand = Expansion (*)(Builder& b, const Call& call);

struct CompositeRow {
  std::string_view schema;  // as ATen writes it
  Expand expand;
  std::string_view written = {};     // the parameters that it may write to, a blank between them
  std::string_view written_if = {};  // the parameter that is false where it writes to none
};

struct CompositeOperator {
  Operator row;  // `op` and `rule` mean nothing
  Expand expand;
  std::vector<std::string_view> written;
  std::string_view written_if;
};

// Finds a composite by fx target; null if there is none.
const CompositeOperator* find_composite(std::string_view target);

// The operator of the table that a target names, also by another of its names,
// "aten.concat.default"; null if there is none.
const Operator* find_operator_in_file(std::string_view target);

// "aten.add.Tensor" of "aten.add_.Tensor", "aten.__and__.Tensor" of "aten.__iand__.Tensor": the
// call without its effect. None if the name isn't that of a call that writes to its first operand.
std::optional<std::string> functional_target(std::string_view target);

// The operator that a target of a file names.
struct FileOperator {
  const Operator* op = nullptr;                  // of the table
  const CompositeOperator* composite = nullptr;  // comes before `op`, where it applies
  bool writes_operand = false;  // the target is the operator's, but writes to the first operand
};

// Where an argument is a complex number, which is a tensor by then, the operator takes a tensor in
// that place if there is such an operator.
FileOperator find_in_file(std::string_view target, bool has_complex_number);

// The target of the operator that takes a tensor where this one takes a number; "" if none is known.
std::string_view tensor_form(std::string_view target);

// Composites that take a tensor where the operator of their name takes a number.
std::vector<CompositeRow> complex_number_composites();

// Rows of the families, in files of their names.
std::vector<CompositeRow> conversion_composites();
std::vector<CompositeRow> shape_composites();
std::vector<CompositeRow> network_composites();
std::vector<CompositeRow> product_composites();
std::vector<CompositeRow> recurrent_composites();
std::vector<CompositeRow> fourier_composites();
std::vector<CompositeRow> short_time_composites();
std::vector<CompositeRow> window_composites();
std::vector<CompositeRow> norm_composites();
std::vector<CompositeRow> linear_algebra_composites();
std::vector<CompositeRow> statistics_composites();
std::vector<CompositeRow> loss_composites();
std::vector<CompositeRow> quantization_composites();

}  // namespace recut
