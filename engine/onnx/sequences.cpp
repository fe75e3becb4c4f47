// Sequences and optional values, as lists of the importer: their lengths and positions are known as
// the model is read.
#include <fmt/core.h>

#include "engine/eval/inputs.h"
#include "engine/onnx/expansions.h"

namespace recut::onnx {
namespace {

using Items = std::vector<OnnxValue>;

Items tensors_from(const Expansion& at, std::size_t first) {
  Items items;
  for (std::size_t i = first; i < at.node.inputs(); ++i) items.push_back(at.node.value(i));
  return items;
}

Lowered construct(Expansion& at) { return {sequence_of(tensors_from(at, 0))}; }

Lowered empty_sequence(Expansion&) { return {sequence_of({})}; }

Lowered length(Expansion& at) {
  const auto count = static_cast<std::int64_t>(at.node.sequence(0).size());
  return {Lowering::known_value(integer_tensor(count))};
}

// A position from `-places` to `places - 1`, wrapped; `otherwise` where the input is left out.
std::ptrdiff_t position(const Expansion& at, std::size_t input, std::size_t places,
                        std::size_t otherwise) {
  if (!at.node.has(input)) return static_cast<std::ptrdiff_t>(otherwise);
  const std::int64_t given = at.node.whole(input, "positions");
  const auto count = static_cast<std::int64_t>(places);
  if (given < -count || given >= count)
    at.node.refuse(fmt::format("position {} of {} in a sequence", given, count));
  return static_cast<std::ptrdiff_t>(given < 0 ? given + count : given);
}

Lowered item_at(Expansion& at) {
  const Items& items = at.node.sequence(0);
  if (!at.node.has(1)) at.node.refuse("its position is missing");
  return {items[static_cast<std::size_t>(position(at, 1, items.size(), 0))]};
}

// A copy to change.
Items copied(const Expansion& at) {
  const Items& items = at.node.sequence(0);
  at.importer.charge_nested(static_cast<std::int64_t>(items.size()));
  return items;
}

// Before a position, which may count from the end; at the end without one.
Lowered insert(Expansion& at) {
  Items items = copied(at);
  const std::size_t size = items.size();
  const bool from_end = at.node.has(2) && at.node.whole(2, "positions") < 0;
  const std::ptrdiff_t where = position(at, 2, from_end ? size : size + 1, size);
  items.insert(items.begin() + where, at.node.value(1));
  return {sequence_of(std::move(items))};
}

Lowered erase(Expansion& at) {
  Items items = copied(at);
  if (items.empty()) at.node.refuse("an empty sequence");
  items.erase(items.begin() + position(at, 1, items.size(), items.size() - 1));
  return {sequence_of(std::move(items))};
}

OnnxValue integers(std::vector<std::int64_t> values) {
  return Lowering::known_value(integers_tensor(values));
}

// The sizes of the parts: as given, equal with a smaller last one, or 1 each.
std::vector<std::int64_t> part_sizes(const Expansion& at, std::int64_t whole) {
  const Lowering& node = at.node;
  if (node.has(1) && node.rank(1) > 0) return node.integers(1, "sizes");
  const std::int64_t each = node.has(1) ? node.whole(1, "sizes") : 1;
  if (each < 1) node.refuse(fmt::format("parts of {} elements", each));
  at.importer.charge_nested(whole / each);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(whole / each), each);
  if (whole % each != 0) sizes.push_back(whole % each);
  return sizes;
}

Lowered split(Expansion& at) {
  const Lowering& node = at.node;
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const std::int64_t whole = node.type(0).shape[static_cast<std::size_t>(axis)];
  const bool drop = !node.has(1) && node.integer("keepdims", 1) == 0;
  std::int64_t from = 0;
  Items items;
  for (const std::int64_t size : part_sizes(at, whole)) {
    if (size < 0 || size > whole - from)
      node.refuse(fmt::format("parts that are more than {} elements together", whole));
    OnnxValue part = at.call(
        "Slice", {node.value(0), integers({from}), integers({from + size}), integers({axis})});
    if (drop) part = at.call("Squeeze", {part, integers({axis})});
    items.push_back(std::move(part));
    from += size;
  }
  if (from != whole)
    node.refuse(fmt::format("parts of {} elements together, expected {}", from, whole));
  return {sequence_of(std::move(items))};
}

Lowered concatenate(Expansion& at) {
  const Items& items = at.node.sequence(0);
  const auto* axis = at.node.find("axis");
  if (axis == nullptr) at.node.refuse("its axis is missing");
  if (at.node.integer("new_axis", 0) != 0) return {at.stacked(items, at.node.integer("axis", 0))};
  if (items.empty()) at.node.refuse("an empty sequence");
  return {at.call("Concat", items, {{"axis", at.node.integer("axis", 0)}})};
}

// Runs its body for each item; further sequences give theirs, tensors are the same for all.
Lowered map_items(Expansion& at) {
  const Items& items = at.node.sequence(0);
  std::vector<Items> results(
      at.proto.output_size() > 0 ? static_cast<std::size_t>(at.proto.output_size()) : 0);
  for (std::size_t i = 0; i < items.size(); ++i) {
    Items inputs{items[i]};
    for (std::size_t j = 1; j < at.node.inputs(); ++j) {
      const OnnxValue& more = at.node.any_value(j);
      if (more.items && more.items->size() != items.size())
        at.node.refuse(
            fmt::format("sequences of {} and {} items", items.size(), more.items->size()));
      inputs.push_back(more.items ? (*more.items)[i] : more);
    }
    const Lowered outputs = at.run("body", inputs);
    if (outputs.size() < results.size()) at.node.refuse("a body with fewer outputs than the node");
    for (std::size_t k = 0; k < results.size(); ++k) results[k].push_back(outputs[k]);
  }
  Lowered sequences;
  for (Items& result : results) sequences.push_back(sequence_of(std::move(result)));
  return sequences;
}

// An optional value is the value, or one that is left out.
Lowered optional(Expansion& at) {
  return {at.node.has_any(0) ? at.node.any_value(0) : OnnxValue()};
}

Lowered element(Expansion& at) { return {at.node.any_value(0)}; }

Lowered has_element(Expansion& at) {
  Tensor tensor = allocate(make_type(DType::boolean, {}), nullptr);
  pack(Integers({}, at.node.has_any(0) ? 1 : 0), tensor);
  return {Lowering::known_value(std::move(tensor))};
}

}  // namespace

OnnxValue sequence_of(std::vector<OnnxValue> items) {
  OnnxValue value;
  value.items = std::make_shared<const std::vector<OnnxValue>>(std::move(items));
  return value;
}

std::vector<OperatorExpansion> sequence_expansions() {
  return {
      {"SequenceConstruct", construct}, {"SequenceEmpty", empty_sequence},
      {"SequenceLength", length},       {"SequenceAt", item_at},
      {"SequenceInsert", insert},       {"SequenceErase", erase},
      {"SplitToSequence", split},       {"ConcatFromSequence", concatenate},
      {"SequenceMap", map_items},       {"Optional", optional},
      {"OptionalGetElement", element},  {"OptionalHasElement", has_element},
  };
}

}  // namespace recut::onnx
