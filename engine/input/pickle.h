// Pickles as plain data. Nothing is ever called, imported or built: the reader takes the opcodes
// for numbers, texts, lists, tuples and dicts, and refuses all others by name and offset.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "engine/support/bits.h"
#include "engine/support/result.h"

namespace recut {

// `unsigned_integer` is an integer from 2^63 to 2^64 - 1: addresses of devices are that large.
enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,
  unsigned_integer,
  real,
  text,
  list,
  tuple,
  dict
};

// Names the kind in messages: "a text", "a list".
std::string_view describe(PickleKind kind);

// A value of a document, cheap to copy. Equal lists and dicts that the file shares are one index.
struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::uint64_t bits = 0;  // the number itself, or the index of a text, list, tuple or dict

  std::int64_t integer() const { return static_cast<std::int64_t>(bits); }
  double real() const { return bit_cast<double>(bits); }
  std::size_t index() const { return static_cast<std::size_t>(bits); }
  bool is(PickleKind k) const { return kind == k; }
};

// Bounds of hostile files. A real snapshot takes some twenty values an event.
inline constexpr std::size_t kMaxPickleValues = std::size_t{1} << 26;
inline constexpr std::size_t kMaxPickleDepth = 256;  // of lists and dicts that are open at once

// The values of one pickle. Its texts are parts of the bytes, which must outlive it. Lists may
// contain themselves, so a reader never follows values deeper than its own schema.
class PickleDocument {
 public:
  PickleValue root() const { return root_; }

  std::size_t texts() const { return texts_.size(); }
  std::size_t containers() const { return containers_.size(); }  // lists, tuples and dicts
  std::size_t values() const { return values_.size(); }          // in all of these

  // Requires a text.
  std::string_view text(PickleValue value) const { return texts_[value.index()]; }
  // Items of a list or tuple; pairs of a dict, each as it was written.
  std::size_t size(PickleValue container) const;

  // Calls visit(value) for each item of a list or tuple, in order.
  template <class Visit>
  void each_item(PickleValue container, Visit visit) const {
    each_run(container, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) visit(values_[i]);
    });
  }
  // Calls visit(key, value) for each pair of a dict. Of pairs with one key the last counts.
  template <class Visit>
  void each_pair(PickleValue dict, Visit visit) const {
    each_run(dict, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i + 1 < end; i += 2) visit(values_[i], values_[i + 1]);
    });
  }

 private:
  friend class PickleReader;

  // Neighbouring values. A long list is made of several runs.
  static constexpr std::uint32_t kNoRun = UINT32_MAX;
  struct Run {
    std::uint32_t first = 0, count = 0, next = kNoRun;
  };
  struct Container {
    std::uint32_t first_run = kNoRun, last_run = kNoRun, values = 0;
  };

  template <class Visit>
  void each_run(PickleValue container, Visit visit) const {
    for (std::uint32_t run = containers_[container.index()].first_run; run != kNoRun;
         run = runs_[run].next)
      visit(runs_[run].first, std::size_t{runs_[run].first} + runs_[run].count);
  }

  PickleValue root_;
  std::deque<PickleValue> values_;
  std::deque<Run> runs_;
  std::deque<Container> containers_;
  std::deque<std::string_view> texts_;
};

// True for bytes that begin like a pickle of protocol 2 or later.
bool looks_like_pickle(std::string_view bytes);

// Reads one pickle of protocol 2 to 5 that ends with the bytes. Fails on an opcode that would call,
// import or build something, on damage, and beyond the bounds; the message names the opcode and its
// offset. Takes O(bytes).
Result<PickleDocument> parse_pickle(std::string_view bytes, std::string_view file_name,
                                    std::size_t max_values = kMaxPickleValues);

}  // namespace recut
