// Judges the outputs of a compiled step by the same graph in f64.
//
// The interpreter evaluates the graph twice: in f64 (double_graph.h), which is the reference, and
// in the graph's own dtypes, whose error shows how much rounding matters. An output has to keep one
// of these bounds, by its norm and in every element:
//
//   dtype        the relative and absolute error of compare.h; an element may have four times that
//                of its own magnitude and of the output's root mean square
//   interpreter  in addition 16 times the error of the interpreter in the graph's own dtypes: of
//                that element and of the root mean square
//   perturbed    in addition 4 times the change of the output under random rounding (kernel.h) of
//                2^-18: of the norm and of the largest element
//
// The graph is evaluated under random rounding, twice with opposite signs, only if an output
// exceeds the first two bounds. Values at a threshold (a relu, a maximum, an index) are why: there
// the step and the interpreter differ completely, and both are right.
//
// Integers and bools keep the first bound where all are equal, and the second where each equals one
// of the two evaluations. They keep the third where each other element changes under random
// rounding. A fraction may fail to: one element for four that change.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/support/result.h"

namespace recut {

struct Accuracy {
  std::vector<OutputComparison> outputs;  // one for each output that exists
  // The reason for a reference in the graph's own dtypes, where the second bound is missing; "": the
  // reference is in f64.
  std::string no_f64;
};

// `found`: the step's outputs for these inputs and this seed. `allowed`: see compare.h; it scales
// the random rounding, too. Fails if the interpreter can't evaluate the graph in its own dtypes,
// and if `options.progress` ends it.
Result<Accuracy> judge_outputs(const Graph& graph, const Inputs& inputs,
                               const EvaluateOptions& options, std::span<const Tensor> found,
                               double allowed = 0);

// One evaluation of the judged outputs: in f64, or in its own dtypes; with a share, under random rounding
// (kernel.h) of inputs and values.
struct EvaluationForm {
  bool f64 = false;
  std::optional<double> random_share;
};
using EvaluateForm = std::function<Result<std::vector<Tensor>>(const EvaluationForm& form)>;

// The name of an output that is judged.
struct JudgedOutput {
  std::string name;  // of the node
  bool gradient = false;
};

// The same of outputs that `evaluate` gives, in any order that `found` has, such as those of several
// ranks. `outputs`: one for each.
Result<Accuracy> judge_outputs(std::span<const JudgedOutput> outputs, const EvaluateForm& evaluate,
                               std::span<const Tensor> found, double allowed = 0);

// "dtype", "interpreter", "perturbed", "exceeded".
std::string_view name_of(ErrorBound bound);

// One line: the output, its error beside the interpreter's own, and its worst element.
std::string accuracy_text(const OutputComparison& output);

}  // namespace recut
