// What was measured of libraries' calls on a card, kept between runs (native/cache/store.h): a call
// whose ways were measured there once is not measured again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "native/cache/store.h"
#include "native/cuda/card.h"

namespace recut::cuda {

struct MeasuredWay {
  std::size_t way = 0;
  std::int64_t workspace_bytes = 0;
  double seconds = 0;
  bool avoided = false;  // for it gives other bits each time
};

class KeptWays {
 public:
  // Of one kernel's calls, each in the order of preference.
  using Ways = std::vector<std::vector<MeasuredWay>>;

  KeptWays(cache::Store store, const Card& card);

  // What was kept under these words, which say all that ways depend on but the card, its driver and
  // this build.
  std::optional<Ways> find(const std::string& words);
  void keep(const std::string& words, Ways ways);

  // What couldn't be used or kept, and why: it cost time and nothing else.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  cache::Digest key_of(const std::string& words) const;

  cache::Store store_;
  std::string target_;
  std::vector<std::string> notes_;
};

}  // namespace recut::cuda
