// The members of a snapshot's dicts: known keys by number, checked values, and the first fault.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/pickle.h"

namespace recut {

// The keys that the reader looks at, in the order of the alphabet.
enum class SnapshotKey : std::uint8_t {
  action,
  addr,
  address,
  blocks,
  compile_context,
  device,
  device_free,
  device_traces,
  external_annotations,
  filename,
  frames,
  fx_node_name,
  host_traces,
  is_expandable,
  line,
  name,
  requested_size,
  segments,
  size,
  stage,
  state,
  stream,
  time_us,
  total_size,
};
inline constexpr std::size_t kSnapshotKeys = static_cast<std::size_t>(SnapshotKey::total_size) + 1;
std::string_view name_of(SnapshotKey key);

// The known members of one dict. Of members with one key the last counts.
struct SnapshotMembers {
  std::uint32_t present = 0;
  std::array<PickleValue, kSnapshotKeys> values;

  // The value of a key; null if the dict lacks it.
  const PickleValue* find(SnapshotKey key) const {
    const auto at = static_cast<std::size_t>(key);
    return (present >> at & 1) != 0 ? &values[at] : nullptr;
  }
};
static_assert(kSnapshotKeys <= 32, "members are marked in 32 bits");

// `where` names the dict in messages: "device_traces[0][12]". After a fault values are 0.
class SnapshotFields {
 protected:
  explicit SnapshotFields(const PickleDocument& pickle)
      : pickle_(pickle), keys_(pickle.texts(), kUnknownKey) {}

  bool failed() const { return !fault_.empty(); }
  const std::string& fault() const { return fault_; }
  // Keeps the first.
  void fail(std::string message);

  SnapshotMembers members_of(PickleValue dict);

  // True if an entry of a list is a dict. Fails where the file repeats entries.
  bool is_entry(PickleValue value, const std::string& where);

  // Calls visit(value, index) for each item while there is no fault.
  template <class Visit>
  void each_entry(PickleValue list, const std::string& where, Visit visit) {
    if (!list.is(PickleKind::list) && !list.is(PickleKind::tuple)) return no_list(list, where);
    std::size_t index = 0;
    pickle_.each_item(list, [&](PickleValue value) {
      if (!failed()) visit(value, index++);
    });
  }

  std::string wrong(const std::string& where, SnapshotKey key, const PickleValue* value,
                    std::string_view expected) const;
  // An address or a stream's handle: 64 bits, with or without a sign.
  std::uint64_t handle(const SnapshotMembers& members, SnapshotKey key, const std::string& where,
                       bool required);
  std::int64_t number(const SnapshotMembers& members, SnapshotKey key, const std::string& where,
                      bool required);
  // A number of bytes, from 0 to 2^50.
  std::int64_t byte_count(const SnapshotMembers& members, SnapshotKey key, const std::string& where,
                          bool required);

  const PickleDocument& pickle_;

 private:
  static constexpr std::uint8_t kUnknownKey = 0xff, kForeignKey = 0xfe;
  std::uint8_t key_of(PickleValue key);
  void no_list(PickleValue value, const std::string& where);

  std::string fault_;
  std::size_t visited_ = 0;         // dicts and their pairs
  std::vector<std::uint8_t> keys_;  // by text of the pickle
};

}  // namespace recut
