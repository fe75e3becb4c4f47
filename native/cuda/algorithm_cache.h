// A persistent cache of autotuning results for library calls (native/cache/store.h): a call whose
// algorithms were measured once is not measured again. One entry holds the latest kernels of one
// GPU and driver version. Like Inductor's autotune cache and cuDNN's plan cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "native/cache/tolerant_store.h"
#include "native/cuda/gpu.h"

namespace recut::cuda {

struct MeasuredAlgorithm {
  std::size_t algorithm = 0;
  std::int64_t workspace_bytes = 0;
  double seconds = 0;
  bool avoided = false;  // since it gives other bits each time
};

class AlgorithmCache {
 public:
  // The algorithms of each call of one kernel, in the order of preference.
  using KernelAlgorithms = std::vector<std::vector<MeasuredAlgorithm>>;

  AlgorithmCache(cache::Store store, const Gpu& gpu);

  // The measurements kept under this key. The key covers all their inputs but the GPU, its driver
  // and this build.
  std::optional<KernelAlgorithms> find(const std::string& key);
  // Replaces the entry under the key.
  void add(const std::string& key, KernelAlgorithms algorithms);
  // Writes the additions for later runs. Of two programs that write at once, one's additions are
  // lost and measured again.
  void write();

  // Entries that couldn't be used or kept, and why: they cost time and nothing else.
  const std::vector<std::string>& notes() const { return store_.notes(); }

 private:
  struct CachedKernel {
    cache::Digest key;
    KernelAlgorithms algorithms;
  };
  struct Fields;

  void read();
  std::vector<CachedKernel>::iterator entry_of(const cache::Digest& key);

  cache::TolerantStore store_;
  std::string target_;
  cache::Digest key_;
  bool was_read_ = false;
  std::vector<CachedKernel> cached_;  // the latest last
};

}  // namespace recut::cuda
