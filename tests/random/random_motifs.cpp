#include "tests/random/random_motifs.h"

#include <array>

#include "tests/random/attention_writer.h"

namespace recut::test {
namespace {

using Ints = std::vector<std::int64_t>;

Argument ints(const Ints& list) { return Argument(list); }

DType random_real(Random& random) {
  static constexpr std::array<DType, 4> kReals = {DType::f32, DType::f16, DType::bf16, DType::f64};
  return random.of(kReals);
}

NodeId real_value(Draw& d) {
  std::vector<NodeId> fitting;
  for (const NodeId id : d.values)
    if (is_floating(d.type(id).dtype) && d.type(id).rank() > 0) fitting.push_back(id);
  return fitting.empty() ? NodeId() : d.random.of(fitting);
}

void conversions(Draw& d, MotifWriter& w) {
  NodeId x = real_value(d);
  const DType first = x.valid() ? d.type(x).dtype : DType::f32;
  const DType middle = random_real(d.random);
  const DType last = d.random.one_in(2) ? first : random_real(d.random);
  for (const DType dtype : {middle, last})
    x = w.call("prims.convert_element_type", {{"a", x}, {"dtype", dtype}});
}

void copies(Draw& d, MotifWriter& w) {
  NodeId x = d.value();
  w.copy(x);
  Ints dims;
  const auto rank = static_cast<std::int64_t>(w.shape(x).size());
  const std::int64_t turn = rank > 0 ? d.random.below(rank) : 0;
  for (std::int64_t i = 0; i < rank; ++i) dims.push_back((i + turn) % rank);
  if (d.random.one_in(2)) {
    x = w.call("permute", {{"self", x}, {"dims", ints(dims)}});
    Shape size = w.shape(x);
    const std::int64_t form = d.random.below(3);
    if (form == 1) size.push_back(1);
    if (form == 2) size = {element_count(size)};
    if (form != 0) x = w.call("view", {{"self", x}, {"size", Argument(size)}});
  }
  w.copy(x);
}

// A value split and concatenated, or the reverse.
void parts(Draw& d, MotifWriter& w) {
  NodeId x = d.value_with_dimensions(1);
  if (!x.valid()) return;
  const std::int64_t dim = d.random.below(d.type(x).rank());
  const std::int64_t length = d.type(x).shape[static_cast<std::size_t>(dim)];
  const std::int64_t cut = length / 2;
  const std::int64_t variant = d.random.below(5);
  const Argument together(ArgumentList{x, x});
  if (variant == 4) x = w.call("cat", {{"tensors", together}, {"dim", dim}});
  NodeId whole;
  if (variant == 3)
    whole = w.call("split.Tensor", {{"self", x}, {"split_size", length - cut}, {"dim", dim}});
  const Ints sizes = variant == 1   ? Ints{cut, length - cut}
                     : variant == 2 ? Ints{cut, length - cut, 0}
                                    : Ints{length, length};
  if (variant == 1 || variant == 2 || variant == 4)
    whole = w.call("split_with_sizes", {{"self", x}, {"split_sizes", ints(sizes)}, {"dim", dim}});
  ArgumentList pieces;
  for (std::int64_t i = 0; i < (variant == 2 ? 3 : 2); ++i)
    pieces.push_back(variant == 0 ? w.call("slice.Tensor", {{"self", x},
                                                            {"dim", dim},
                                                            {"start", i == 0 ? 0 : cut},
                                                            {"end", i == 0 ? cut : length}})
                                  : w.call("getitem", {{"self", whole}, {"index", i}}));
  if (variant == 4)
    w.call("clone", {{"self", pieces.front()}, {"memory_format", "contiguous_format"}});
  else
    w.call("cat", {{"tensors", Argument(pieces)}, {"dim", dim}});
}

// One number scattered onto another, one per row.
void scatter(Draw& d, MotifWriter& w) {
  const std::int64_t rows = d.random.between(1, 3);
  const std::int64_t columns = d.random.between(rows, 4);
  const NodeId background = w.call(
      "full", {{"size", ints({rows, columns})}, {"fill_value", -1.5}, {"dtype", DType::f32}});
  const NodeId range = w.call("arange", {{"end", rows}, {"dtype", DType::i64}});
  const NodeId index = w.call("view", {{"self", range}, {"size", ints({rows, 1})}});
  w.call("scatter.value", {{"self", background}, {"dim", 1}, {"index", index}, {"value", 2.0}});
}

// Rows chosen by part of a permutation, read or added to.
void permuted_rows(Draw& d, MotifWriter& w) {
  const NodeId x = d.value_with_dimensions(1);
  if (!x.valid()) return;
  const std::int64_t rows = d.type(x).shape[0];
  if (rows == 0) return;
  const NodeId permutation =
      w.call("randperm", {{"n", rows}, {"dtype", DType::i64}, {"draw", d.random.below(1000)}});
  const NodeId index = w.call(
      "slice.Tensor", {{"self", permutation}, {"dim", 0}, {"end", d.random.between(1, rows)}});
  const NodeId chosen =
      w.call("index.Tensor", {{"self", x}, {"indices", Argument(ArgumentList{index})}});
  if (d.random.one_in(2))
    w.call("index_add", {{"self", x}, {"dim", 0}, {"index", index}, {"source", chosen}});
}

void batch_of_one(Draw& d, MotifWriter& w) {
  const NodeId x = d.value_with_dimensions(2);
  if (!x.valid() || d.type(x).rank() != 2 || !is_floating(d.type(x).dtype)) return;
  const NodeId left = w.call("unsqueeze", {{"self", x}, {"dim", 0}});
  const NodeId right = w.call("permute", {{"self", left}, {"dims", ints({0, 2, 1})}});
  w.call("bmm", {{"self", left}, {"mat2", right}});
}

// One of several operators that transpose.
void transposed(Draw& d, MotifWriter& w) {
  const NodeId x = d.value();
  const std::int64_t rank = d.type(x).rank();
  if (rank == 0) return;
  if (rank == 2 && d.random.one_in(2)) {
    w.call("t", {{"self", x}});
    return;
  }
  const std::int64_t first = d.random.below(rank);
  const std::int64_t second = d.random.between(-rank, rank - 1);
  w.call("transpose.int", {{"self", x}, {"dim0", first}, {"dim1", second}});
}

void named_convolution(Draw& d, MotifWriter& w) {
  Random& r = d.random;
  const std::int64_t batch = r.between(1, 2), channels = r.between(1, 3), made = r.between(1, 2);
  const std::int64_t length = r.between(2, 4), width = r.between(1, 2), stride = r.between(1, 2);
  const bool flat = r.one_in(2), turned = r.one_in(3), biased = r.one_in(2);
  Shape image{batch, channels, length, length}, window{made, channels, width, width};
  if (turned) std::swap(window[0], window[1]);
  if (flat) image.pop_back(), window.pop_back();
  const NodeId x = w.input(DType::f32, image);
  NamedArguments arguments{{"input", x},
                           {"weight", w.input(DType::f32, window)},
                           {"stride", ints({stride})},
                           {"padding", ints(Ints(flat ? 1 : 2, 1))},
                           {"dilation", ints({1})},
                           {"groups", 1}};
  if (turned) arguments.push_back({"output_padding", ints({0})});
  if (biased) arguments.push_back({"bias", w.input(DType::f32, {made})});
  w.call(turned ? flat ? "conv_transpose1d" : "conv_transpose2d.input"
         : flat ? "conv1d"
                : "conv2d",
         arguments);
}

// The gradient of a slice or selection: a part written over one number.
void written_part(Draw& d, MotifWriter& w) {
  Random& r = d.random;
  const std::int64_t rows = r.between(1, 3), columns = r.between(2, 5);
  const std::int64_t from = r.below(columns), to = r.between(from + 1, columns);
  const NodeId whole = w.call("full", {{"size", ints({rows, columns})},
                                       {"fill_value", r.one_in(2) ? 0.0 : 0.5},
                                       {"dtype", DType::f32}});
  if (r.one_in(3)) {
    w.call("select_scatter", {{"self", whole},
                              {"src", w.input(DType::f32, {rows})},
                              {"dim", 1},
                              {"index", r.one_in(2) ? from : from - columns}});
    return;
  }
  const bool beginning = r.one_in(2);
  const Argument start = beginning ? Argument() : Argument(from);
  w.call("slice_scatter", {{"self", whole},
                           {"src", w.input(DType::f32, {rows, beginning ? to : to - from})},
                           {"dim", 1},
                           {"start", start},
                           {"end", to}});
}

// All three gradients of a convolution.
void convolution_gradients(Draw& d, MotifWriter& w) {
  Random& r = d.random;
  const std::int64_t batch = r.between(1, 2), channels = r.between(1, 3), made = r.between(1, 3);
  const std::int64_t windows = r.between(1, 3), width = r.between(1, 2);
  const bool biased = r.one_in(2);
  const NodeId gradients =
      w.call("convolution_backward",
             {{"grad_output", w.input(DType::f32, {batch, made, windows})},
              {"input", w.input(DType::f32, {batch, channels, windows + width - 1})},
              {"weight", w.input(DType::f32, {made, channels, width})},
              {"bias_sizes", ints({made})},
              {"stride", ints({1})},
              {"padding", ints({0})},
              {"dilation", ints({1})},
              {"transposed", false},
              {"output_padding", ints({0})},
              {"groups", 1},
              {"output_mask", Argument(ArgumentList{true, true, biased})}});
  for (std::int64_t i = 0; i < (biased ? 3 : 2); ++i)
    w.call("getitem", {{"self", gradients}, {"index", i}});
}

void scaled_softmax(Draw& d, MotifWriter& w) {
  const bool divided = d.random.one_in(3);
  const double number = divided ? 2.0 : d.random.one_in(2) ? 0.5 : -0.25;
  const NodeId x =
      w.call(divided ? "div.Tensor" : "mul.Tensor", {{"self", real_value(d)}, {"other", number}});
  write_softmax(w, x);
}

void attention(Draw& d, MotifWriter& w) {
  Random& r = d.random;
  AttentionForm form;
  // One draw per statement: compilers differ in the order in which they evaluate arguments.
  form.batches = r.between(1, 2);
  form.heads = r.between(1, 2);
  form.queries = r.between(1, 4);
  form.keys = r.between(1, 4);
  form.width = r.between(1, 3);
  form.value_width = r.between(1, 3);
  form.three = r.one_in(4);
  form.scale = static_cast<Scale>(r.below(3));
  form.mask = static_cast<Mask>(r.below(form.three ? 2 : 5));
  if (!form.three && r.one_in(3)) form.mask = r.one_in(2) ? Mask::causal : Mask::all_seen;
  form.hides = r.one_in(3);
  form.unknown = r.one_in(3);
  if (form.three && form.mask == Mask::added) form.scale = Scale::none;
  form.dropout = r.one_in(2);
  form.trained = r.one_in(2);
  form.copied = r.one_in(2);
  form.wide_mask = r.one_in(4);
  if (!form.three && r.one_in(3)) form.dtype = r.one_in(2) ? DType::f16 : DType::bf16;
  form.tensor_scale = r.one_in(4);
  form.wide_dropout = r.one_in(4);
  form.lowest = !form.trained && r.one_in(3);
  form.turned_keys = r.one_in(3);
  form.composite = r.one_in(4) && (form.dtype == DType::f32 || !form.trained);
  write_attention(w, form);
}

constexpr Motif kMotifs[] = {conversions,
                             conversions,
                             copies,
                             copies,
                             parts,
                             scatter,
                             permuted_rows,
                             batch_of_one,
                             scaled_softmax,
                             attention,
                             attention,
                             attention,
                             attention,
                             transposed,
                             named_convolution,
                             convolution_gradients,
                             written_part};

}  // namespace

NodeId MotifWriter::call(std::string_view name, const NamedArguments& named) {
  const Operator* op = find_operator_by_name(name);
  sound_ = sound_ && op != nullptr;
  if (!sound_) return NodeId();
  std::vector<Argument> arguments(op->parameters.size());
  for (const auto& [parameter, argument] : named) {
    const auto* id = argument.get<NodeId>();
    const auto at = op->parameter(parameter);
    sound_ = sound_ && at && (id == nullptr || id->valid());
    if (!sound_) return NodeId();
    arguments[*at] = argument;
  }
  const auto node = graph_.make(op->op, std::move(arguments));
  sound_ = node.ok();
  if (sound_) made.push_back(*node);
  return sound_ ? *node : NodeId();
}

std::span<const Motif> random_motifs() { return kMotifs; }

}  // namespace recut::test
