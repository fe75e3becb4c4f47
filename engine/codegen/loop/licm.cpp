#include "engine/codegen/loop/licm.h"

#include <algorithm>
#include <utility>

namespace recut::loop {
namespace {

class LoopInvariantCodeMotion {
 public:
  explicit LoopInvariantCodeMotion(const Kernel& kernel) : kernel_(kernel) {
    depth_of_value_.assign(kernel.values.size(), 0);
    depth_of_loop_.assign(kernel.loops.size(), 0);
  }

  Kernel run() {
    Kernel out = kernel_;
    out.body = rebuilt(kernel_.body);
    return out;
  }

 private:
  // The blocks being rebuilt, outermost first. A hoisted definition is appended to one of them, in
  // front of the loop that it leaves.
  struct OpenBlock {
    Block block;
    bool barrier = false;  // a branch, or a loop that never runs: definitions stay inside
  };

  Block rebuilt(const Block& block, bool barrier = true) {
    open_.push_back({{}, barrier});
    for (const Statement& statement : block)
      std::visit([&](const auto& s) { hoist(s, statement.location); }, statement.value);
    Block done = std::move(open_.back().block);
    open_.pop_back();
    return done;
  }

  void hoist(const Define& define, std::uint32_t location) {
    std::size_t depth = open_.size() - 1;
    while (depth > 0 && !open_[depth].barrier) --depth;
    const std::size_t needed =
        is_movable(define.expression) ? depth_needed(define.expression) : open_.size() - 1;
    depth = std::max(depth, needed);
    depth_of_value_[define.value.index] = depth;
    open_[depth].block.push_back({define, location});
  }

  template <class S>
  void hoist(const S& statement, std::uint32_t location) {
    open_.back().block.push_back({statement, location});
  }

  void hoist(const Loop& loop, std::uint32_t location) {
    depth_of_loop_[loop.variable.index] = open_.size();
    Loop copy{loop.variable, loop.parallel, loop.lanes, {}};
    copy.body = rebuilt(loop.body, kernel_[loop.variable].extent == 0);
    open_.back().block.push_back({std::move(copy), location});
  }

  void hoist(const If& branch, std::uint32_t location) {
    If copy{branch.condition, rebuilt(branch.body)};
    open_.back().block.push_back({std::move(copy), location});
  }

  bool is_movable(const Expression& expression) const {
    if (const auto* load = std::get_if<Load>(&expression))
      return kernel_[load->buffer].access == Access::read;
    return !std::holds_alternative<ReadAccumulator>(expression);
  }

  std::size_t depth_needed(const Expression& expression) const {
    std::size_t depth = 0;
    const auto need_loops = [&](const Index& index) {
      for_each_atom(index, [&](const Atom& atom) {
        if (atom.kind == AtomKind::loop) depth = std::max(depth, depth_of_loop_[atom.id]);
      });
    };
    if (const auto* number = std::get_if<IndexNumber>(&expression)) need_loops(number->index);
    if (const auto* load = std::get_if<Load>(&expression)) need_loops(load->at);
    for_each_used(expression,
                  [&](ValueId used) { depth = std::max(depth, depth_of_value_[used.index]); });
    return depth;
  }

  const Kernel& kernel_;
  std::vector<OpenBlock> open_;
  std::vector<std::size_t> depth_of_value_, depth_of_loop_;
};

}  // namespace

Kernel licm(const Kernel& kernel) { return LoopInvariantCodeMotion(kernel).run(); }

}  // namespace recut::loop
