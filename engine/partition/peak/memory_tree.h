// Bytes alive at each position of a line, kept as what begins and what ends there: the bytes at a
// position are the sum of all that began up to it less all that ended before it. A segment tree of
// sums and greatest prefix sums answers for the highest place. A life is changed, lengthened or cut
// in O(log n), bottom-up and without recursion, and lives move to other positions without being
// looked at one by one: only the two ends are kept, so a position's own pair goes along with it.
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

  void clear() { std::fill(nodes_.begin(), nodes_.end(), Node()); }

  std::int64_t maximum() const { return nodes_[1].max; }

  // What begins and what ends at one position.
  struct Ends {
    std::int64_t begin = 0, end = 0;
  };

  // Bytes that are alive at positions first … last.
  void add(std::uint32_t first, std::uint32_t last, std::int64_t bytes) {
    change(first, {bytes, 0}, last, {0, bytes});
  }

  // Bytes whose life ended at `from` and now ends at `to`, after it (negative: the other way).
  void prolong(std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    change(from, {0, -bytes}, to, {0, bytes});
  }

  // Bytes that are alive at `from` and `to` and in between no longer (negative: again).
  void interrupt(std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    change(from, {0, bytes}, to, {bytes, 0});
  }

  // All that is said of a position, to be put at another one; rebuild() must follow.
  Ends take(std::uint32_t position) {
    Node& leaf = nodes_[position + leaves_];
    const Ends ends{leaf.max, leaf.max - leaf.sum};
    leaf = {};
    return ends;
  }
  void put(std::uint32_t position, Ends ends) {
    Node& leaf = nodes_[position + leaves_];
    leaf = {leaf.sum + ends.begin - ends.end, leaf.max + ends.begin};
  }

  // Makes the nodes above `width` leaves from `base` on anew; `width` is a power of two and divides
  // `base`.
  void rebuild(std::uint32_t base, std::uint32_t width) {
    std::uint32_t first = base + leaves_, last = first + width - 1;
    while (first != last) {
      first >>= 1, last >>= 1;
      for (std::uint32_t node = first; node <= last; ++node) pull(node);
    }
    pull_above(first);
  }

  // The most in positions first … last.
  std::int64_t maximum(std::uint32_t first, std::uint32_t last) const {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min() / 4;
    std::uint32_t l = first - 1 + leaves_, r = last + 1 + leaves_;
    std::int64_t before = nodes_[l].sum;  // of all before `first`
    Node left{0, kLeast}, right{0, kLeast};
    while ((l ^ r) != 1) {
      if (l & 1) {
        before += nodes_[l ^ 1].sum;
      } else {
        left = joined(left, nodes_[l ^ 1]);
      }
      if (r & 1) right = joined(nodes_[r ^ 1], right);
      l >>= 1, r >>= 1;
    }
    return before + sum_before(l) + joined(left, right).max;
  }

  std::int64_t at(std::uint32_t position) const {
    return sum_before(position + leaves_) + nodes_[position + leaves_].max;
  }

  // The first position whose value is the maximum.
  std::uint32_t first_maximum() const { return first_above(nodes_[1].max - 1); }

  // The first position with more than `limit`; 0 where there is none.
  std::uint32_t first_above(std::int64_t limit) const {
    return nodes_[1].max > limit ? first_above_in(1, limit) : 0;
  }

  // The same, from position `first` on.
  std::uint32_t first_above(std::uint32_t first, std::int64_t limit) const {
    std::uint32_t node = first + leaves_;
    limit -= sum_before(node);
    while (nodes_[node].max <= limit) {
      limit -= nodes_[node].sum;
      while (node & 1) node >>= 1;
      if (node == 0) return 0;
      ++node;
    }
    return first_above_in(node, limit);
  }

 private:
  struct Node {
    std::int64_t sum = 0;  // of what begins below less what ends below
    std::int64_t max = 0;  // the most at any position below, from 0 before the first
  };

  static Node joined(Node left, Node right) {
    return {left.sum + right.sum, std::max(left.max, left.sum + right.max)};
  }

  // Of all leaves to the left of a node's.
  std::int64_t sum_before(std::uint32_t node) const {
    std::int64_t sum = 0;
    for (; node > 1; node >>= 1)
      if (node & 1) sum += nodes_[node ^ 1].sum;
    return sum;
  }

  std::uint32_t first_above_in(std::uint32_t node, std::int64_t limit) const {
    while (node < leaves_) {
      node *= 2;
      if (nodes_[node].max <= limit) limit -= nodes_[node++].sum;
    }
    return node - leaves_;
  }

  void pull(std::uint32_t node) { nodes_[node] = joined(nodes_[2 * node], nodes_[2 * node + 1]); }

  // Where a node's sum and maximum are what they were, nothing changes further up.
  void pull_above(std::uint32_t node) {
    while (node > 1) {
      node >>= 1;
      const Node before = nodes_[node];
      pull(node);
      if (nodes_[node].max == before.max && nodes_[node].sum == before.sum) return;
    }
  }

  void change(std::uint32_t first, Ends at_first, std::uint32_t last, Ends at_last) {
    put(first, at_first);
    put(last, at_last);
    std::uint32_t l = first + leaves_, r = last + leaves_;
    if (l != r) {
      for (; (l ^ r) != 1; pull(l), pull(r)) l >>= 1, r >>= 1;
    }
    pull_above(l);
  }

  std::uint32_t leaves_;
  std::vector<Node> nodes_;
};

}  // namespace recut::peak
