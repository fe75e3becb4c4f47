#include "tests/random/attention_writer.h"

#include <limits>
#include <utility>

namespace recut::test {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr double kLowestF32 = -3.4028234663852886e38, kLowestF16 = -65504;  // of f32, of f16

class Writer {
 public:
  Writer(MotifWriter& w, const AttentionForm& form) : w_(w), f_(form) {}

  void write() {
    q3_ = operand(f_.queries, f_.width);
    if (turned_keys()) {
      keys_ = w_.input(f_.dtype, shape(f_.keys, f_.width));
      k3_ = turned(keys_);
    } else {
      k3_ = operand(f_.width, f_.keys);
    }
    v3_ = operand(f_.keys, f_.value_width);
    const NodeId scores = scaled(apart(product(q3_, k3_), f_.queries, f_.keys));
    const NodeId shown = f_.three ? masked_apart(scores) : masked(scores);
    p_ = f_.composite
             ? w_.call("_softmax", {{"self", shown}, {"dim", -1}, {"half_to_float", false}})
             : write_softmax(w_, wide(shown));
    const NodeId weights = wide_dropout() ? few(dropped(p_)) : dropped(f_.composite ? p_ : few(p_));
    p3_ = together(weights, f_.queries, f_.keys);
    product(p3_, v3_);
    if (f_.trained) write_gradients();
  }

 private:
  bool chosen() const { return f_.mask >= Mask::hiding && f_.mask <= Mask::both; }
  bool by_positions() const { return f_.mask >= Mask::causal; }
  bool hides() const { return f_.hides && f_.mask == Mask::causal; }
  bool turned_keys() const { return f_.turned_keys && f_.three; }
  bool wide_dropout() const { return f_.wide_dropout && f_.dtype != DType::f32 && !f_.composite; }
  std::int64_t pairs() const { return f_.batches * f_.heads; }

  NodeId converted(NodeId x, DType dtype) {
    if (f_.dtype == DType::f32) return x;
    return w_.call("prims.convert_element_type", {{"a", x}, {"dtype", dtype}});
  }
  NodeId wide(NodeId x) { return converted(x, DType::f32); }
  NodeId few(NodeId x) { return converted(x, f_.dtype); }

  NodeId number(DType dtype, double value) {
    return w_.call("full", {{"size", Argument(Ints{})}, {"fill_value", value}, {"dtype", dtype}});
  }

  NodeId times(NodeId a, Argument b) {
    return w_.call("mul.Tensor", {{"self", a}, {"other", std::move(b)}});
  }
  NodeId product(NodeId a, NodeId b) { return w_.call("bmm", {{"self", a}, {"mat2", b}}); }
  NodeId viewed(NodeId x, const Ints& size) {
    return w_.call("view", {{"self", x}, {"size", Argument(size)}});
  }
  NodeId turned(NodeId x) {
    return w_.call("permute", {{"self", x}, {"dims", Argument(Ints{0, 2, 1})}});
  }

  // Merges batches and heads into one dimension, or keeps two.
  NodeId together(NodeId x, std::int64_t rows, std::int64_t columns) {
    return f_.three ? x : viewed(x, {pairs(), rows, columns});
  }
  NodeId apart(NodeId x, std::int64_t rows, std::int64_t columns) {
    return f_.three ? x : viewed(x, {f_.batches, f_.heads, rows, columns});
  }

  Shape shape(std::int64_t rows, std::int64_t columns) const {
    if (f_.three) return {pairs(), rows, columns};
    return {f_.batches, f_.heads, rows, columns};
  }
  NodeId operand(std::int64_t rows, std::int64_t columns) {
    NodeId x = w_.input(f_.dtype, shape(rows, columns));
    if (f_.copied && !f_.three) w_.copy(x);
    return together(x, rows, columns);
  }

  NodeId scaled(NodeId x) {
    if (f_.scale == Scale::none) return x;
    const bool multiplied = f_.scale == Scale::multiplied;
    const double factor = multiplied ? 0.5 : 2.0;
    const Argument other = f_.tensor_scale ? Argument(number(f_.dtype, factor)) : Argument(factor);
    return multiplied ? times(x, other) : w_.call("div.Tensor", {{"self", x}, {"other", other}});
  }

  NodeId masked(NodeId x) {
    if (chosen()) {
      choice_ = w_.input(DType::boolean, {f_.queries, f_.keys});
      const double least = item_bytes(f_.dtype) == 2 ? kLowestF16 : kLowestF32;
      x = chosen(number(f_.lowest ? least : -std::numeric_limits<double>::infinity()), x);
    }
    if (f_.mask != Mask::added && f_.mask != Mask::both && !by_positions()) return x;
    const DType dtype = f_.wide_mask ? DType::f32 : f_.dtype;
    const NodeId mask =
        by_positions() ? mask_by_positions(dtype) : w_.input(dtype, {f_.queries, f_.keys});
    return w_.call("add.Tensor", {{"self", x}, {"other", mask}});
  }

