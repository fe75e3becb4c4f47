// A dependence test for loops that aren't declared parallel, in the tradition of the Banerjee and
// Omega tests, on mixed-radix digits instead of loop variables.
//
// Two accesses of one buffer conflict if at least one is a plain store. Their indices are written
// as sum(factor * digit) + free + fixed, where `free` varies within an item and is bounded by its
// range. They alias in different iterations iff some nonzero vector of digit distances d, |d| <
// extent, gives
//   sum(factor * d) in [low, high]
// which is searched from the largest factor down; each level has few candidates, as lower factors
// reach only so far. After 1000 tries the answer is "may alias", which is always safe.
#include "engine/codegen/cuda/independence.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/codegen/cuda/mixed_radix.h"

namespace recut::cuda {
namespace {

using loop::AccumulatorId;
using loop::Atom;
using loop::Index;
using loop::Interval;
using loop::ValueId;

// The distance of two elements by one digit: factor * d with -most <= d <= most.
struct DigitDistance {
  std::int64_t factor = 0;
  std::int64_t max = 0;
};

// Searches for distances, not all 0, whose sum lies in an interval. `digits`: largest factors last.
// Answers yes if the search takes too long.
class DistanceSums {
 public:
  explicit DistanceSums(std::vector<DigitDistance> digits) : digits_(std::move(digits)) {}

  bool reach(const Interval& goal) { return reach(digits_.size(), goal, false); }

 private:
  std::int64_t reach_below(std::size_t count) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += digits_[i].factor * digits_[i].max;
    return sum;
  }

  bool reach(std::size_t count, const Interval& goal, bool moved) {
    if (++tries_ > 1000) return true;
    if (count == 0) return moved && goal.min <= 0 && goal.max >= 0;
    const DigitDistance& digit = digits_[count - 1];
    if (digit.factor == 0) return reach(count - 1, goal, moved || digit.max > 0);
    const std::int64_t rest = reach_below(count - 1);
    const std::int64_t first = -loop::floor_quotient(-(goal.min - rest), digit.factor);
    const std::int64_t last = loop::floor_quotient(goal.max + rest, digit.factor);
    for (std::int64_t d = std::max(first, -digit.max); d <= std::min(last, digit.max); ++d)
      if (reach(count - 1, {goal.min - d * digit.factor, goal.max - d * digit.factor},
                moved || d != 0))
        return true;
    return false;
  }

  std::vector<DigitDistance> digits_;
  int tries_ = 0;
};

struct Access {
  Index at;
  enum class Kind : std::uint8_t { load, store, combine } kind = Kind::load;  // combine: atomically

  bool conflicts(const Access& other) const { return kind != other.kind || kind == Kind::store; }
};

class Independence {
 public:
  Independence(const loop::Kernel& kernel, const loop::Ranges& ranges, const Nest& nest)
      : kernel_(kernel), ranges_(ranges), nest_(nest), accesses_(kernel.buffers.size()) {
    for (const loop::Loop* loop : nest.loops) {
      if (loop->parallel) continue;
      varying_loops_.insert(loop->variable.index);
      own_.push_back(loop->variable);
    }
    visit(*nest.loops.front());
  }

  bool holds(LoopCarried carried) {
    if (reads_outside_ || (updates_outside_ && carried == LoopCarried::nothing)) return false;
    if (own_.empty()) return true;
    digits_.emplace(kernel_, own_, indices());
    for (const std::vector<Access>& accesses : accesses_)
      for (std::size_t a = 0; a < accesses.size(); ++a)
        for (std::size_t b = a; b < accesses.size(); ++b)
          if (accesses[a].conflicts(accesses[b]) && may_alias(accesses[a].at, accesses[b].at))
            return false;
    return true;
  }

 private:
  std::vector<Index> indices() const {
    std::vector<Index> all;
    for (const std::vector<Access>& accesses : accesses_)
      for (const Access& access : accesses) all.push_back(access.at);
    return all;
  }

  void visit(const loop::Loop& outermost) {
    for_each_statement(outermost.body, [&](const loop::Statement& statement) {
      std::visit([&](const auto& one) { note(one); }, statement.value);
    });
  }

