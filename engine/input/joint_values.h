// The two kinds of values that a node of an fx-joint-graph holds: types (`val`) and arguments.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/json.h"
#include "engine/input/symbols.h"
#include "engine/ir/argument.h"
#include "engine/ir/type.h"
#include "engine/support/result.h"

namespace recut {

// {"dtype": "float32", "shape": [4, "2*s5"], "stride": ["2*s5", 1], "device": "cuda"}; strides are
// contiguous where they aren't given, and the device stays as the file names it. null is the type
// of an output that doesn't exist. Nothing where no dtype is given: a shape rule has to say what it
// is.
Result<std::optional<TensorType>> read_joint_type(JsonValue value, const Symbols& symbols);

// The types of a node as the file has them, one an output; nothing where it has none (`val` is
// absent or null), or says nothing of an output's dtype, as of an output that is a size.
using RecordedType = std::optional<TensorType>;
using RecordedTypes = std::optional<std::vector<RecordedType>>;
Result<RecordedTypes> read_joint_types(JsonValue val, const Symbols& symbols);

// {"sym": "2*s5", "type": "SymInt"} as a number, of SymFloat a real one; nothing where it is no
// such object.
Result<std::optional<Argument>> read_joint_number(JsonValue value, const Symbols& symbols);

// What a reference stands for: a node, or the number that a symbolic size is bound to; an invalid
// id where that node is faulty itself and has been complained about.
using FindNode = std::function<Result<Argument>(std::string_view name)>;

// Numbers, strings, null, lists, {"node": name}, {"dtype": …}, {"float": "inf"}, {"device": …},
// {"layout": …}, {"memory_format": …}. `sound` becomes false where a reference is to a faulty node.
Result<Argument> read_joint_argument(JsonValue value, const FindNode& find_node, bool& sound);

}  // namespace recut
