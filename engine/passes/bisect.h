// Which pass, and which change of it, makes a graph fail a check.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "engine/passes/pass.h"
#include "engine/passes/pipeline_report.h"
#include "engine/support/result.h"

namespace recut {

// Whether a graph is good. Fails where that can't be found out, which ends the search.
using GraphCheck = std::function<Result<bool>(const Graph& graph)>;

struct Bisection {
  enum class Verdict : std::uint8_t {
    all_good,        // the check holds after every pass, too
    input_bad,       // it fails before the first
    guilty_pass,     // it fails after `pass`, whose changes can't be told apart
    guilty_change,   // it fails with `change` of `pass`, and holds without
    broken_promise,  // `pass` left no sound graph: `failure` says what is wrong with it
  };
  Verdict verdict = Verdict::all_good;
  std::string pass;
  std::optional<Change> change;
  std::string node;               // the name that `change->before` had before the pass
  std::size_t change_number = 0;  // from 1, of `changes`
  std::size_t changes = 0;        // that the pass made in all
  std::string failure;
  std::size_t checks = 0;     // how often the check was asked
  std::optional<Graph> good;  // the last graph that passes the check …
  std::optional<Graph> bad;   // … and the first that fails it
};

// Halves the number of passes, then the number of changes of the guilty pass. Between a good
// beginning and a bad end there is always a step from good to bad, which is what is found, whether
// or not good and bad alternate in between. The pass's changes are made one by one in its own
// order: the nodes up to one are as the pass left them, those after it as it found them. Where that
// gives no sound graph, or all changes together are not what the pass made, only the pass is named.
Result<Bisection> bisect_passes(const Graph& graph, std::span<const Pass> passes,
                                const RunnerOptions& options, const GraphCheck& check);

// `from` with the first `count` changes that a pass made of it; nothing where they can't stand
// without the others.
std::optional<Graph> with_changes(const Graph& from, const PassReport& pass, std::size_t count);

}  // namespace recut
