#include "engine/input/snapshot_fields.h"

#include <fmt/core.h>

#include <algorithm>

namespace recut {
namespace {

constexpr std::int64_t kMaxSnapshotBytes = std::int64_t{1} << 50;  // of one block or segment

constexpr std::string_view kSnapshotKeyNames[] = {
    "action",
    "addr",
    "address",
    "blocks",
    "compile_context",
    "device",
    "device_free",
    "device_traces",
    "external_annotations",
    "filename",
    "frames",
    "fx_node_name",
    "host_traces",
    "is_expandable",
    "line",
    "name",
    "requested_size",
    "segments",
    "size",
    "stage",
    "state",
    "stream",
    "time_us",
    "total_size",
};
static_assert(std::size(kSnapshotKeyNames) == kSnapshotKeys);

}  // namespace

std::string_view name_of(SnapshotKey key) {
  return kSnapshotKeyNames[static_cast<std::size_t>(key)];
}

void SnapshotFields::fail(std::string message) {
  if (fault_.empty()) fault_ = std::move(message);
}

void SnapshotFields::no_list(PickleValue value, const std::string& where) {
  fail(fmt::format("{} is {}, expected a list", where, describe(value.kind)));
}

// Keys are compared once for each text of the file.
std::uint8_t SnapshotFields::key_of(PickleValue key) {
  if (!key.is(PickleKind::text)) return kForeignKey;
  std::uint8_t& known = keys_[key.index()];
  if (known != kUnknownKey) return known;
  const auto* const begin = std::begin(kSnapshotKeyNames);
  const auto* const end = std::end(kSnapshotKeyNames);
  const auto* const found = std::find(begin, end, pickle_.text(key));
  known = found == end ? kForeignKey : static_cast<std::uint8_t>(found - begin);
  return known;
}

SnapshotMembers SnapshotFields::members_of(PickleValue dict) {
  SnapshotMembers members;
  pickle_.each_pair(dict, [&](PickleValue key, PickleValue value) {
    const std::uint8_t at = key_of(key);
    if (at == kForeignKey) return;
    members.present |= std::uint32_t{1} << at;
    members.values[at] = value;
  });
  return members;
}

bool SnapshotFields::is_entry(PickleValue value, const std::string& where) {
  if (!value.is(PickleKind::dict)) {
    fail(fmt::format("{} is {}, expected a dict", where, describe(value.kind)));
    return false;
  }
  visited_ += 1 + pickle_.size(value);
  if (visited_ > pickle_.containers() + pickle_.values()) {
    fail("lists of events or blocks are shared in the pickle, expected each to be there once");
    return false;
  }
  return true;
}

std::string SnapshotFields::wrong(const std::string& where, SnapshotKey key,
                                  const PickleValue* value, std::string_view expected) const {
  return fmt::format("{}: '{}' is {}, expected {}", where, name_of(key),
                     value == nullptr ? "missing" : describe(value->kind), expected);
}

std::uint64_t SnapshotFields::handle(const SnapshotMembers& members, SnapshotKey key,
                                     const std::string& where, bool required) {
  const PickleValue* value = members.find(key);
  if (value == nullptr && !required) return 0;
  if (value == nullptr ||
      !(value->is(PickleKind::integer) || value->is(PickleKind::unsigned_integer))) {
    fail(wrong(where, key, value, "an integer"));
    return 0;
  }
  return value->bits;
}

std::int64_t SnapshotFields::number(const SnapshotMembers& members, SnapshotKey key,
                                    const std::string& where, bool required) {
  const PickleValue* value = members.find(key);
  if (value == nullptr && !required) return 0;
  if (value == nullptr || !(value->is(PickleKind::integer) || value->is(PickleKind::boolean))) {
    fail(wrong(where, key, value, "an integer"));
    return 0;
  }
  return value->integer();
}

std::int64_t SnapshotFields::byte_count(const SnapshotMembers& members, SnapshotKey key,
                                        const std::string& where, bool required) {
  const std::int64_t bytes = number(members, key, where, required);
  if (bytes >= 0 && bytes <= kMaxSnapshotBytes) return bytes;
  fail(fmt::format("{}: '{}' is {}, expected bytes from 0 to {}", where, name_of(key), bytes,
                   kMaxSnapshotBytes));
  return 0;
}

}  // namespace recut
