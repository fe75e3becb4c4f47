#include "engine/codegen/lower/structural_key.h"

#include <cstring>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "engine/codegen/lower/lowering.h"
#include "engine/codegen/lower/nests/pooling.h"

namespace recut::loop {
namespace {

// The tag before each node in the key.
enum class StructurePart : std::int64_t {
  known,  // back reference by number
  call,   // a call of the kernel's own
  view,   // of the node that follows
  memory  // only its layout matters
};

class Writer {
 public:
  Writer(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
         std::vector<NodeId> calls)
      : graph_(graph), storages_(storages), groups_(groups), calls_(std::move(calls)) {
    members_.insert(calls_.begin(), calls_.end());
  }

  StructuralKey run() {
    for (const NodeId id : calls_) describe(id);
    return std::move(structural_key_);
  }

 private:
  void describe(NodeId id) {
    const auto next = static_cast<std::int64_t>(structural_key_.nodes.size());
    const auto [at, added] = numbers_.emplace(id, next);
    if (!added) return put(StructurePart::known, at->second);
    structural_key_.nodes.push_back(id);
    const Node& node = graph_[id];
    const bool member = members_.count(id) != 0;
    const bool view = graph_.op(id).is(kView);
    put(member ? StructurePart::call : view ? StructurePart::view : StructurePart::memory);
    for (const TensorType& type : node.outputs) put(type);
    put(std::int64_t{-1});
    if (!member && !view) return put_gaps(id);
    put(node.op);
    for (const Argument& argument : node.arguments) put(argument);
    if (!member) return;
    put(std::int64_t{names_own_windows(graph_, id)});
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      put(std::int64_t{is_materialized(storages_, groups_, calls_.back(), {id, i})});
  }

  // Only an input may have strides with gaps (storage_view.h).
  void put_gaps(NodeId id) {
    for (const TensorType& type : graph_[id].outputs)
      if (type.exists() && !is_dense(type)) return put(std::int64_t{graph_.op(id).is(kInput)});
  }

  void put(std::int64_t number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    structural_key_.key.append(bytes, sizeof bytes);
  }
  template <class Enum, class = std::enable_if_t<std::is_enum_v<Enum>>>
  void put(Enum word) {
    put(static_cast<std::int64_t>(word));
  }
  void put(StructurePart part, std::int64_t number) {
    put(part);
    put(number);
  }
  void put(double number) {
    std::int64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    put(bits);
  }
  void put(const std::string& text) {
    put(static_cast<std::int64_t>(text.size()));
    structural_key_.key += text;
  }
  void put(const std::vector<std::int64_t>& numbers) {
    put(static_cast<std::int64_t>(numbers.size()));
    for (const std::int64_t number : numbers) put(number);
  }
  void put(const TensorType& type) {
    put(type.dtype);
    put(type.shape);
    put(type.strides);
  }

  void put(const Argument& argument) {
    put(static_cast<std::int64_t>(argument.value.index()));
    std::visit([&](const auto& value) { put_value(value); }, argument.value);
  }
  void put_value(Absent) {}
  void put_value(None) {}
  void put_value(NodeId id) { describe(id); }
  void put_value(const ArgumentList& list) {
    put(static_cast<std::int64_t>(list.size()));
    for (const Argument& item : list) put(item);
  }
  void put_value(bool value) { put(std::int64_t{value}); }
  template <class Value>
  void put_value(const Value& value) {
    put(value);
  }

  const Graph& graph_;
  const StorageModel& storages_;
  const FusionGroups& groups_;
  const std::vector<NodeId> calls_;
  std::set<NodeId> members_;
  std::map<NodeId, std::int64_t> numbers_;
  StructuralKey structural_key_;
};

}  // namespace

StructuralKey structural_key_of(const Graph& graph, const StorageModel& storages,
                                const FusionGroups& groups, std::span<const NodeId> calls) {
  return Writer(graph, storages, groups, computed_calls(graph, calls)).run();
}

}  // namespace recut::loop
