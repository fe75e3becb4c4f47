// Bytes alive at each position of a line: range add and range maximum in O(log n), bottom-up and
// without recursion (a segment tree whose additions stay where they fall).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace recut::peak {

// Positions are 1 … capacity(): the outermost leaves are sentinels, so that an open interval around
// any range of positions exists.
class MemoryTree {
 public:
  explicit MemoryTree(std::uint32_t leaves) : leaves_(leaves), nodes_(2 * leaves) {}

  std::uint32_t leaves() const { return leaves_; }
  std::uint32_t capacity() const { return leaves_ - 2; }

  std::int64_t maximum() const { return nodes_[1].max; }

  // Adds to positions first … last.
  void add(std::uint32_t first, std::uint32_t last, std::int64_t value) {
    std::uint32_t l = first - 1 + leaves_, r = last + 1 + leaves_;
    while ((l ^ r) != 1) {
      if (!(l & 1)) bump(l ^ 1, value);
      if (r & 1) bump(r ^ 1, value);
      l >>= 1, r >>= 1;
      pull(l), pull(r);
    }
    while (l > 1) {
      l >>= 1;
      const std::int64_t before = nodes_[l].max;
      pull(l);
      if (nodes_[l].max == before) return;  // nothing changes further up
    }
  }

  // The most in positions first … last.
  std::int64_t maximum(std::uint32_t first, std::uint32_t last) const {
    std::uint32_t l = first - 1 + leaves_, r = last + 1 + leaves_;
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min() / 4;
    std::int64_t left = kLeast, right = kLeast;
    while ((l ^ r) != 1) {
      if (!(l & 1)) left = std::max(left, nodes_[l ^ 1].max);
      if (r & 1) right = std::max(right, nodes_[r ^ 1].max);
      l >>= 1, r >>= 1;
      left += nodes_[l].add, right += nodes_[r].add;
    }
    std::int64_t most = std::max(left, right);
    while (l > 1) {
      l >>= 1;
      most += nodes_[l].add;
    }
    return most;
  }

  std::int64_t at(std::uint32_t position) const {
    std::uint32_t node = position + leaves_;
    std::int64_t value = nodes_[node].max;
    while (node > 1) {
      node >>= 1;
      value += nodes_[node].add;
    }
    return value;
  }

  // The first position whose value is the maximum.
  std::uint32_t first_maximum() const { return first_above(nodes_[1].max - 1); }

  // The first position with more than `limit`; 0 where there is none.
  std::uint32_t first_above(std::int64_t limit) const {
    if (nodes_[1].max <= limit) return 0;
    std::uint32_t node = 1;
    while (node < leaves_) {
      limit -= nodes_[node].add;
      node = 2 * node + (nodes_[2 * node].max > limit ? 0 : 1);
    }
    return node - leaves_;
  }

  // The last position with more than `limit`; 0 where there is none.
  std::uint32_t last_above(std::int64_t limit) const {
    if (nodes_[1].max <= limit) return 0;
    std::uint32_t node = 1;
    while (node < leaves_) {
      limit -= nodes_[node].add;
      node = 2 * node + (nodes_[2 * node + 1].max > limit ? 1 : 0);
    }
    return node - leaves_;
  }

 private:
  struct Node {
    std::int64_t max = 0;  // of the leaves below, with the additions made here and below
    std::int64_t add = 0;  // to all leaves below
  };

  void bump(std::uint32_t node, std::int64_t value) {
    nodes_[node].max += value;
    if (node < leaves_) nodes_[node].add += value;
  }
  void pull(std::uint32_t node) {
    nodes_[node].max = std::max(nodes_[2 * node].max, nodes_[2 * node + 1].max) + nodes_[node].add;
  }

  std::uint32_t leaves_;
  std::vector<Node> nodes_;
};

}  // namespace recut::peak
