#include "native/cuda/algorithm_cache.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "native/cache/bytes.h"

namespace recut::cuda {
namespace {

constexpr std::string_view kKind = "ways";
constexpr std::size_t kMaxCachedKernels = 4096;  // about 1 MB

}  // namespace

struct AlgorithmCache::Fields {
  template <class Bytes>
  static void of(Bytes& bytes, MeasuredAlgorithm& measured) {
    auto& [algorithm, workspace_bytes, seconds, avoided] = measured;
    bytes(algorithm, workspace_bytes, seconds, avoided);
  }
  template <class Bytes>
  static void of(Bytes& bytes, CachedKernel& known) {
    for (std::uint8_t& byte : known.key.bytes) bytes(byte);
    bytes(known.algorithms);
  }
};

AlgorithmCache::AlgorithmCache(cache::Store store, const Gpu& gpu)
    : store_(std::move(store)),
      target_(fmt::format("{}, driver {}", gpu.name(), gpu.driver_version())),
      key_(cache::digest_of({kKind, store_.build(), target_})) {}

void AlgorithmCache::read() {
  if (was_read_) return;
  was_read_ = true;
  const auto found = store_.find(kKind, key_);
  if (!found) return;
  cache::ByteReader<Fields> reader(*found);
  reader(cached_);
  if (!reader.done()) cached_.clear();
}

std::vector<AlgorithmCache::CachedKernel>::iterator AlgorithmCache::entry_of(
    const cache::Digest& key) {
  return std::find_if(cached_.begin(), cached_.end(),
                      [&](const CachedKernel& known) { return known.key == key; });
}

std::optional<AlgorithmCache::KernelAlgorithms> AlgorithmCache::find(const std::string& key) {
  read();
  const auto entry = entry_of(cache::digest_of({key}));
  if (entry == cached_.end()) return std::nullopt;
  return entry->algorithms;
}

void AlgorithmCache::add(const std::string& key, KernelAlgorithms algorithms) {
  read();
  const cache::Digest digest = cache::digest_of({key});
  if (const auto entry = entry_of(digest); entry != cached_.end()) cached_.erase(entry);
  cached_.push_back({digest, std::move(algorithms)});
  if (cached_.size() > kMaxCachedKernels) cached_.erase(cached_.begin());
}

void AlgorithmCache::write() {
  cache::ByteWriter<Fields> writer;
  writer(cached_);
  const nlohmann::ordered_json description = {{"kind", "ways of libraries' calls"},
                                              {"device", "cuda"},
                                              {"target", target_},
                                              {"kernels", cached_.size()},
                                              {"bytes", writer.bytes().size()}};
  store_.keep(kKind, key_, writer.bytes(), description.dump(2) + "\n");
}

}  // namespace recut::cuda
