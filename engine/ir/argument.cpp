#include "engine/ir/argument.h"

#include "engine/support/bits.h"
#include "engine/support/hash.h"

namespace recut {

bool operator==(const Argument& a, const Argument& b) {
  if (a.value.index() != b.value.index()) return false;
  if (const auto* x = a.get<double>())
    return bit_cast<std::uint64_t>(*x) == bit_cast<std::uint64_t>(*b.get<double>());
  return a.value == b.value;
}

namespace {

struct Hasher {
  std::uint64_t seed;

  std::uint64_t operator()(Absent) const { return hash_mix(seed, 1); }
  std::uint64_t operator()(None) const { return hash_mix(seed, 2); }
  std::uint64_t operator()(NodeId id) const { return hash_mix(seed, id.index); }
  std::uint64_t operator()(bool b) const { return hash_mix(seed, b ? 4 : 3); }
  std::uint64_t operator()(std::int64_t i) const {
    return hash_mix(seed, static_cast<std::uint64_t>(i));
  }
  std::uint64_t operator()(double d) const { return hash_mix(seed, bit_cast<std::uint64_t>(d)); }
  std::uint64_t operator()(DType d) const { return hash_mix(seed, static_cast<std::uint64_t>(d)); }
  std::uint64_t operator()(const std::string& s) const { return hash_text(seed, s); }
  std::uint64_t operator()(const ArgumentList& list) const {
    std::uint64_t h = hash_mix(seed, list.size());
    for (const Argument& item : list) h = hash(item, h);
    return h;
  }
};

}  // namespace

std::uint64_t hash(const Argument& argument, std::uint64_t seed) {
  return std::visit(Hasher{hash_mix(seed, argument.value.index())}, argument.value);
}

}  // namespace recut
