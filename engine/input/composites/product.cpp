// Sums of products by an equation (einsum).
//
// einsum names each dimension by a letter: "bij,bjk->bik". Operands are multiplied from left to
// right; of two, letters that both have and that are read later are the batch of a bmm, letters
// that both have and that aren't read later are summed by it, and the others are rows and columns.
// So no product is larger than a result of its pair. "..." stands for dimensions that broadcast.
#include "engine/input/composite_operators.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>

namespace recut {
namespace {

using Labels = std::vector<int>;  // a letter, or 256 and more for the dimensions of "..."

constexpr int kEllipsisLabel = 256;
constexpr std::size_t kMaxEinsumOperands = 32;

struct Term {
  Value value;
  Labels labels;  // by dimension
};

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// The letters of one operand; "..." becomes as many labels as dimensions are left, which count from
// the last one. None if the text doesn't fit.
std::optional<Labels> labels_of(std::string_view text, std::int64_t rank) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (text.substr(i, 3) == "...") {
      std::int64_t letters = 0;
      for (const char other : text) letters += other != '.' && other != ' ' ? 1 : 0;
      for (std::int64_t d = rank - letters; d-- > 0;)
        labels.push_back(kEllipsisLabel + static_cast<int>(d));
      i += 2;
      continue;
    }
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return std::nullopt;
    labels.push_back(c);
  }
  if (static_cast<std::int64_t>(labels.size()) != rank) return std::nullopt;
  return labels;
}

class Einsum {
 public:
  Einsum(Builder& b, std::string_view equation, const std::vector<NodeId>& operands)
      : b_(b), equation_(equation) {
    for (const NodeId id : operands) terms_.push_back({b.value(id), {}});
  }

  Value run() {
    if (!read())
      return b_.fail(fmt::format("the equation '{}' doesn't fit the operands", equation_));
    for (Term& term : terms_) take_diagonals(term);
    if (!broadcast_all()) return b_.fail(fmt::format("'{}': sizes don't agree", equation_));
    if (b_.diagnostic()) return {};
    Term whole = terms_.front();
    for (std::size_t i = 1; i < terms_.size(); ++i) whole = product(whole, terms_[i], i + 1);
    sum_unread(whole, terms_.size());
    return in_order(whole, out_);
  }

