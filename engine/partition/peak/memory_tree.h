// A segment tree of the bytes alive at each position, with the peak at its root. A leaf keeps the
// bytes that begin and the bytes that end there; a node keeps their sum and its largest prefix sum.
//
//   births  8 0 4 0      bytes alive  8 8 12 4      root: max 12
//   deaths  0 0 8 4
//
// Adding, lengthening or splitting a lifetime changes two leaves: O(log n), bottom-up, without
// recursion. A tree of the bytes themselves would need a lazy range update, and relabelling a
// position would touch every lifetime across it; here the position's pair moves along.
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

  // The bytes that begin and that end at one position.
  struct Ends {
    std::int64_t begin = 0, end = 0;
  };

  // Adds bytes that are alive at positions first … last.
  void add(std::uint32_t first, std::uint32_t last, std::int64_t bytes) {
    change(first, {bytes, 0}, last, {0, bytes});
  }

  // Bytes that died at `from` now die at the later `to` (negative: the other way).
  void prolong(std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    change(from, {0, -bytes}, to, {0, bytes});
  }

  // Bytes alive at `from` and `to` are no longer alive in between (negative: alive again).
  void interrupt(std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    change(from, {0, bytes}, to, {bytes, 0});
  }

  // Moves a position's pair: take() it, put() it at another position, then rebuild().
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

  // Recomputes the nodes above the `width` leaves from `base` on; `width` is a power of two and
  // divides `base`. Cost: O(width + log n).
  void rebuild(std::uint32_t base, std::uint32_t width) {
    std::uint32_t first = base + leaves_, last = first + width - 1;
    while (first != last) {
      first >>= 1, last >>= 1;
      for (std::uint32_t node = first; node <= last; ++node) pull(node);
    }
    pull_above(first);
  }

  // The maximum over positions first … last.
  std::int64_t maximum(std::uint32_t first, std::uint32_t last) const {
    constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min() / 4;
    std::uint32_t l = first - 1 + leaves_, r = last + 1 + leaves_;
    std::int64_t before = nodes_[l].sum;  // of all positions before `first`
    Node left{0, kLowest}, right{0, kLowest};
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

  // The first position with more than `limit`; 0 if none has.
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
    std::int64_t sum = 0;  // births minus deaths below the node
    std::int64_t max = 0;  // the largest prefix sum below the node
  };

  static Node joined(Node left, Node right) {
    return {left.sum + right.sum, std::max(left.max, left.sum + right.max)};
  }

  // The sum of all leaves to the left of the node's.
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

  // Stops at the first node whose sum and maximum stay the same.
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
