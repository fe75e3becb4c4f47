// Bisection of passes: finds the pass, and the change within it, that makes a graph fail a check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "engine/input/safetensors.h"
#include "engine/passes/pass.h"
#include "engine/passes/pipeline_report.h"
#include "engine/support/result.h"

namespace recut {

// Tells whether a graph is good. An error ends the search.
using GraphCheck = std::function<Result<bool>(const Graph& graph)>;

struct Bisection {
  enum class Verdict : std::uint8_t {
    all_good,            // the check holds after every pass
    input_bad,           // the check fails before the first pass
    guilty_pass,         // it fails after `pass`, whose changes cannot be separated
    guilty_change,       // it fails with `change` of `pass` and holds without it
    contract_violation,  // `pass` violated the pass contract, as `failure` describes
  };
  Verdict verdict = Verdict::all_good;
  std::string pass;
  std::optional<Change> change;
  std::string node;               // the name that `change->before` had before the pass
  std::size_t change_number = 0;  // from 1, of `changes`
  std::size_t changes = 0;        // the number of changes of the pass
  std::string failure;
  std::size_t checks = 0;     // the number of calls of the check
  std::optional<Graph> good;  // the last graph that passes the check …
  std::optional<Graph> bad;   // … and the first that fails it
};

// Binary search over passes, then over the changes of the guilty pass: O(log passes + log changes)
// checks. It finds a step from good to bad, which exists between a good start and a bad end even if
// good and bad alternate. Changes apply in the pass's order: nodes up to one change are as after
// the pass, later ones as before it. If such a graph is unsound, or all changes together do not
// give the pass's result, only the pass is reported.
Result<Bisection> bisect_passes(const Graph& graph, std::span<const Pass> passes,
                                const RunnerOptions& options, const GraphCheck& check);

// `from` with the first `count` changes of a pass; nullopt if they cannot be applied without the
// others.
std::optional<Graph> with_changes(const Graph& from, const PassReport& pass, std::size_t count);

// The check by values: it accepts graphs on the pool of `original` whose evaluated outputs agree
// with those of `original`, within the tolerance of engine/eval/compare.h. `tensors` are input
// values, in.<name>; `seed` generates missing ones, and without it they are an error. Fails if
// `original` can't be evaluated; the check rejects any later graph that can't be.
Result<GraphCheck> same_values_check(const Graph& original, std::span<const NamedTensor> tensors,
                                     std::optional<std::uint64_t> seed);

}  // namespace recut
