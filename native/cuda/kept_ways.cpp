#include "native/cuda/kept_ways.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "native/cache/bytes.h"

namespace recut::cuda {
namespace {

constexpr std::string_view kKind = "ways";
constexpr std::size_t kMostKernels = 4096;  // about 1 MB

}  // namespace

struct KeptWays::Fields {
  template <class Bytes>
  static void of(Bytes& bytes, MeasuredWay& measured) {
    auto& [way, workspace_bytes, seconds, avoided] = measured;
    bytes(way, workspace_bytes, seconds, avoided);
  }
  template <class Bytes>
  static void of(Bytes& bytes, Known& known) {
    for (std::uint8_t& byte : known.words.bytes) bytes(byte);
    bytes(known.ways);
  }
};

KeptWays::KeptWays(cache::Store store, const Card& card)
    : store_(std::move(store)),
      target_(fmt::format("{}, driver {}", card.name(), card.driver_version())),
      key_(cache::digest_of({kKind, store_.build(), target_})) {}

void KeptWays::read() {
  if (was_read_) return;
  was_read_ = true;
  const auto found = store_.find(kKind, key_);
  if (!found) return;
  cache::ByteReader<Fields> reader(*found);
  reader(known_);
  if (!reader.done()) known_.clear();
}

std::vector<KeptWays::Known>::iterator KeptWays::place_of(const cache::Digest& words) {
  return std::find_if(known_.begin(), known_.end(),
                      [&](const Known& known) { return known.words == words; });
}

std::optional<KeptWays::Ways> KeptWays::find(const std::string& words) {
  read();
  const auto place = place_of(cache::digest_of({words}));
  if (place == known_.end()) return std::nullopt;
  return place->ways;
}

void KeptWays::add(const std::string& words, Ways ways) {
  read();
  const cache::Digest digest = cache::digest_of({words});
  if (const auto place = place_of(digest); place != known_.end()) known_.erase(place);
  known_.push_back({digest, std::move(ways)});
  if (known_.size() > kMostKernels) known_.erase(known_.begin());
}

void KeptWays::write() {
  cache::ByteWriter<Fields> writer;
  writer(known_);
  const nlohmann::ordered_json description = {{"kind", "ways of libraries' calls"},
                                              {"device", "cuda"},
                                              {"target", target_},
                                              {"kernels", known_.size()},
                                              {"bytes", writer.bytes().size()}};
  store_.keep(kKind, key_, writer.bytes(), description.dump(2) + "\n");
}

}  // namespace recut::cuda
