#include "engine/schedule/free_span.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "engine/schedule/make_schedule.h"
#include "tests/random/random_graph.h"
#include "tests/schedule/planned.h"

namespace recut {
namespace {

// Byte by byte.
ArenaSpan largest_free(const Schedule& schedule, std::uint32_t kernel) {
  std::int64_t top = 0;
  for (const Buffer& buffer : schedule.buffers) top = std::max(top, buffer.offset + buffer.bytes);
  std::vector<char> taken(static_cast<std::size_t>(top));
  for (const Buffer& buffer : schedule.buffers)
    if (buffer.first_kernel <= kernel && kernel <= buffer.last_kernel && !buffer.workspace)
      std::fill_n(taken.begin() + buffer.offset, buffer.bytes, 1);
  ArenaSpan largest;
  for (std::int64_t begin = 0; begin < top; begin += schedule.alignment) {
    std::int64_t end = begin;
    while (end < top && taken[static_cast<std::size_t>(end)] == 0) ++end;
    if (end - begin > largest.bytes) largest = {begin, end - begin};
  }
  return largest;
}

TEST_CASE("free span: the largest that no buffer has while a kernel runs", "[schedule]") {
  bool some = false, none = false;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const test::Scheduled planned(test::random_graph(seed), seed % 2 == 0, NoBudget{});
    ScheduleOptions options;
    options.alignment = seed % 3 == 0 ? 1 : 64;
    const Schedule schedule = planned.make(options);
    for (std::uint32_t k = 0; k < schedule.kernels.size(); ++k) {
      INFO(seed << ", kernel " << k);
      const ArenaSpan found = free_span(schedule, k), expected = largest_free(schedule, k);
      CHECK(found.offset == expected.offset);
      CHECK(found.bytes == expected.bytes);
      (found.bytes > 0 ? some : none) = true;
    }
  }
  CHECK((some && none));
}

TEST_CASE("free span: a call's planned workspace is its own", "[schedule]") {
  Schedule schedule;
  schedule.alignment = 64;
  schedule.kernels.resize(3);
  const auto add = [&](std::int64_t offset, std::int64_t bytes, std::uint32_t first,
                       std::uint32_t last, bool workspace) {
    Buffer buffer;
    buffer.offset = offset;
    buffer.bytes = bytes;
    buffer.first_kernel = first;
    buffer.last_kernel = last;
    buffer.workspace = workspace;
    schedule.buffers.push_back(buffer);
  };
  add(0, 100, 0, 2, false);
  add(128, 64, 1, 1, true);
  add(256, 40, 0, 0, false);
  CHECK(free_span(schedule, 0).offset == 128);
  CHECK(free_span(schedule, 0).bytes == 128);
  CHECK(free_span(schedule, 1).offset == 128);
  CHECK(free_span(schedule, 1).bytes == 296 - 128);
}

}  // namespace
}  // namespace recut
