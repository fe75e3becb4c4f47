// Einsum: operands are contracted one after another, each pair as one batched product. A dimension
// has a label: its letter, or its place from the right in the ellipsis. Before a product, dimensions
// that nothing else reads are summed.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/onnx/lowering.h"
#include "engine/support/text.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using Labels = std::vector<int>;

constexpr int kEllipsis = 256;  // and more: the ellipsis' dimensions, from the right

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// A value with a label for each dimension.
struct Labelled {
  NodeId id;
  Labels labels;
};

class Einsum {
 public:
  explicit Einsum(Lowering& node) : node_(node) {}

  Lowered run() {
    read_equation();
    Labelled sum = operands_.front();
    sum_out(sum, read_after(0));
    for (std::size_t i = 1; i < operands_.size(); ++i)
      sum = product(sum, operands_[i], read_after(i));
    if (operands_.size() == 1) sum_out(sum, output_);
    return Lowering::one(node_, permuted(sum, output_));
  }

 private:
  [[noreturn]] void refuse_equation(std::string_view why) const {
    node_.refuse(fmt::format("equation {}: {}", quote(equation_), why));
  }

  void read_equation() {
    equation_ = node_.text("equation", "");
    std::string text = equation_;
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const std::size_t arrow = text.find("->");
    const std::string inputs = text.substr(0, arrow);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < node_.inputs(); ++i) {
      if (begin > inputs.size()) refuse_equation("it has fewer terms than the node has inputs");
      const std::size_t end = std::min(inputs.find(',', begin), inputs.size());
      add_operand(i, std::string_view(inputs).substr(begin, end - begin));
      begin = end + 1;
    }
    if (begin <= inputs.size()) refuse_equation("it has more terms than the node has inputs");
    if (operands_.empty()) refuse_equation("the node has no inputs");
    if (arrow == std::string::npos)
      output_ = implicit_output();
    else
      output_ = labels_of(std::string_view(text).substr(arrow + 2), ellipsis_);
    for (std::size_t i = 0; i < output_.size(); ++i)
      if (sizes_.count(output_[i]) == 0 ||
          std::count(output_.begin(), output_.end(), output_[i]) > 1)
        refuse_equation("a letter of the result is in no term, or stands twice");
    for (Labelled& operand : operands_) broadcast_ellipsis(operand);
  }

  // `ellipsis`: the dimensions that "..." stands for.
  Labels labels_of(std::string_view term, std::int64_t ellipsis) const {
    Labels labels;
    bool dotted = false;
    for (std::size_t i = 0; i < term.size(); ++i) {
      const char c = term[i];
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        labels.push_back(c);
      } else if (term.substr(i, 3) == "..." && !dotted) {
        dotted = true;
        for (std::int64_t d = ellipsis; d-- > 0;) labels.push_back(kEllipsis + static_cast<int>(d));
        i += 2;
      } else {
        refuse_equation("it has other characters than letters, commas, '->' and one '...' a term");
      }
    }
    return labels;
  }

  void add_operand(std::size_t input, std::string_view term) {
    const std::int64_t rank = node_.rank(input);
    const bool dots = term.find("...") != std::string_view::npos;
    const std::int64_t letters = static_cast<std::int64_t>(term.size()) - (dots ? 3 : 0);
    if (letters > rank || (!dots && letters != rank))
      refuse_equation(fmt::format("term {} for {} dimensions", quote(term), rank));
    Labelled operand{node_.in(input), labels_of(term, rank - letters)};
    if (dots) ellipsis_ = std::max(ellipsis_, rank - letters);
    take_diagonals(operand);
    for (std::size_t d = 0; d < operand.labels.size(); ++d) {
      const std::int64_t size = node_.shape(operand.id)[d];
      const auto [known, fresh] = sizes_.emplace(operand.labels[d], size);
      const bool stretches = operand.labels[d] >= kEllipsis && (size == 1 || known->second == 1);
      if (!fresh && known->second != size && !stretches)
        refuse_equation(fmt::format("a dimension of {} and {} elements", known->second, size));
      if (!fresh && stretches && known->second == 1) known->second = size;
    }
    operands_.push_back(std::move(operand));
  }

  // A letter that stands twice in a term: the diagonal of both dimensions, at the end.
  void take_diagonals(Labelled& operand) {
    for (std::size_t i = 0; i < operand.labels.size();) {
      const auto again = std::find(operand.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                   operand.labels.end(), operand.labels[i]);
      if (again == operand.labels.end()) {
        ++i;
        continue;
      }
      const auto j = static_cast<std::size_t>(again - operand.labels.begin());
      if (node_.shape(operand.id)[i] != node_.shape(operand.id)[j])
        refuse_equation("a diagonal of dimensions that differ");
      operand.id = node_.make(Op::diagonal, {operand.id, 0, static_cast<std::int64_t>(i),
                                             static_cast<std::int64_t>(j)});
      const int label = operand.labels[i];
      operand.labels.erase(again);
      operand.labels.erase(operand.labels.begin() + static_cast<std::ptrdiff_t>(i));
      operand.labels.push_back(label);
    }
  }

  void broadcast_ellipsis(Labelled& operand) {
    Shape shape = node_.shape(operand.id);
    for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = sizes_.at(operand.labels[d]);
    if (shape != node_.shape(operand.id))
      operand.id = node_.make(Op::expand, {operand.id, Argument(shape)});
  }

  // The ellipsis, then each letter that stands once, in alphabetical order.
  Labels implicit_output() const {
    Labels labels;
    for (std::int64_t d = ellipsis_; d-- > 0;) labels.push_back(kEllipsis + static_cast<int>(d));
    std::map<int, int> letters;
    for (const char c : equation_)
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) ++letters[c];
    for (const auto& [letter, count] : letters)
      if (count == 1) labels.push_back(letter);
    return labels;
  }

  // Labels that the result or an operand behind `last` has.
  Labels read_after(std::size_t last) const {
    Labels labels = output_;
    for (std::size_t i = last + 1; i < operands_.size(); ++i)
      labels.insert(labels.end(), operands_[i].labels.begin(), operands_[i].labels.end());
    return labels;
  }

  void sum_out(Labelled& operand, const Labels& kept) {
    Ints axes;
    Labels rest;
    for (std::size_t d = 0; d < operand.labels.size(); ++d)
      if (contains(kept, operand.labels[d]))
        rest.push_back(operand.labels[d]);
      else
        axes.push_back(static_cast<std::int64_t>(d));
    if (axes.empty()) return;
    const DType dtype = node_.type(operand.id).dtype;
    operand.id =
        node_.convert(node_.make(Op::sum_dim_IntList, {operand.id, Argument(axes), false}), dtype);
    operand.labels = std::move(rest);
  }

  NodeId permuted(const Labelled& operand, const Labels& order) {
    Ints axes;
    for (const int label : order)
      axes.push_back(std::find(operand.labels.begin(), operand.labels.end(), label) -
                     operand.labels.begin());
    if (std::is_sorted(axes.begin(), axes.end())) return operand.id;
    return node_.make(Op::permute, {operand.id, Argument(axes)});
  }

  std::int64_t count(const Labels& labels) const {
    std::int64_t product = 1;
    for (const int label : labels) product *= sizes_.at(label);
    return product;
  }

  // Of both operands, without the labels that aren't in `kept`.
  Labelled product(Labelled a, Labelled b, const Labels& kept) {
    const auto with = [](Labels labels, const Labels& more) {
      labels.insert(labels.end(), more.begin(), more.end());
      return labels;
    };
    sum_out(a, with(kept, b.labels));
    sum_out(b, with(kept, a.labels));
    Labels batch, contracted, left, right;
    for (const int label : a.labels)
      (!contains(b.labels, label) ? left
       : contains(kept, label)    ? batch
                                  : contracted)
          .push_back(label);
    for (const int label : b.labels)
      if (!contains(a.labels, label)) right.push_back(label);
    const std::int64_t batches = count(batch), inner = count(contracted);
    const NodeId rows = node_.reshape(permuted(a, with(with(batch, left), contracted)),
                                      {batches, count(left), inner});
    const NodeId columns = node_.reshape(permuted(b, with(with(batch, contracted), right)),
                                         {batches, inner, count(right)});
    Labelled result{node_.make(Op::bmm, {rows, columns}), with(with(batch, left), right)};
    Shape shape;
    for (const int label : result.labels) shape.push_back(sizes_.at(label));
    result.id = node_.reshape(result.id, shape);
    return result;
  }

  Lowering& node_;
  std::string equation_;
  std::vector<Labelled> operands_;
  std::map<int, std::int64_t> sizes_;
  Labels output_;
  std::int64_t ellipsis_ = 0;
};

Lowered einsum(Lowering& node) { return Einsum(node).run(); }

}  // namespace

std::vector<OperatorLowering> einsum_lowerings() { return {{"Einsum", einsum}}; }

}  // namespace recut::onnx
