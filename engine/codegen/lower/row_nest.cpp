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
      const NodeId maker = maker_of(graph, operand);
      if (!lowering_.is_member(maker)) continue;
      const auto known = ready_.find(maker);
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
      const Made made{id, o};
      if (nest_row(graph[id].op).exists() || !lowering_.reaches_memory(made)) continue;
      if (rows_.is_behind(id)) {
        if (continues) (is_element(made) ? element_outputs_ : row_outputs_).push_back(made);
      } else if (shares_first_loop(made)) {
        early_.push_back(made);
      }
    }
  for (const auto* written : {&early_, &row_outputs_, &element_outputs_})
    outputs_.insert(outputs_.end(), written->begin(), written->end());
}

// The reduced operand is written inside the first loop where rows are contiguous or threads share
// each sum. With groups of threads a view in between is fine if it keeps the order of the elements.
bool RowNest::shares_first_loop(const Made& made) const {
  const TensorType& type = lowering_.type(made);
  const Strides& own = made_layout(type).strides;
  if (!has_enough_rows(space_)) return false;
  const bool shared = shares_columns(lowering_, {space_.shape, space_.folded, strides_});
  if (!shared && !rows_lie_together(space_, strides_)) return false;
  if (is_element(made) || lowering_.options.group_lanes == 0)
    return is_element(made) && own == strides_;
  return element_count(type.shape) == element_count(space_.shape) &&
         own == contiguous_strides(type.shape) && strides_ == contiguous_strides(space_.shape);
}

void RowNest::build() {
  if (space_.rows() == 0) return;
  std::size_t stages = 0;
  for (const Reduction& reduction : reductions_) stages = std::max(stages, reduction.stage + 1);
  const Lowering::About about(lowering_, reductions_.front().nest.node);
  for_each_reduction(lowering_, {space_.shape, space_.folded, strides_}, [&](Folder& folder) {
    for (std::size_t stage = 0; stage < stages; ++stage) fold_stage(stage, folder);
    for (const Made& made : row_outputs_) write_row(made, folder);
    if (!element_outputs_.empty())
      folder.for_each([&](const Indices& at) { write(element_outputs_, at); });
  });
}

// Computes the reductions of one stage, pass by pass in shared loops.
void RowNest::fold_stage(std::size_t stage, Folder& folder) {
  std::vector<const Reduction*> together;
  std::size_t passes = 0;
  for (const Reduction& reduction : reductions_) {
    if (reduction.stage != stage) continue;
    together.push_back(&reduction);
    passes = std::max(passes, reduction.fold.passes.size());
  }
  std::vector<RowFold::Totals> totals(together.size());
  for (std::size_t pass = 0; pass < passes; ++pass) {
    std::vector<Folded> folds;
    std::vector<std::size_t> whose;
    for (std::size_t r = 0; r < together.size(); ++r) {
      if (pass >= together[r]->fold.passes.size()) continue;
      for (Folded& fold : together[r]->fold.passes[pass](totals[r])) {
        folds.push_back(std::move(fold));
        whose.push_back(r);
      }
    }
    const bool first = stage == 0 && pass == 0;
    const std::vector<Quantity> found = folder.fold(std::move(folds), [&](const Indices& at) {
      if (first) write_early(at);
    });
    for (std::size_t n = 0; n < found.size(); ++n) totals[whose[n]].push_back(found[n]);
  }
  for (std::size_t r = 0; r < together.size(); ++r) settle(*together[r], totals[r], folder);
}

void RowNest::settle(const Reduction& reduction, const RowFold::Totals& totals,
                     const Folder& folder) {
  const std::vector<Quantity> results = reduction.fold.results(totals);
  for (std::size_t o = 0; o < results.size(); ++o) {
    const Made made = reduction.nest.output(o);
    if (!lowering_.type(made).exists()) continue;
    const Quantity element = lowering_.rounded(results[o], lowering_.type(made).dtype);
    if (lowering_.reaches_memory(made)) {
      const std::size_t rank = lowering_.type(made).shape.size();
      lowering_.write(made, folded_place(folder.at(), space_.folded, rank), element);
    }
    lowering_.settle(made, element);
  }
}

void RowNest::write(const std::vector<Made>& outputs, const Indices& at) const {
  for (const Made& made : outputs) lowering_.write(made, at, lowering_.made_element(made, at));
}

void RowNest::write_early(const Indices& at) const {
  for (const Made& made : early_) {
    if (is_element(made)) {
      write({made}, at);
      continue;
    }
    const Index place = linearised(at, space_.shape);
    write({made}, element_at(made_layout(lowering_.type(made)), place, lowering_.builder()));
  }
}

void RowNest::write_row(const Made& made, const Folder& folder) const {
  const std::size_t rank = lowering_.type(made).shape.size();
  write({made}, folded_place(folder.at(), space_.folded, rank));
}

}  // namespace recut::loop
