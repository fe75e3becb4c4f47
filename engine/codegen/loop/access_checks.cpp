// One walk over the statements, with the loops and branches around them. Each value remembers which
// loop variables it depends on and whether it comes from data (a load, an accumulator).
//
//   bounds   The interval of the index (ranges.h) lies within the buffer; under a condition it only
//            has to meet it, since the condition may exclude the rest.
//   races    A store in a concurrent loop depends on the loop's variable, and not only by way of
//            data, which may repeat.
//
// The race check is necessary, not sufficient: %i - %i mod 2 passes. Where the CUDA backend makes
// threads of a loop that isn't parallel, it proves independence by itself (cuda/independence.h).
#include "engine/codegen/loop/access_checks.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/codegen/loop/names.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::loop {
namespace {

class AccessChecker {
 public:
  explicit AccessChecker(const Kernel& kernel) : kernel_(kernel), names_(kernel), ranges_(kernel) {}

  Diagnostics run() {
    visit(kernel_.body);
    return std::move(faults_);
  }

 private:
  void visit(const Block& block) {
    for (const Statement& statement : block)
      std::visit([&](const auto& s) { visit(s); }, statement.value);
  }

  void visit(const Declare&) {}
  void visit(const Update&) {}

  void visit(const Define& define) {
    if (const auto* load = std::get_if<Load>(&define.expression))
      check_bounds(names_.of(define.value), load->buffer, load->at, load->where.valid());
    if (const auto* checked = std::get_if<Checked>(&define.expression))
      ranges_.set(define.value, {0, checked->below - 1});
    if (const auto* number = std::get_if<IndexNumber>(&define.expression))
      if (const auto range = ranges_.of(number->index)) ranges_.set(define.value, *range);
    std::vector<LoopId> loops;
    for_each_used(define.expression, [&](ValueId used) { add_loops(loops, used); });
    if (const auto* number = std::get_if<IndexNumber>(&define.expression))
      add_loops(loops, number->index);
    if (const auto* load = std::get_if<Load>(&define.expression)) add_loops(loops, load->at);
    std::sort(loops.begin(), loops.end());
    loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
    if (depends_.size() <= define.value.index) depends_.resize(define.value.index + 1);
    const bool data = std::holds_alternative<Load>(define.expression) ||
                      std::holds_alternative<ReadAccumulator>(define.expression);
    depends_[define.value.index] = {std::move(loops), data || uses_data(define.expression)};
  }

  void visit(const Store& store) {
    const std::string subject = "store " + names_.of(store.buffer);
    check_bounds(subject, store.buffer, store.at, conditions_ > 0);
    if (store.combine && is_reassociable(kernel_[store.value].type)) return;
    const bool scratch = kernel_[store.buffer].access == Access::scratch;
    for (const Loop* loop : concurrent_)
      if (!scratch || loop != outermost_) check_race(subject, store.at, *loop);
  }

  void visit(const Loop& loop) {
    if (kernel_[loop.variable].extent == 0) return;  // nothing inside ever happens
    const bool concurrent = loop.parallel || loop.lanes > 1;
    const bool outermost = outermost_ == nullptr;
    if (outermost) outermost_ = &loop;
    if (concurrent) concurrent_.push_back(&loop);
    visit(loop.body);
    if (concurrent) concurrent_.pop_back();
    if (outermost) outermost_ = nullptr;
  }

  void visit(const If& branch) {
    ++conditions_;
    visit(branch.body);
    --conditions_;
  }

  void fault(const std::string& subject, const std::string& message) {
    faults_.push_back(error(fmt::format("{}: {}", subject, message)));
  }

  void check_bounds(const std::string& subject, BufferId id, const Index& at, bool conditional) {
    const std::int64_t elements = kernel_[id].elements;
    conditional = conditional || conditions_ > 0;
    const std::optional<Interval> range = ranges_.of(at);
    if (!range) {
      if (!conditional)
        fault(subject, fmt::format("nothing bounds the index {}", format(at, names_)));
      return;
    }
    const bool outside = range->max < 0 || range->min >= elements;
    if (conditional ? outside : !range->within(0, elements - 1))
      fault(subject, fmt::format("the index {} reaches {} to {} of {} elements", format(at, names_),
                                 range->min, range->max, elements));
  }

  // Two iterations of the loop store to one element if the index doesn't depend on the variable.
  void check_race(const std::string& subject, const Index& at, const Loop& loop) {
    if (kernel_[loop.variable].extent <= 1) return;
    bool depends = false, data = false;
    for_each_atom(at, [&](const Atom& atom) {
      if (atom.kind == AtomKind::loop) depends |= LoopId(atom.id) == loop.variable;
      if (atom.kind != AtomKind::value || atom.id >= depends_.size()) return;
      data |= depends_[atom.id].data;
      for (const LoopId known : depends_[atom.id].loops) depends |= known == loop.variable;
    });
    const std::string& variable = names_.of(loop.variable);
    if (!depends)
      fault(subject, fmt::format("iterations of {} store to the same element, {}", variable,
                                 format(at, names_)));
    else if (data && !depends_directly(at, loop.variable))
      fault(subject, fmt::format("iterations of {} may store to one element: its index {} is data",
                                 variable, format(at, names_)));
  }

  static bool depends_directly(const Index& at, LoopId variable) {
    bool depends = false;
    for_each_atom(at, [&](const Atom& atom) {
      depends |= atom.kind == AtomKind::loop && LoopId(atom.id) == variable;
    });
    return depends;
  }

  void add_loops(std::vector<LoopId>& loops, ValueId used) const {
    const auto& known = depends_[used.index].loops;
    loops.insert(loops.end(), known.begin(), known.end());
  }

  static void add_loops(std::vector<LoopId>& loops, const Index& index) {
    for_each_atom(index, [&](const Atom& atom) {
      if (atom.kind == AtomKind::loop) loops.push_back(LoopId(atom.id));
    });
  }

  bool uses_data(const Expression& expression) const {
    bool data = false;
    for_each_used(expression, [&](ValueId used) { data |= depends_[used.index].data; });
    return data;
  }

  // The loop variables and the kind of source that a value depends on.
  struct Dependence {
    std::vector<LoopId> loops;
    bool data = false;
  };

  const Kernel& kernel_;
  const Names names_;
  Ranges ranges_;
  Diagnostics faults_;
  std::vector<Dependence> depends_;  // by value
  std::vector<const Loop*> concurrent_;
  const Loop* outermost_ = nullptr;
  int conditions_ = 0;
};

}  // namespace

Diagnostics access_faults(const Kernel& kernel) { return AccessChecker(kernel).run(); }

}  // namespace recut::loop