  NodeId positions(std::int64_t count) {
    return w_.call("arange", {{"end", count}, {"dtype", DType::i64}});
  }

  // As transformers writes it: 0 where a key is visible, else the lowest number.
  NodeId mask_by_positions(DType dtype) {
    const NodeId rows = viewed(positions(f_.queries), {f_.queries, 1});
    const NodeId choice = f_.mask == Mask::all_seen
                              ? w_.call("ge.Scalar", {{"self", rows}, {"other", 0}})
                              : w_.call(hides() ? "gt.Tensor" : "le.Tensor",
                                        {{"self", positions(f_.keys)}, {"other", rows}});
    const Argument size(Ints{f_.batches, 1, f_.queries, f_.keys});
    const NodeId wide = w_.call("expand", {{"self", choice}, {"size", size}});
    const double lowest = item_bytes(dtype) == 2 ? kLowestF16 : kLowestF32;
    const NodeId least = number(dtype, lowest);
    const NodeId shown = f_.unknown ? w_.input(dtype, {}) : number(dtype, 0.5);
    return w_.call("where.self", {{"condition", wide},
                                  {"self", hides() ? least : shown},
                                  {"other", hides() ? shown : least}});
  }

  NodeId masked_apart(NodeId x) {
    if (f_.mask == Mask::none) return x;
    const Ints four{f_.batches, f_.heads, f_.queries, f_.keys};
    return viewed(masked(viewed(x, four)), {pairs(), f_.queries, f_.keys});
  }

  // The number where a key is hidden.
  NodeId chosen(NodeId number, NodeId x) {
    if (f_.mask == Mask::showing) std::swap(number, x);
    return w_.call("where.self", {{"condition", choice_}, {"self", number}, {"other", x}});
  }

  NodeId number(double value) {
    return w_.call("full",
                   {{"size", Argument(Ints{})}, {"fill_value", value}, {"dtype", f_.dtype}});
  }

  NodeId dropped(NodeId p) {
    if (!f_.dropout) return p;
    keep_ = w_.input(DType::boolean, shape(f_.queries, f_.keys));
    return times(times(keep_, p), 2.0);
  }

  void write_gradients() {
    const NodeId out = operand(f_.queries, f_.value_width);
    product(turned(p3_), out);
    NodeId dp = apart(product(out, turned(v3_)), f_.queries, f_.keys);
    if (f_.dropout && f_.composite) dp = times(times(dp, 2.0), keep_);
    if (wide_dropout()) dp = wide(dp);
    if (f_.dropout && !f_.composite) {
      const DType dtype = wide_dropout() ? DType::f32 : f_.dtype;
      const NodeId keep = w_.call("prims.convert_element_type", {{"a", keep_}, {"dtype", dtype}});
      dp = times(dp, times(keep, 2.0));
    }
    NodeId ds =
        f_.composite
            ? w_.call("_softmax_backward_data",
                      {{"grad_output", dp}, {"output", p_}, {"dim", -1}, {"input_dtype", f_.dtype}})
            : few(softmax_gradient(wide_dropout() ? dp : wide(dp)));
    if (chosen()) ds = chosen(number(0.0), ds);
    const NodeId ds3 = together(scaled(ds), f_.queries, f_.keys);
    product(turned(q3_), ds3);
    product(ds3, turned_keys() ? keys_ : turned(k3_));
  }

  NodeId softmax_gradient(NodeId dp) {
    const NodeId dpp = times(dp, p_);
    const NodeId row =
        w_.call("sum.dim_IntList", {{"self", dpp}, {"dim", Argument(Ints{-1})}, {"keepdim", true}});
    const NodeId minus = w_.call("neg", {{"self", p_}});
    return w_.call("prims.fma", {{"self", minus}, {"other", row}, {"addend", dpp}});
  }

  MotifWriter& w_;
  const AttentionForm& f_;
  NodeId q3_, k3_, v3_, keys_, p_, p3_, keep_, choice_;
};

}  // namespace

void write_attention(MotifWriter& writer, const AttentionForm& form) {
  Writer(writer, form).write();
}

NodeId write_softmax(MotifWriter& w, NodeId x) {
  const Argument last(Ints{-1});
  const NodeId top = w.call("amax", {{"self", x}, {"dim", last}, {"keepdim", true}});
  const NodeId low = w.call("sub.Tensor", {{"self", x}, {"other", top}});
  const NodeId e = w.call("exp", {{"self", low}});
  const NodeId total = w.call("sum.dim_IntList", {{"self", e}, {"dim", last}, {"keepdim", true}});
  return w.call("div.Tensor", {{"self", e}, {"other", total}});
}

}  // namespace recut::test
