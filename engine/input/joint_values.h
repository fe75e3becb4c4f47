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

// {"dtype": "float32", "shape": [4, "2*s5"], "stride": ["2*s5", 1], "device": "cuda"}. Strides
// default to contiguous, and the device stays as the file names it. null is the type of an absent
// output. None if no dtype is given: the shape rule then infers the type.
Result<std::optional<TensorType>> read_joint_type(JsonValue value, const Symbols& symbols);

// The recorded types of a node, one for each output. None if the file has no `val`; an output
// without a dtype, as a symbolic size, has none either.
using RecordedType = std::optional<TensorType>;
using RecordedTypes = std::optional<std::vector<RecordedType>>;
Result<RecordedTypes> read_joint_types(JsonValue val, const Symbols& symbols);

// The device that most of the types name, of equals the first by name. Those types name none after.
std::string take_common_device(std::vector<RecordedTypes>& nodes);

// Types that name this device name none after.
void drop_device(std::string_view device, std::vector<RecordedTypes>& nodes);

// Reads {"sym": "2*s5", "type": "SymInt"} as an integer, and SymFloat as a real number; none for
// any other value.
Result<std::optional<Argument>> read_joint_number(JsonValue value, const Symbols& symbols);

// The numbers of "inf", "-inf" and "nan"; none for another text.
std::optional<double> special_real(std::string_view name);

// Resolves a reference to a node, or to the number that a symbolic size is bound to. Gives an
// invalid id for a faulty node, which was reported before.
using FindNode = std::function<Result<Argument>(std::string_view name)>;

// Numbers, strings, null, lists, {"node": name}, {"dtype": …}, {"float": "inf"}, {"device": …},
// {"layout": …}, {"memory_format": …}. `sound` becomes false if a reference is to a faulty node.
Result<Argument> read_joint_argument(JsonValue value, const FindNode& find_node, bool& sound);

}  // namespace recut
