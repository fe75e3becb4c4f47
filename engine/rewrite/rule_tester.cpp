// Tests a rule by itself: draws graphs that match (sampler.h), rewrites each, and compares both
// sides under the interpreter on ordinary, edge and special values. A rewrite must also converge,
// verify, and keep every result's type. A rule without a matching graph fails. A failure carries
// its graph and seed, so it repeats. A proof would be stronger, but needs the semantics of every
// operator in a logic; tests need only the kernels.
#include "engine/rewrite/rule_tester.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/ir/verifier.h"
#include "engine/rewrite/rewriter.h"
#include "engine/rewrite/sample_values.h"
#include "engine/rewrite/sampler.h"
#include "engine/support/hash.h"

namespace recut {
namespace {

std::string in_one_line(const Graph& graph) {
  std::string line;
  for (const NodeId id : graph.order()) line += (line.empty() ? "" : "; ") + print_node(graph, id);
  return line;
}

class RowTester {
 public:
  RowTester(const RuleSet& rules, std::size_t row, const RuleTestOptions& options)
      : row_(rules.rows[row]), options_(options) {
    test_.rule = row_.name;
    for (const Rule& rule : rules.rules)
      if (rule.row == row) forms_.push_back(&rule), find_external(rule);
    test_.forms = static_cast<int>(forms_.size());
  }

  RuleTest run() {
    if (!test_.untested.empty()) return std::move(test_);
    for (const Rule* form : forms_) {
      // The samples of a row are shared among its forms, at least two each.
      const int before = test_.samples;
      const int target = std::max(2, options_.samples / test_.forms);
      try_form(*form, target);
      if (test_.samples > before) ++test_.forms_fired;
      if (!test_.failure.empty()) return std::move(test_);
    }
    if (test_.samples == 0)
      test_.failure = fmt::format("no graph of {} that were drawn matches: give it a 'sample' line",
                                  options_.attempts * test_.forms);
    else if (test_.comparisons == 0)
      test_.failure = "no sample of it can be evaluated: " + refused_;
    return std::move(test_);
  }

 private:
  void find_external(const Rule& rule) {
    for (const PatternNode& node : rule.pattern)
      if (node.kind == PatternNode::Kind::call && is_external(node.op->op))
        test_.untested = fmt::format("Recut has no values of {} to compare with", node.op->name);
  }

  void try_form(const Rule& form, int target) {
    RuleSet alone;
    alone.rows = {row_};
    alone.add(form);
    alone.rules.front().row = 0;
    SampleRandom random(hash_text(options_.seed, row_.name));
    const int before = test_.samples;
    for (int attempt = 0; attempt < attempts(form); ++attempt) {
      if (test_.samples - before >= target || !test_.failure.empty()) return;
      const auto sample = sample_graph(form, random, sample_of(form, attempt));
      if (sample && seen_.insert(in_one_line(*sample)).second) try_sample(alone, *sample);
    }
  }

  // The forms of a row with samples of its own share the attempts. Most forms of a row with a
  // hundred contradict themselves (of two @optional calls that share a variable, one must be
  // present).
  int attempts(const Rule& form) const {
    return form.samples.empty() ? options_.attempts : std::max(64, options_.attempts / test_.forms);
  }

  // Alternates the row's own samples with unconstrained graphs.
  static const RuleSample* sample_of(const Rule& form, int attempt) {
    if (form.samples.empty() || attempt % 2 == 1) return nullptr;
    return &form.samples[static_cast<std::size_t>(attempt / 2) % form.samples.size()];
  }

  void try_sample(const RuleSet& alone, const Graph& sample) {
    const Rewritten after = apply_rules(sample, alone);
    const RuleStatistics& statistics = after.statistics.front();
    if (statistics.untyped > 0)
      return fail(sample, "the replacement does not fit: " + statistics.untyped_reason);
    if (!after.changed) return;
    if (!after.converged) return fail(sample, "the rule matches its own result without end");
    if (const Failures failures = verify(after.graph); !failures.empty())
      return fail(sample, "the replacement is unsound:\n" + print(after.graph, failures));
    ++test_.samples;
    test_.tried.push_back(in_one_line(sample));
    for (const SampleValues values :
         {SampleValues::ordinary, SampleValues::edge, SampleValues::special})
      for (const std::uint64_t seed : {1, 2})
        if (is_promised(values)) compare(sample, after.graph, values, seed);
  }

  // An inexact row is not compared on edge values. It may promise that a NaN or an infinity stays
  // non-finite, which the special values test.
  bool is_promised(SampleValues values) const {
    if (values == SampleValues::special) return row_.inexact && row_.defined.empty();
    return values == SampleValues::ordinary || !row_.inexact;
  }

  // Values may be out of an operator's range (an index); such a sample is skipped.
  void compare(const Graph& before, const Graph& after, SampleValues values, std::uint64_t seed) {
    if (!test_.failure.empty()) return;
    const Inputs inputs = sample_inputs(before, hash_mix(options_.seed, seed), values);
    EvaluateOptions evaluation;
    evaluation.seed = seed;
    const auto expected = evaluate(before, inputs, evaluation);
    if (!expected) {
      refused_ = format(expected.diagnostics());
      return;
    }
    const auto found = evaluate(after, inputs, evaluation);
    if (!found)
      return fail(before, "the replacement can't be evaluated: " + format(found.diagnostics()));
    ++test_.comparisons;
    if (values == SampleValues::special) {
      const std::string problem = nonfinite_mismatch(expected->outputs, found->outputs);
      if (!problem.empty()) fail(before, said_of(problem, "special", seed, after));
      return;
    }
    const auto comparison = compare_sides(expected->outputs, found->outputs, row_.inexact);
    test_.worst = std::max(test_.worst, comparison.used);
    if (!comparison.problem.empty())
      fail(before, said_of(comparison.problem, values == SampleValues::edge ? "edge" : "ordinary",
                           seed, after));
  }

  static std::string said_of(const std::string& problem, const char* values, std::uint64_t seed,
                             const Graph& after) {
    return fmt::format("{}, of {} values with seed {}, after\n{}", problem, values, seed,
                       print(without_dead_nodes(after)));
  }

  void fail(const Graph& sample, const std::string& what) {
    test_.failure = fmt::format("on\n{}{}", print(sample), what);
  }

  const RuleRow& row_;
  const RuleTestOptions& options_;
  std::vector<const Rule*> forms_;
  std::set<std::string> seen_;
  std::string refused_;  // the interpreter's last error on a sample
  RuleTest test_;
};

}  // namespace

RuleTest test_rule(const RuleSet& rules, std::size_t row, const RuleTestOptions& options) {
  return RowTester(rules, row, options).run();
}

std::vector<RuleTest> test_rules(const RuleSet& rules, const RuleTestOptions& options) {
  std::vector<RuleTest> tests;
  for (std::size_t row = 0; row < rules.rows.size(); ++row)
    tests.push_back(test_rule(rules, row, options));
  return tests;
}

}  // namespace recut
