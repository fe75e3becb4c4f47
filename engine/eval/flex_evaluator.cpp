// Attention by its definition: the nested graphs run once for each score, and all sums are in f64.
//
//   score(b, h, m, n) = "score"(scale * q[b, h, m] · k[b, h', n], b, h, m, n), or -inf if masked
//   out[b, h, m]      = sum over n of softmax(score)(n) * v[b, h', n]
#include "engine/eval/flex_evaluator.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "engine/ir/flex_attention.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr double kLog2 = 0.693147180559945309417;
constexpr double kHidden = -std::numeric_limits<double>::infinity();

// Nodes that depend on the leading inputs, which differ from score to score; by position.
std::vector<bool> differing_nodes(const Graph& region, std::size_t scalars) {
  std::vector<bool> differs(region.order().size(), false);
  for (std::size_t i = 0; i < scalars; ++i) differs[region.position(region.inputs()[i])] = true;
  for (const NodeId id : region.order())
    for (const NodeId operand : region[id].operands)
      if (differs[region.position(operand)]) differs[region.position(id)] = true;
  return differs;
}

// A place among the scores.
struct ScorePlace {
  std::int64_t batch, head, query, key;
};

class FlexRun {
 public:
  FlexRun(const Graph& graph, NodeId id, const KernelContext::ValuesOf& values_of,
          const EvaluateOptions& options, std::span<Tensor> outputs)
      : graph_(graph),
        flex_(*flex_attention(graph[id])),
        values_of_(values_of),
        options_(options),
        progress_(options.progress),
        outputs_(outputs),
        q_(reals(flex_.query)),
        k_(reals(flex_.key)),
        v_(reals(flex_.value)),
        group_(q_.shape[1] / k_.shape[1]) {
    options_.progress = nullptr;
  }

  Result<Done> run() {
    const DType scores = flex_score_dtype(graph_.type(flex_.query).dtype);
    auto score = flex_scalar_graph(*graph_.region(flex_.score), {0}, scores);
    auto mask = flex_scalar_graph(*graph_.region(flex_.mask), {}, scores);
    if (!score) return score.diagnostics();
    if (!mask) return mask.diagnostics();
    score_ = std::move(*score);
    mask_ = std::move(*mask);
    if (!flex_.backward) return run_forward();
    auto joint = flex_scalar_graph(*graph_.region(flex_.joint), {0, 5}, scores);
    if (!joint) return joint.diagnostics();
    joint_ = std::move(*joint);
    return run_backward();
  }

 private:
  Reals reals(NodeId id) const { return unpack<double>(values_of_(id).front()); }

  std::int64_t keys() const { return k_.shape[2]; }

  // The first element of a row [b, h, m] of a tensor of four dimensions. A batch of one serves all,
  // and a head of keys several heads of queries.
  static std::int64_t row(const Reals& of, std::int64_t b, std::int64_t h, std::int64_t m) {
    const std::int64_t batch = of.shape[0] == 1 ? 0 : b;
    return ((batch * of.shape[1] + h) * of.shape[2] + m) * of.shape[3];
  }
  std::int64_t key_row(const Reals& of, const ScorePlace& at) const {
    return row(of, at.batch, at.head / group_, at.key);
  }
  std::int64_t query_row(const Reals& of, const ScorePlace& at) const {
    return row(of, at.batch, at.head, at.query);
  }

  static double dot(const Reals& a, std::int64_t i, const Reals& b, std::int64_t j) {
    double sum = 0;
    for (std::int64_t d = 0; d < a.shape[3]; ++d) sum += a[i + d] * b[j + d];
    return sum;
  }

  static void add_scaled(Reals& to, std::int64_t i, double factor, const Reals& from,
                         std::int64_t j) {
    for (std::int64_t d = 0; d < to.shape[3]; ++d) to[i + d] += factor * from[j + d];
  }

  static Tensor number(const TensorType& type, double value) {
    Tensor tensor = allocate(type, nullptr);
    pack(Reals(Shape{}, value), tensor);
    return tensor;
  }

  Result<std::vector<Tensor>> run_region(const Graph& region, const std::vector<double>& numbers,
                                         const std::vector<NodeId>& buffers) const {
    Inputs inputs;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      inputs[region.inputs()[i]] = number(region.type(region.inputs()[i]), numbers[i]);
    for (std::size_t i = 0; i < buffers.size(); ++i)
      inputs[region.inputs()[numbers.size() + i]] = values_of_(buffers[i]).front();
    auto evaluation = evaluate(region, inputs, options_);
    if (!evaluation)
      return error(fmt::format("nested graph {}: {}", quote(region.name),
                               evaluation.diagnostics().front().message));
    return std::move(evaluation->outputs);
  }

  static std::vector<double> with_place(std::vector<double> numbers, const ScorePlace& at) {
    for (const std::int64_t index : {at.batch, at.head, at.query, at.key})
      numbers.push_back(static_cast<double>(index));
    return numbers;
  }

  // A score before and after its nested graphs.
  struct Score {
    double plain = 0;
    double changed = kHidden;
    bool seen = false;
  };

  Result<Score> score(const ScorePlace& at) const {
    Score score;
    score.plain = flex_.scale * dot(q_, query_row(q_, at), k_, key_row(k_, at));
    const auto seen = run_region(mask_, with_place({}, at), flex_.mask_buffers);
    if (!seen) return seen.diagnostics();
    score.seen = unpack<double>(seen->front())[0] != 0;
    if (!score.seen) return score;
    const auto changed = run_region(score_, with_place({score.plain}, at), flex_.score_buffers);
    if (!changed) return changed.diagnostics();
    score.changed = unpack<double>(changed->front())[0];
    return score;
  }