 private:
  bool read() {
    const std::size_t arrow = equation_.find("->");
    std::string_view left = equation_.substr(0, arrow);
    if (terms_.empty() || terms_.size() > kMaxEinsumOperands) return false;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const std::size_t comma = left.find(',');
      if ((comma == std::string_view::npos) != (i + 1 == terms_.size())) return false;
      auto labels = labels_of(left.substr(0, comma), terms_[i].value.rank());
      if (!labels) return false;
      terms_[i].labels = std::move(*labels);
      left.remove_prefix(comma == std::string_view::npos ? left.size() : comma + 1);
    }
    return arrow == std::string_view::npos ? read_implicit_result()
                                           : read_result(equation_.substr(arrow + 2));
  }

  std::size_t ellipsis_dims() const {
    int dims = 0;
    for (const Term& term : terms_)
      for (const int label : term.labels) dims = std::max(dims, label - kEllipsisLabel + 1);
    return static_cast<std::size_t>(std::max(dims, 0));
  }

  bool read_result(std::string_view text) {
    std::size_t letters = 0;
    for (const char c : text) letters += c != '.' && c != ' ' ? 1 : 0;
    const bool dots = text.find("...") != std::string_view::npos;
    const auto labels =
        labels_of(text, static_cast<std::int64_t>(letters + (dots ? ellipsis_dims() : 0)));
    if (!labels) return false;
    out_ = *labels;
    for (const int label : out_)
      if (std::count(out_.begin(), out_.end(), label) > 1 ||
          std::none_of(terms_.begin(), terms_.end(),
                       [&](const Term& term) { return contains(term.labels, label); }))
        return false;
    return true;
  }

  // Without an arrow: the dimensions of "...", then the letters that stand once, in order.
  bool read_implicit_result() {
    Labels all;
    for (const Term& term : terms_) all.insert(all.end(), term.labels.begin(), term.labels.end());
    for (std::size_t d = ellipsis_dims(); d-- > 0;)
      out_.push_back(kEllipsisLabel + static_cast<int>(d));
    Labels once;
    for (const int label : all)
      if (label < kEllipsisLabel && std::count(all.begin(), all.end(), label) == 1)
        once.push_back(label);
    std::sort(once.begin(), once.end());
    out_.insert(out_.end(), once.begin(), once.end());
    return true;
  }

  // A letter that stands twice in an operand is its diagonal.
  void take_diagonals(Term& term) {
    for (std::size_t i = 0; i < term.labels.size(); ++i)
      for (std::size_t j = term.labels.size(); j-- > i + 1;) {
        if (term.labels[i] != term.labels[j]) continue;
        const int label = term.labels[i];
        term.value = b_(Op::diagonal, {term.value, 0, static_cast<std::int64_t>(i),
                                       static_cast<std::int64_t>(j)});
        term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(j));
        term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(i));
        term.labels.push_back(label);  // the diagonal is the last dimension
        j = term.labels.size();
      }
  }

  // A size of 1 gives way to another one.
  void read_sizes() {
    for (const Term& term : terms_)
      for (std::size_t d = 0; d < term.labels.size(); ++d) {
        std::int64_t& size = sizes_.emplace(term.labels[d], 1).first->second;
        if (term.value.shape()[d] != 1) size = term.value.shape()[d];
      }
  }
  std::int64_t size_of(int label) const { return sizes_.at(label); }

  bool broadcast_all() {
    for (const Term& term : terms_)
      if (!term.value.valid()) return true;  // the builder has the reason
    read_sizes();
    for (Term& term : terms_) {
      Shape shape = term.value.shape();
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const std::int64_t size = size_of(term.labels[d]);
        if (shape[d] != 1 && shape[d] != size) return false;
        shape[d] = size;
      }
      term.value = b_.expand(term.value, shape);
    }
    return true;
  }

  bool is_read(int label, std::size_t from) const {
    if (contains(out_, label)) return true;
    return std::any_of(terms_.begin() + static_cast<std::ptrdiff_t>(from), terms_.end(),
                       [&](const Term& term) { return contains(term.labels, label); });
  }

  // Sums the dimensions that neither the result nor a term from `from` on reads.
  void sum_unread(Term& term, std::size_t from, const Labels& kept = {}) {
    std::vector<std::int64_t> dims;
    Labels left;
    for (std::size_t d = 0; d < term.labels.size(); ++d)
      if (is_read(term.labels[d], from) || contains(kept, term.labels[d]))
        left.push_back(term.labels[d]);
      else
        dims.push_back(static_cast<std::int64_t>(d));
    if (!dims.empty()) term.value = b_.sum(term.value, dims);
    term.labels = left;
  }

  Value in_order(const Term& term, const Labels& order) {
    std::vector<std::int64_t> dims;
    bool moved = false;
    for (const int label : order) {
      const auto at = std::find(term.labels.begin(), term.labels.end(), label);
      dims.push_back(at - term.labels.begin());
      moved = moved || dims.back() + 1 != static_cast<std::int64_t>(dims.size());
    }
    return moved ? b_.permute(term.value, dims) : term.value;
  }

  std::int64_t count_of(const Labels& labels) const {
    std::int64_t count = 1;
    for (const int label : labels) count *= size_of(label);
    return count;
  }

  Term product(Term a, Term c, std::size_t from) {
    sum_unread(a, from, c.labels);
    sum_unread(c, from, a.labels);
    Labels batch, rows, columns, summed;
    for (const int label : a.labels)
      (!contains(c.labels, label) ? rows : is_read(label, from) ? batch : summed).push_back(label);
    for (const int label : c.labels)
      if (!contains(a.labels, label)) columns.push_back(label);
    const auto joined = [](std::initializer_list<const Labels*> lists) {
      Labels all;
      for (const Labels* list : lists) all.insert(all.end(), list->begin(), list->end());
      return all;
    };
    const std::int64_t n = count_of(batch), m = count_of(rows), k = count_of(summed),
                       p = count_of(columns);
    const Value left = b_.view(in_order(a, joined({&batch, &rows, &summed})), {n, m, k});
    const Value right = b_.view(in_order(c, joined({&batch, &summed, &columns})), {n, k, p});
    Term made{b_(Op::bmm, {left, right}), joined({&batch, &rows, &columns})};
    Shape shape;
    for (const int label : made.labels) shape.push_back(size_of(label));
    made.value = b_.view(made.value, shape);
    return made;
  }

  Builder& b_;
  std::string_view equation_;
  std::vector<Term> terms_;
  Labels out_;
  std::map<int, std::int64_t> sizes_;
};

Expansion einsum(Builder& b, const Call& call) {
  return Einsum(b, call.text("equation"), call.nodes("tensors")).run();
}

}  // namespace

std::vector<CompositeRow> product_composites() {
  return {
      {"aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", einsum},
  };
}

}  // namespace recut
