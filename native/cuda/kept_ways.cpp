#include "native/cuda/kept_ways.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "native/cache/bytes.h"

namespace recut::cuda {
namespace {

constexpr std::string_view kKind = "ways";

struct Fields {
  template <class Bytes>
  static void of(Bytes& bytes, MeasuredWay& measured) {
    auto& [way, workspace_bytes, seconds, avoided] = measured;
    bytes(way, workspace_bytes, seconds, avoided);
  }
};

}  // namespace

KeptWays::KeptWays(cache::Store store, const Card& card)
    : store_(std::move(store)),
      target_(fmt::format("{}, driver {}", card.name(), card.driver_version())) {}

cache::Digest KeptWays::key_of(const std::string& words) const {
  return cache::digest_of({kKind, store_.build(), target_, words});
}

std::optional<KeptWays::Ways> KeptWays::find(const std::string& words) {
  const auto found = store_.find(kKind, key_of(words));
  if (!found) {
    const Diagnostic& fault = found.diagnostics().front();
    notes_.push_back(fault.file + " isn't used: " + fault.message);
    return std::nullopt;
  }
  if (!found->has_value()) return std::nullopt;
  Ways ways;
  cache::ByteReader<Fields> reader(**found);
  reader(ways);
  if (!reader.done()) return std::nullopt;
  return ways;
}

void KeptWays::keep(const std::string& words, Ways ways) {
  cache::ByteWriter<Fields> writer;
  writer(ways);
  const nlohmann::ordered_json description = {{"kind", "ways of a library's calls"},
                                              {"device", "cuda"},
                                              {"target", target_},
                                              {"bytes", writer.bytes().size()}};
  const auto done = store_.keep(kKind, key_of(words), writer.bytes(), description.dump(2) + "\n");
  if (done || !notes_.empty()) return;
  const Diagnostic& fault = done.diagnostics().front();
  notes_.push_back("nothing is kept in the cache: " +
                   (fault.file.empty() ? "" : fault.file + ": ") + fault.message);
}

}  // namespace recut::cuda
