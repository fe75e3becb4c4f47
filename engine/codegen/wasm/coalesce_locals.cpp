// Coalescing of locals, as Binaryen's coalesce-locals pass does it, by linear scan register
// allocation (Poletto and Sarkar 1999): live ranges sorted by their start take the lowest free
// local of their type, and give it back at their end.
//
// Structured control flow makes live ranges intervals of instructions: a value that is set before a
// loop and read in it lives to the loop's end; one that is set in an arm of an `if` and read behind
// it is taken to live everywhere, which is rare and safe. O(n log n).
#include "engine/codegen/wasm/coalesce_locals.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <queue>

namespace recut::wasm {
namespace {

constexpr std::size_t kCoalesceNever = std::numeric_limits<std::size_t>::max();
constexpr std::array kLocalTypes{Type::i32, Type::i64, Type::f32, Type::f64, Type::v128};

bool uses_local(const Instruction& one) {
  return one.op == Op::local_get || one.op == Op::local_set || one.op == Op::local_tee;
}

// From the first instruction that uses a local to the last that may read its value.
struct LiveRange {
  std::size_t first = kCoalesceNever, last = 0;
  std::size_t arm = 0;  // the start of the `if` arm that contains `first`; 0: none
};

// The end of each block, by its start. An `if` with an `else` is two blocks.
std::vector<std::size_t> ends_of(const std::vector<Instruction>& body) {
  std::vector<std::size_t> ends(body.size(), 0), open;
  for (std::size_t at = 0; at < body.size(); ++at) {
    const Op op = body[at].op;
    if (op == Op::end || op == Op::else_) {
      ends[open.back()] = at;
      open.pop_back();
    }
    if (op == Op::loop || op == Op::if_ || op == Op::else_) open.push_back(at);
  }
  return ends;
}

// A value that is read in a loop and was set before it lives to the loop's end. A value that is set
// in an arm of an `if` and read after it lives throughout the function.
class LiveRanges {
 public:
  LiveRanges(const std::vector<Instruction>& body, std::size_t parameters, std::size_t locals)
      : body_(body), ends_(ends_of(body)), parameters_(parameters), ranges_(locals) {}

  std::vector<LiveRange> run() {
    for (std::size_t at = 0; at < body_.size(); ++at) {
      const Op op = body_[at].op;
      if (op == Op::end || op == Op::else_) close(at);
      if (op == Op::loop) loops_.push_back(at);
      if (op == Op::if_ || op == Op::else_) arms_.push_back(at);
      if (uses_local(body_[at]) && body_[at].low >= parameters_) use(at);
    }
    return std::move(ranges_);
  }

 private:
  void close(std::size_t at) {
    if (!loops_.empty() && ends_[loops_.back()] == at) return loops_.pop_back();
    arms_.pop_back();
  }

  void use(std::size_t at) {
    LiveRange& range = ranges_[body_[at].low - parameters_];
    if (range.first == kCoalesceNever) {
      range.first = at;
      range.arm = arms_.empty() ? 0 : arms_.back();
      if (body_[at].op == Op::local_get) range = {0, body_.size(), 0};
    }
    range.last = std::max(range.last, at);
    const bool left = range.arm != 0 && !std::binary_search(arms_.begin(), arms_.end(), range.arm);
    if (left) range = {0, body_.size(), 0};
    const auto around = std::upper_bound(loops_.begin(), loops_.end(), range.first);
    if (around != loops_.end()) range.last = std::max(range.last, ends_[*around]);
  }

  const std::vector<Instruction>& body_;
  const std::vector<std::size_t> ends_;
  const std::size_t parameters_;
  std::vector<std::size_t> loops_, arms_;  // that are open, from the outermost on
  std::vector<LiveRange> ranges_;
};

// Linear scan allocation: gives each live range a local of its type.
class LocalAllocator {
 public:
  using Queue = std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>>;

  std::size_t allocate(Type type, const LiveRange& range) {
    ByType& all = types_[type];
    for (; !all.taken.empty() && all.taken.begin()->first < range.first;
         all.taken.erase(all.taken.begin()))
      all.free.push(all.taken.begin()->second);
    if (all.free.empty()) all.free.push(all.count++);
    const std::size_t number = all.free.top();
    all.free.pop();
    all.taken.emplace(range.last, number);
    return number;
  }
  std::size_t count(Type type) { return types_[type].count; }

 private:
  struct ByType {
    std::size_t count = 0;
    Queue free;
    std::multimap<std::size_t, std::size_t> taken;  // by the last instruction that needs it
  };
  std::map<Type, ByType> types_;
};

}  // namespace

void coalesce_locals(Function& function) {
  const std::size_t parameters = function.signature.parameters.size();
  const std::size_t count = function.locals.size();
  const std::vector<LiveRange> ranges = LiveRanges(function.body, parameters, count).run();
  std::vector<std::size_t> order;
  for (std::size_t local = 0; local < count; ++local)
    if (ranges[local].first != kCoalesceNever) order.push_back(local);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranges[a].first < ranges[b].first; });
  LocalAllocator allocator;
  std::vector<std::size_t> assigned(count, 0);
  for (const std::size_t local : order)
    assigned[local] = allocator.allocate(function.locals[local], ranges[local]);
  std::map<Type, std::size_t> begins;
  std::vector<Type> locals;
  for (const Type type : kLocalTypes) {
    begins[type] = parameters + locals.size();
    locals.insert(locals.end(), allocator.count(type), type);
  }
  for (Instruction& one : function.body) {
    if (!uses_local(one) || one.low < parameters) continue;
    const std::size_t local = one.low - parameters;
    one.low = begins[function.locals[local]] + assigned[local];
  }
  function.locals = std::move(locals);
}

}  // namespace recut::wasm
