// The two kinds of values that a node of an fx-joint-graph holds: types (`val`) and arguments.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/input/json.h"
#include "engine/ir/argument.h"
#include "engine/ir/type.h"
#include "engine/support/result.h"

namespace recut {

// {"dtype": "float32", "shape": [4, 8], "stride": [8, 1], "device": "cuda"}; strides are contiguous
// where they aren't given, and the device stays as the file names it. null is the type of an output
// that doesn't exist. Nothing where no dtype is given: a shape rule has to say what it is.
Result<std::optional<TensorType>> read_joint_type(JsonValue value);

// What a reference stands for: an invalid id where that node is faulty itself and has been
// complained about.
using FindNode = std::function<Result<NodeId>(std::string_view name)>;

// Numbers, strings, null, lists, {"node": name}, {"dtype": …}, {"float": "inf"}, {"device": …},
// {"layout": …}, {"memory_format": …}. `sound` becomes false where a reference is to a faulty node.
Result<Argument> read_joint_argument(JsonValue value, const FindNode& find_node, bool& sound);

}  // namespace recut
