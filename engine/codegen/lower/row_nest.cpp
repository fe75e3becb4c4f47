// Softmax or a layer norm is several reductions of one row with pointwise calls between them. One
// nest computes them all:
//   max, then sum(exp(x - max)), then exp(x - max) / sum  =>  for each row: 3 loops
// A reduction's stage is the length of the longest chain of reductions before it; all of one stage
// share their loops, pass by pass. Within a row a finished reduction is a bound scalar, so that
// consumers read no memory. Elements that the first loop has at hand are written there, where rows
// are contiguous. The passes reread the row from cache instead of keeping it in registers: rows
// have any length.
#include "engine/codegen/lower/row_nest.h"

#include <algorithm>

#include "engine/ir/aliases.h"

namespace recut::loop {

RowNest::RowNest(Lowering& lowering, std::span<const NodeId> calls, const RowKernel& rows,
                 NodeId first)
    : lowering_(lowering),
      rows_(rows),
      space_(*rows_of(lowering.graph(), first)),
      strides_(walking_strides(lowering, lowering.call_of(first).node("self"))) {
  find_reductions(calls);
  find_stages(calls);
  find_outputs(calls);
}

bool RowNest::has(NodeId id) const {
  return std::any_of(reductions_.begin(), reductions_.end(),
                     [&](const Reduction& reduction) { return reduction.nest.node == id; });
}

// Reductions that feed each other share rows in any walking order; unrelated ones only where they
// walk alike.
void RowNest::find_reductions(std::span<const NodeId> calls) {
  const bool continues = rows_.form == RowKernel::Form::continues && rows_.space == space_;
  for (const NodeId id : calls) {
    if (rows_of(lowering_.graph(), id) != space_) continue;
    const NodeId self = lowering_.call_of(id).node("self");
    if (continues || walking_strides(lowering_, self) == strides_)
      reductions_.emplace_back(lowering_, id);
  }
}

void RowNest::find_stages(std::span<const NodeId> calls) {
  const Graph& graph = lowering_.graph();
  for (const NodeId id : calls) {
    std::size_t ready = 0;
    for (const NodeId operand : graph[id].operands) {
      const NodeId producer = defining_node(graph, operand);
      if (!lowering_.is_member(producer)) continue;
      const auto known = ready_.find(producer);
      if (known != ready_.end()) ready = std::max(ready, known->second);
    }
    const auto own = std::find_if(reductions_.begin(), reductions_.end(),
                                  [&](const Reduction& r) { return r.nest.node == id; });
    if (own != reductions_.end()) own->stage = ready++;
    ready_[id] = ready;
  }
}

void RowNest::find_outputs(std::span<const NodeId> calls) {
  const Graph& graph = lowering_.graph();
  const bool continues = rows_.form == RowKernel::Form::continues && rows_.space == space_;
  for (const NodeId id : calls)
    for (std::size_t o = 0; o < graph[id].outputs.size(); ++o) {
      const ValueRef ref{id, o};
      if (nest_entry(graph[id].op).exists() || !lowering_.is_materialized(ref)) continue;
      if (rows_.is_behind(id)) {
        if (continues) (is_element(ref) ? element_outputs_ : row_outputs_).push_back(ref);
      } else if (shares_first_loop(ref)) {
        early_.push_back(ref);
      }
    }
  for (const auto* written : {&early_, &row_outputs_, &element_outputs_})
    outputs_.insert(outputs_.end(), written->begin(), written->end());
}

// The reduced operand is written inside the first loop where rows are contiguous or threads share
// each sum. With groups of threads a view in between is fine if it keeps the order of the elements.
bool RowNest::shares_first_loop(const ValueRef& ref) const {
  const TensorType& type = lowering_.type(ref);
  const Strides& own = output_layout(type).strides;
  if (!has_enough_rows(space_)) return false;
  const bool shared = shares_columns(lowering_, {space_.shape, space_.reduced, strides_});
  if (!shared && !rows_lie_together(space_, strides_)) return false;
  if (is_element(ref) || lowering_.options.group_lanes == 0)
    return is_element(ref) && own == strides_;
  return element_count(type.shape) == element_count(space_.shape) &&
         own == contiguous_strides(type.shape) && strides_ == contiguous_strides(space_.shape);
}

void RowNest::build() {
  if (space_.rows() == 0) return;
  std::size_t stages = 0;
  for (const Reduction& reduction : reductions_) stages = std::max(stages, reduction.stage + 1);
  const Lowering::LocationScope scope(lowering_, reductions_.front().nest.node);
  for_each_reduction(lowering_, {space_.shape, space_.reduced, strides_}, [&](Reducer& reducer) {
    for (std::size_t stage = 0; stage < stages; ++stage) reduce_stage(stage, reducer);
    for (const ValueRef& ref : row_outputs_) write_row(ref, reducer);
    if (!element_outputs_.empty())
      reducer.for_each([&](const Indices& at) { write(element_outputs_, at); });
  });
}

// Computes the reductions of one stage, pass by pass in shared loops.
void RowNest::reduce_stage(std::size_t stage, Reducer& reducer) {
  std::vector<const Reduction*> together;
  std::size_t passes = 0;
  for (const Reduction& reduction : reductions_) {
    if (reduction.stage != stage) continue;
    together.push_back(&reduction);
    passes = std::max(passes, reduction.reduce.passes.size());
  }
  std::vector<RowReduction::Totals> totals(together.size());
  for (std::size_t pass = 0; pass < passes; ++pass) {
    std::vector<Accumulation> reductions;
    std::vector<std::size_t> whose;
    for (std::size_t r = 0; r < together.size(); ++r) {
      if (pass >= together[r]->reduce.passes.size()) continue;
      for (Accumulation& reduce : together[r]->reduce.passes[pass](totals[r])) {
        reductions.push_back(std::move(reduce));
        whose.push_back(r);
      }
    }
    const bool first = stage == 0 && pass == 0;
    const std::vector<ScalarExpr> found =
        reducer.reduce(std::move(reductions), [&](const Indices& at) {
          if (first) write_early(at);
        });
    for (std::size_t n = 0; n < found.size(); ++n) totals[whose[n]].push_back(found[n]);
  }
  for (std::size_t r = 0; r < together.size(); ++r) bind_element(*together[r], totals[r], reducer);
}

void RowNest::bind_element(const Reduction& reduction, const RowReduction::Totals& totals,
                           const Reducer& reducer) {
  const std::vector<ScalarExpr> results = reduction.reduce.results(totals);
  for (std::size_t o = 0; o < results.size(); ++o) {
    const ValueRef ref = reduction.nest.output(o);
    if (!lowering_.type(ref).exists()) continue;
    const ScalarExpr element = lowering_.rounded(results[o], lowering_.type(ref).dtype);
    if (lowering_.is_materialized(ref)) {
      const std::size_t rank = lowering_.type(ref).shape.size();
      lowering_.write(ref, reduced_index(reducer.at(), space_.reduced, rank), element);
    }
    lowering_.bind_element(ref, element);
  }
}

void RowNest::write(const std::vector<ValueRef>& outputs, const Indices& at) const {
  for (const ValueRef& ref : outputs) lowering_.write_computed(ref, at);
}

void RowNest::write_early(const Indices& at) const {
  for (const ValueRef& ref : early_) {
    if (is_element(ref)) {
      write({ref}, at);
      continue;
    }
    const Index position = linearize(at, space_.shape);
    write({ref},
          index_at_offset(output_layout(lowering_.type(ref)), position, lowering_.builder()));
  }
}

void RowNest::write_row(const ValueRef& ref, const Reducer& reducer) const {
  const std::size_t rank = lowering_.type(ref).shape.size();
  write({ref}, reduced_index(reducer.at(), space_.reduced, rank));
}

}  // namespace recut::loop
