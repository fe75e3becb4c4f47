// Readers of `val` (types) and of arguments in fx-joint-graph JSON (joint_values.h). Sizes and
// strides are bounded here, against kMaxBytes, so that later arithmetic on them can't overflow.
#include "engine/input/joint_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::size_t kJointValuesMaxRank = 64;  // PyTorch's own

Diagnostic unexpected(std::string_view what, JsonValue found, std::string_view expected) {
  return error(fmt::format("{} is {}, expected {}", what, describe(found.kind()), expected));
}

// Dtypes that Recut does not support are reported by name.
Result<DType> read_dtype(JsonValue value) {
  if (!value.is(JsonKind::text)) return unexpected("a dtype", value, "a name like 'float32'");
  const auto dtype = dtype_from_torch_name(value.text());
  if (dtype && *dtype != DType::none) return *dtype;
  return error(fmt::format("dtype {} is none that Recut knows", quote(value.text())));
}

Result<std::vector<std::int64_t>> read_sizes(std::string_view what, JsonValue value,
                                             const Symbols& symbols) {
  if (!value.is(JsonKind::array)) return unexpected(what, value, "a list of ints");
  if (value.size() > kJointValuesMaxRank)
    return error(fmt::format("{} has {} dimensions, expected no more than {}", what, value.size(),
                             kJointValuesMaxRank));
  std::vector<std::int64_t> sizes;
  for (const JsonMember item : value.items()) {
    if (item.value.is(JsonKind::text)) {
      const auto size = symbols.size_of(item.value.text());
      if (!size) return size.diagnostics();
      sizes.push_back(*size);
      continue;
    }
    if (!item.value.is(JsonKind::integer))
      return unexpected(fmt::format("an item of {}", what), item.value, "an int");
    sizes.push_back(item.value.integer());
  }
  return sizes;
}

Result<Strides> read_strides(JsonValue value, const Shape& shape, const Symbols& symbols) {
  auto strides = read_sizes("'stride'", value, symbols);
  if (!strides) return strides;
  if (strides->size() != shape.size())
    return error(fmt::format("{} strides for {} dimensions", strides->size(), shape.size()));
  std::int64_t span = 0;  // elements from the first to the last
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t stride = (*strides)[i];
    const std::int64_t steps = shape[i] > 1 ? shape[i] - 1 : 1;
    if (stride < 0 || stride > (kMaxBytes - span) / steps)
      return error(fmt::format("stride {} is out of range", stride));
    span += stride * steps;
  }
  return strides;
}

// "cuda:0": limited to characters that the text form needs no escapes for.
Result<std::string> read_device(JsonValue value) {
  if (!value.is(JsonKind::text)) return unexpected("'device'", value, "a name like 'cuda'");
  const std::string_view name = value.text();
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_';
  });
  if (plain && name.size() <= 32) return std::string(name);
  return error(fmt::format("device {} is no name of a device", quote(name)));
}

struct TypeMembers {
  JsonValue dtype, shape, stride, device;
};

Result<TypeMembers> type_members(JsonValue value) {
  TypeMembers members;
  for (const JsonMember member : value.items()) {
    if (member.key == "dtype" && !member.value.is(JsonKind::null)) members.dtype = member.value;
    if (member.key == "shape") members.shape = member.value;
    if (member.key == "stride") members.stride = member.value;
    if (member.key == "device") members.device = member.value;
  }
  if (members.dtype.present() && !members.shape.present()) return error("'val' has no 'shape'");
  return members;
}

// Reads {"tag": "text"} by its tag.
Result<Argument> read_tagged(std::string_view tag, JsonValue value, const FindNode& find_node,
                             bool& sound) {
  if (tag == "slice") return error("a slice is an argument that Recut doesn't read");
  if (tag == "complex")
    return error("a complex number found, expected another value in this place");
  if (!value.is(JsonKind::text))
    return unexpected(fmt::format("the {} of an argument", quote(tag)), value, "a string");
  const std::string_view text = value.text();
  if (tag == "node") {
    auto found = find_node(text);
    if (!found) return found;
    if (const auto* node = found->get<NodeId>()) sound = sound && node->valid();
    return found;
  }
  if (tag == "dtype") {
    const auto dtype = read_dtype(value);
    if (!dtype) return dtype.diagnostics();
    return Argument(*dtype);
  }
  if (tag == "float") {
    if (const auto real = special_real(text)) return Argument(*real);
    return error(fmt::format("float {} found, expected 'inf', '-inf' or 'nan'", quote(text)));
  }
  if (tag == "device" || tag == "layout" || tag == "memory_format")
    return Argument(std::string(text));
  return error(fmt::format("an argument of unknown kind {}", quote(tag)));
}

Result<Argument> read_list(JsonValue value, const FindNode& find_node, bool& sound) {
  ArgumentList list;
  list.reserve(value.size());
  for (const JsonMember item : value.items()) {
    auto argument = read_joint_argument(item.value, find_node, sound);
    if (!argument) return argument;
    list.push_back(std::move(*argument));
  }
  return Argument(std::move(list));
}

