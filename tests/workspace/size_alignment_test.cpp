// Alignment of allocations by order and size.
#include "engine/workspace/size_alignment.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <utility>
#include <vector>

namespace recut {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

std::vector<SizedItem> sized(const std::vector<std::int64_t>& kilobytes) {
  std::vector<SizedItem> items;
  for (const std::int64_t k : kilobytes) items.push_back({k * 1024});
  return items;
}

TEST_CASE("alignment: equal sizes in order, others left out") {
  CHECK(align_sizes(sized({1, 2, 3}), sized({1, 2, 3})) == Pairs{{0, 0}, {1, 1}, {2, 2}});
  CHECK(align_sizes(sized({1, 9, 2, 3}), sized({1, 2, 8, 3})) == Pairs{{0, 0}, {2, 1}, {3, 3}});
  CHECK(align_sizes(sized({2, 1}), sized({1, 2})).size() == 1);
  CHECK(align_sizes({}, sized({1})).empty());
  CHECK(align_sizes(sized({1}), {}).empty());
  CHECK(align_sizes({}, {}).empty());
}

TEST_CASE("alignment: sizes are equal up to the allocator's unit") {
  const std::vector<SizedItem> measured = {{1}, {513}, {1024}}, planned = {{512}, {1000}, {1025}};
  CHECK(align_sizes(measured, planned) == Pairs{{0, 0}, {1, 1}});
}

TEST_CASE("alignment: the larger block decides where two orders cross") {
  CHECK(align_sizes(sized({1, 64}), sized({64, 1})) == Pairs{{1, 0}});
}

TEST_CASE("alignment: line, node, peak and frame choose among equal sizes") {
  const auto partner = [](SizedItem measured, std::vector<SizedItem> planned) {
    const auto pairs = align_sizes(std::vector<SizedItem>{measured}, planned);
    return pairs.size() == 1 ? static_cast<int>(pairs[0].second) : -1;
  };
  CHECK(partner({1024}, {{1024}, {1024}, {1024}}) == 0);
  CHECK(partner({1024, 7}, {{1024, 6}, {1024, 7}, {1024}}) == 1);
  CHECK(partner({1024, 0, 5}, {{1024}, {1024}, {1024, 0, 5}}) == 2);
  CHECK(partner({1024, 0, 0, 0, true}, {{1024}, {1024, 0, 0, 0, true}}) == 1);
  // Frame 1 is mostly with operator 8, so its third block is, too.
  const std::vector<SizedItem> measured = {{1024, 0, 0, 1}, {2048, 0, 0, 1}, {4096, 0, 0, 1}};
  const std::vector<SizedItem> planned = {
      {1024, 0, 0, 8}, {2048, 0, 0, 8}, {4096, 0, 0, 9}, {4096, 0, 0, 8}};
  CHECK(align_sizes(measured, planned) == Pairs{{0, 0}, {1, 1}, {2, 3}});
}

// The most pairs of any common subsequence, by the recursion itself.
std::size_t most_pairs(const std::vector<SizedItem>& a, const std::vector<SizedItem>& b) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
  const auto most = [&](const auto& self, std::size_t i, std::size_t j) -> std::size_t {
    if (i == a.size() || j == b.size()) return 0;
    const auto [at, fresh] = known.try_emplace({i, j}, 0);
    if (!fresh) return at->second;
    std::size_t best = std::max(self(self, i + 1, j), self(self, i, j + 1));
    if (a[i].bytes == b[j].bytes) best = std::max(best, 1 + self(self, i + 1, j + 1));
    return known[{i, j}] = best;
  };
  return most(most, 0, 0);
}

TEST_CASE("alignment: random sequences have as many pairs as can be") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<SizedItem> a, b;
    std::uint64_t state = seed;
    const auto next = [&state](std::uint64_t below) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      return (state >> 33) % below;
    };
    // Two sizes of one weight, so that pairs are all that counts.
    for (std::uint64_t i = next(20); i > 0; --i)
      a.push_back({static_cast<std::int64_t>(1 + next(3)) * 512});
    for (std::uint64_t i = next(20); i > 0; --i)
      b.push_back({static_cast<std::int64_t>(1 + next(3)) * 512});
    const auto pairs = align_sizes(a, b);
    CAPTURE(seed);
    CHECK(pairs.size() == most_pairs(a, b));
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      CHECK(a[pairs[k].first].bytes == b[pairs[k].second].bytes);
      if (k > 0) CHECK(pairs[k - 1].first < pairs[k].first);
      if (k > 0) CHECK(pairs[k - 1].second < pairs[k].second);
    }
  }
}

}  // namespace
}  // namespace recut
