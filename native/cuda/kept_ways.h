// What was measured of libraries' calls on a card, kept between runs (native/cache/store.h): a call
// whose ways were measured there once is not measured again. All of one card and its driver are one
// entry, of which the latest calls stay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "native/cache/tolerant_store.h"
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
  // Takes the place of what is there under them.
  void add(const std::string& words, Ways ways);
  // Keeps what was added for later runs. Of two programs that do so at once, one's additions are
  // measured again.
  void write();

  // What couldn't be used or kept, and why: it cost time and nothing else.
  const std::vector<std::string>& notes() const { return store_.notes(); }

 private:
  struct Known {
    cache::Digest words;
    Ways ways;
  };
  struct Fields;

  void read();
  std::vector<Known>::iterator place_of(const cache::Digest& words);

  cache::TolerantStore store_;
  std::string target_;
  cache::Digest key_;
  bool was_read_ = false;
  std::vector<Known> known_;  // the latest last
};

}  // namespace recut::cuda