  void note(const loop::Define& define) {
    varying_values_.insert(define.value.index);
    if (const auto* load = std::get_if<loop::Load>(&define.expression))
      accesses_[load->buffer.index].push_back({load->at, Access::Kind::load});
    const auto* read = std::get_if<loop::ReadAccumulator>(&define.expression);
    if (read != nullptr && !declared_.contains(read->accumulator.index))
      reads_outside_ |= kernel_[read->accumulator].lanes > 1;
  }
  void note(const loop::Store& store) {
    const bool atomic = store.combine && loop::is_reassociable(kernel_[store.value].type);
    accesses_[store.buffer.index].push_back(
        {store.at, atomic ? Access::Kind::combine : Access::Kind::store});
  }
  void note(const loop::Declare& declare) { declared_.insert(declare.accumulator.index); }
  void note(const loop::Update& update) {
    updates_outside_ |= !declared_.contains(update.accumulator.index);
  }
  void note(const loop::Loop& loop) {
    const bool of_nest =
        std::find(nest_.loops.begin(), nest_.loops.end(), &loop) != nest_.loops.end();
    if (!of_nest) varying_loops_.insert(loop.variable.index);
  }
  void note(const loop::If&) {}

  bool varies(const Atom& atom) const {
    if (atom.kind == loop::AtomKind::loop) return varying_loops_.contains(atom.id);
    if (atom.kind == loop::AtomKind::value) return varying_values_.contains(atom.id);
    bool found = false;
    for_each_atom(*atom.of,
                  [&](const Atom& inner) { found |= inner.of == nullptr && varies(inner); });
    return found;
  }

  // An index, split by how its terms vary between iterations.
  struct Parts {
    std::vector<std::int64_t> digits;  // a factor for each digit of own_
    Index free;                        // any value of its range
    Index fixed;
  };
  Parts parts_of(const Index& index) const {
    Parts parts{std::vector<std::int64_t>(digits_->all().size(), 0), {}, Index(index.constant)};
    for (const loop::Term& term : index.terms) {
      const auto factors = digits_->factors(term.atom);
      if (!factors) {
        (varies(term.atom) ? parts.free : parts.fixed).terms.push_back(term);
        continue;
      }
      for (std::size_t d = 0; d < factors->size(); ++d)
        parts.digits[d] = sum_of(parts.digits[d], term.factor, (*factors)[d]);
    }
    return parts;
  }

  // so_far + factor * of, wrapping around as index arithmetic does.
  static std::int64_t sum_of(std::int64_t so_far, std::int64_t factor, std::int64_t of) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(so_far) +
                                     static_cast<std::uint64_t>(factor) *
                                         static_cast<std::uint64_t>(of));
  }

  // True if two accesses may go to one element in different iterations.
  bool may_alias(const Index& a, const Index& b) const {
    const Parts x = parts_of(a), y = parts_of(b);
    if (x.digits != y.digits) return true;
    const auto fixed = ranges_.of(y.fixed - x.fixed);
    const auto from = ranges_.of(x.free), to = ranges_.of(y.free);
    if (!fixed || !from || !to) return true;
    constexpr std::int64_t kFar = std::int64_t{1} << 60;
    for (const auto& range : {fixed, from, to})
      if (!range->within(-kFar, kFar)) return true;
    std::vector<DigitDistance> digits;
    for (std::size_t i = 0; i < x.digits.size(); ++i)
      digits.push_back(
          {std::abs(x.digits[i]), std::max<std::int64_t>(digits_->all()[i].extent - 1, 0)});
    std::sort(digits.begin(), digits.end(),
              [](const DigitDistance& one, const DigitDistance& other) {
                return one.factor < other.factor;
              });
    return DistanceSums(std::move(digits))
        .reach({fixed->min + to->min - from->max, fixed->max + to->max - from->min});
  }

  const loop::Kernel& kernel_;
  const loop::Ranges& ranges_;
  const Nest& nest_;
  std::vector<std::vector<Access>> accesses_;  // by buffer
  std::set<std::uint32_t> varying_loops_, varying_values_, declared_;
  std::vector<loop::LoopId> own_;          // loops of the nest that aren't parallel
  std::optional<MixedRadixIndex> digits_;  // of these
  bool updates_outside_ = false, reads_outside_ = false;
};

}  // namespace

bool is_independent(const loop::Kernel& kernel, const loop::Ranges& ranges, const Nest& nest,
                    LoopCarried carried) {
  return Independence(kernel, ranges, nest).holds(carried);
}

}  // namespace recut::cuda
