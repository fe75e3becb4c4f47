// Bytes alive at each step of a sequence.
#include "engine/partition/liveness/liveness.h"

#include <catch2/catch_test_macros.hpp>

namespace recut {
namespace {

TEST_CASE("what is alive at each step, and the first peak") {
  const Lifetime lifetimes[] = {{10, 0, 1}, {5, 1, 3}, {7, 2, 2}, {3, 3, 99}};
  const Liveness liveness = measure_liveness(lifetimes, 4);
  CHECK(liveness.live_bytes == std::vector<std::int64_t>{10, 15, 12, 8});
  CHECK(liveness.peak_bytes == 15);
  CHECK(liveness.peak_step == 1);
}

TEST_CASE("of equal peaks the first counts; without steps there is none") {
  const Lifetime lifetimes[] = {{4, 0, 0}, {4, 2, 2}};
  CHECK(measure_liveness(lifetimes, 3).peak_step == 0);
  CHECK(measure_liveness(lifetimes, 3).peak_bytes == 4);
  CHECK(measure_liveness({}, 0).peak_bytes == 0);
  CHECK(measure_liveness({}, 0).live_bytes.empty());
}

}  // namespace
}  // namespace recut