  // Calls visit(place of the row's first score, scores of the row) for each row.
  template <class Visit>
  Result<Done> for_each_row(Visit visit) {
    std::vector<Score> scores(static_cast<std::size_t>(keys()));
    for (std::int64_t b = 0; b < q_.shape[0]; ++b)
      for (std::int64_t h = 0; h < q_.shape[1]; ++h)
        for (std::int64_t m = 0; m < q_.shape[2]; ++m) {
          if (progress_ && !progress_(0, 1)) return error("the evaluation was ended");
          for (std::int64_t n = 0; n < keys(); ++n) {
            auto made = score({b, h, m, n});
            if (!made) return made.diagnostics();
            scores[static_cast<std::size_t>(n)] = *made;
          }
          if (auto done = visit(ScorePlace{b, h, m, 0}, scores); !done) return done;
        }
    return Done{};
  }

  void give(std::size_t output, const Reals& values) {
    if (output < outputs_.size() && outputs_[output].exists()) pack(values, outputs_[output]);
  }

  Result<Done> run_forward() {
    const Shape rows{q_.shape[0], q_.shape[1], q_.shape[2]};
    Reals out(Shape{rows[0], rows[1], rows[2], v_.shape[3]}), logsumexp(rows), largest(rows);
    std::int64_t at_row = 0;
    auto done = for_each_row([&](ScorePlace at, const std::vector<Score>& scores) -> Result<Done> {
      double most = kHidden, sum = 0;
      for (const Score& s : scores)
        if (!(s.changed <= most)) most = s.changed;
      for (const Score& s : scores) sum += most == kHidden ? 0 : std::exp(s.changed - most);
      for (at.key = 0; at.key < keys(); ++at.key) {
        const double changed = scores[static_cast<std::size_t>(at.key)].changed;
        const double share = most == kHidden ? 0 : std::exp(changed - most) / sum;
        add_scaled(out, query_row(out, at), share, v_, key_row(v_, at));
      }
      logsumexp[at_row] = most == kHidden ? kHidden : (most + std::log(sum)) / kLog2;
      largest[at_row++] = most / kLog2;
      return Done{};
    });
    if (!done) return done;
    give(0, out);
    give(1, logsumexp);
    give(2, largest);
    return Done{};
  }

  Result<Done> run_backward() {
    const Reals out = reals(flex_.out), d_out = reals(flex_.out_gradient),
                logsumexp = reals(flex_.logsumexp);
    const Reals d_logsumexp =
        flex_.logsumexp_gradient.valid() ? reals(flex_.logsumexp_gradient) : Reals(logsumexp.shape);
    const std::vector<bool> differs = differing_nodes(joint_, 6);
    Reals d_q(q_.shape), d_k(k_.shape), d_v(v_.shape);
    std::vector<Reals> d_buffers;
    for (const NodeId id : flex_.score_buffers) d_buffers.emplace_back(graph_.type(id).shape);
    std::int64_t at_row = 0;
    auto done = for_each_row([&](ScorePlace at, const std::vector<Score>& scores) -> Result<Done> {
      const std::int64_t row = query_row(d_out, at);
      const double total = dot(out, row, d_out, row), log_sum = logsumexp[at_row] * kLog2,
                   d_log = d_logsumexp[at_row++] / kLog2;
      for (at.key = 0; at.key < keys(); ++at.key) {
        const Score& s = scores[static_cast<std::size_t>(at.key)];
        const double share = log_sum == kHidden ? 0 : std::exp(s.changed - log_sum);
        add_scaled(d_v, key_row(d_v, at), share, d_out, row);
        const double d_changed = share * (dot(d_out, row, v_, key_row(v_, at)) - total + d_log);
        std::vector<double> numbers = with_place({s.plain}, at);
        numbers.push_back(d_changed);
        const auto gradients = run_region(joint_, numbers, flex_.score_buffers);
        if (!gradients) return gradients.diagnostics();
        add_to_buffers(*gradients, differs, d_buffers);
        if (!s.seen) continue;
        const double d_plain = unpack<double>(gradients->front())[0] * flex_.scale;
        add_scaled(d_q, query_row(d_q, at), d_plain, k_, key_row(k_, at));
        add_scaled(d_k, key_row(d_k, at), d_plain, q_, query_row(q_, at));
      }
      return Done{};
    });
    if (!done) return done;
    give(0, d_q);
    give(1, d_k);
    give(2, d_v);
    for (std::size_t i = 0; i < d_buffers.size(); ++i) give(3 + i, d_buffers[i]);
    return Done{};
  }

  // Gradients of buffers are summed over all scores; one that no score changes counts once.
  void add_to_buffers(const std::vector<Tensor>& gradients, const std::vector<bool>& differs,
                      std::vector<Reals>& sums) const {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const NodeId result = joint_.results[5 + i];
      if (!result.valid()) continue;
      const Reals values = unpack<double>(gradients[5 + i]);
      const bool once = !differs[joint_.position(result)];
      for (std::int64_t e = 0; e < values.count(); ++e)
        sums[i][e] = once ? values[e] : sums[i][e] + values[e];
    }
  }

  const Graph& graph_;
  const FlexAttention flex_;
  const KernelContext::ValuesOf& values_of_;
  EvaluateOptions options_;  // of the nested graphs
  const std::function<bool(std::size_t, std::size_t)> progress_;
  std::span<Tensor> outputs_;
  const Reals q_, k_, v_;
  const std::int64_t group_;  // heads of queries for one of keys
  Graph score_, mask_, joint_;
};

}  // namespace

Result<Done> run_flex_attention(const Graph& graph, NodeId id,
                                const KernelContext::ValuesOf& values_of,
                                const EvaluateOptions& options, std::span<Tensor> outputs) {
  return FlexRun(graph, id, values_of, options, outputs).run();
}

}  // namespace recut