template <class See>
void visit_types(std::vector<RecordedTypes>& nodes, const See& see) {
  for (RecordedTypes& types : nodes)
    if (types)
      for (RecordedType& type : *types)
        if (type) see(*type);
}

}  // namespace

std::optional<double> special_real(std::string_view name) {
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "-inf") return -std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

Result<std::optional<Argument>> read_joint_number(JsonValue value, const Symbols& symbols) {
  if (!value.is(JsonKind::object)) return std::optional<Argument>();
  JsonValue expression;
  bool real = false, plain = false;
  for (const JsonMember member : value.items()) {
    if (member.key == "sym" || member.key == "scalar") expression = member.value;
    plain = plain || member.key == "scalar";
    if (member.key == "type")
      real = member.value.is(JsonKind::text) && member.value.text() == "SymFloat";
  }
  if (!expression.present()) return std::optional<Argument>();
  if (plain && expression.is(JsonKind::integer))
    return std::optional(Argument(expression.integer()));
  if (plain && expression.is(JsonKind::real)) return std::optional(Argument(expression.real()));
  if (!expression.is(JsonKind::text)) return unexpected("'sym'", expression, "an expression");
  if (!real) {
    const auto size = symbols.size_of(expression.text());
    if (!size) return size.diagnostics();
    return std::optional(Argument(*size));
  }
  const auto number = symbols.number_of(expression.text());
  if (!number) return number.diagnostics();
  return std::optional(
      std::visit([](auto known) { return Argument(static_cast<double>(known)); }, *number));
}

Result<std::optional<TensorType>> read_joint_type(JsonValue value, const Symbols& symbols) {
  if (value.is(JsonKind::null)) return std::optional(TensorType{});
  if (!value.is(JsonKind::object)) return unexpected("'val'", value, "an object or null");
  const auto members = type_members(value);
  if (!members) return members.diagnostics();
  if (!members->dtype.present()) return std::optional<TensorType>();
  const auto dtype = read_dtype(members->dtype);
  if (!dtype) return dtype.diagnostics();
  auto shape = read_sizes("'shape'", members->shape, symbols);
  if (!shape) return shape.diagnostics();
  TensorType type{*dtype, std::move(*shape), {}, {}};
  if (const auto sound = check_size(type); !sound) return sound.diagnostics();
  if (members->stride.present()) {
    auto strides = read_strides(members->stride, type.shape, symbols);
    if (!strides) return strides.diagnostics();
    type.strides = std::move(*strides);
  } else {
    type.strides = contiguous_strides(type.shape);
  }
  if (members->device.present()) {
    auto device = read_device(members->device);
    if (!device) return device.diagnostics();
    type.device = std::move(*device);
  }
  return std::optional(std::move(type));
}

Result<RecordedTypes> read_joint_types(JsonValue val, const Symbols& symbols) {
  if (!val.present() || val.is(JsonKind::null)) return RecordedTypes();
  std::vector<RecordedType> types;
  if (!val.is(JsonKind::array)) {
    auto type = read_joint_type(val, symbols);
    if (!type) return type.diagnostics();
    types.push_back(std::move(*type));
    return RecordedTypes(std::move(types));
  }
  for (const JsonMember item : val.items()) {
    const auto number = read_joint_number(item.value, symbols);
    if (!number) return number.diagnostics();
    if (*number || item.value.is(JsonKind::integer) || item.value.is(JsonKind::text)) {
      types.emplace_back();
      continue;
    }
    auto type = read_joint_type(item.value, symbols);
    if (!type) return type.diagnostics();
    types.push_back(std::move(*type));
  }
  return RecordedTypes(std::move(types));
}

std::string take_common_device(std::vector<RecordedTypes>& nodes) {
  std::map<std::string, std::size_t> uses;
  std::string chosen;
  visit_types(nodes, [&](const TensorType& type) {
    if (type.exists()) ++uses[type.device];
  });
  std::size_t most = 0;
  for (const auto& [device, count] : uses)
    if (count > most) most = count, chosen = device;
  drop_device(chosen, nodes);
  return chosen;
}

void drop_device(std::string_view device, std::vector<RecordedTypes>& nodes) {
  visit_types(nodes, [&](TensorType& type) {
    if (type.device == device) type.device.clear();
  });
}

Result<Argument> read_joint_argument(JsonValue value, const FindNode& find_node, bool& sound) {
  switch (value.kind()) {
    case JsonKind::null:
      return Argument(None{});
    case JsonKind::boolean:
      return Argument(value.boolean());
    case JsonKind::integer:
      return Argument(value.integer());
    case JsonKind::real:
      return Argument(value.real());
    case JsonKind::text:
      return Argument(std::string(value.text()));
    case JsonKind::big_integer:
      return error("an int that doesn't fit into 64 bits");
    case JsonKind::array:
      return read_list(value, find_node, sound);
    case JsonKind::object:
      break;
  }
  if (value.size() != 1)
    return error(
        fmt::format("an object of {} members, expected one like {{\"node\": name}}", value.size()));
  const JsonMember member = *value.items().begin();
  return read_tagged(member.key, member.value, find_node, sound);
}

}  // namespace recut
