// Parses an operator's schema in the syntax of ATen's native_functions.yaml:
//   "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None)
//   -> Tensor"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/operator.h"

namespace recut {

struct Schema {
  std::string name_space;  // "aten", "prims", or "" for Recut's own (placeholder, getitem)
  std::string name;
  std::string overload;
  std::vector<Parameter> parameters;  // their names are views into the text that was parsed
  std::size_t outputs = 1;
  bool returns_list = false;
};

// `text` must outlive the result. A malformed schema is a bug of the table and fails a check.
Schema parse_schema(std::string_view text);

}  // namespace recut
