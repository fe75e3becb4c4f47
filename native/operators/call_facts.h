// The key of a kernel among its operator's kernels: the metadata of each argument, as JSON.
//
//   {"name": "self", "kind": "tensor", "dtype": "f32", "sizes": [2, 3], "strides": [3, 1],
//    "device": "cpu", "requires_grad": false}
//   {"name": "alpha", "kind": "int", "value": 2}
//   {"name": "tensors", "kind": "list", "items": [{"kind": "tensor", …}, …]}
//
// Other kinds are bool, float, dtype, string and none. Arguments with defaults are all there, so
// that a call that leaves one out equals one that gives its default. Numbers that JSON lacks are
// strings: "inf", "-inf", "nan".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "native/operators/operator_call.h"

namespace recut::operators {

using Json = nlohmann::ordered_json;

struct CallFacts {
  std::string target;  // "aten.add.Tensor"
  std::string device;
  Json arguments;  // an array

  std::string name_space() const;     // "aten"
  std::string overload_name() const;  // "add.Tensor"
};

CallFacts facts_of(const OperatorCall& call);

// The differences from an entry's arguments, field by field: "self: sizes [2, 3], kept [2, 4]".
// Empty where they are equal. `kept` may be any JSON.
std::vector<std::string> differences(const Json& arguments, const Json& kept);

// The arguments in a few words: "f32[2, 3], f32[3], 2". They may be any JSON.
std::string arguments_text(const Json& arguments);

}  // namespace recut::operators
