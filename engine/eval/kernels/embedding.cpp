// Embeddings: rows of a weight, one by one or by the bag (ATen/native/EmbeddingBag.cpp).
#include <algorithm>

#include "engine/eval/kernels/data_movement.h"

namespace recut {
namespace {

using namespace data_movement;

Result<Done> embedding(KernelContext& c) {
  const Shape& weight = c.tensor("weight").shape;
  const auto rows = indices_into(c, "indices", 0, weight[0], Negative::refused);
  if (!rows) return rows.diagnostics();
  const std::int64_t width = weight[1];
  return with_numbers_of(c.output_types[0].dtype, [&](auto zero) -> Result<Done> {
    const auto values = c.read<decltype(zero)>("weight");
    Dense<decltype(zero)> out(c.output_types[0].shape);
    for (std::size_t r = 0; r < rows->size(); ++r)
      std::copy_n(values.data.begin() + (*rows)[r] * width, width,
                  out.data.begin() + static_cast<std::int64_t>(r) * width);
    c.write(out);
    return Done{};
  });
}

// The number of uses of each row.
std::vector<double> frequencies(const std::vector<std::int64_t>& rows, std::int64_t count) {
  std::vector<double> frequency(at(count), 0);
  for (const std::int64_t row : rows) frequency[at(row)] += 1;
  return frequency;
}

// out[row] += scale * from[source], whole rows.
void add_row(Reals& out, std::int64_t row, const Reals& from, std::int64_t source, double scale) {
  const std::int64_t width = out.shape[1];
  for (std::int64_t i = 0; i < width; ++i) out[row * width + i] += scale * from[source * width + i];
}

Result<Done> embedding_backward(KernelContext& c) {
  Reals out(c.output_types[0].shape);
  const auto rows = indices_into(c, "indices", 0, out.shape[0], Negative::refused);
  if (!rows) return rows.diagnostics();
  const std::int64_t padding = c.call.integer("padding_idx");
  const bool by_frequency = c.call.boolean("scale_grad_by_freq");
  const auto frequency = frequencies(*rows, out.shape[0]);
  const Reals gradient = c.reals("grad_output");
  for (std::size_t r = 0; r < rows->size(); ++r) {
    const std::int64_t row = (*rows)[r];
    if (row == padding) continue;
    add_row(out, row, gradient, static_cast<std::int64_t>(r),
            by_frequency ? 1 / frequency[at(row)] : 1);
  }
  c.write(out);
  return Done{};
}

enum class BagMode : std::int64_t { sum, mean, largest };

// The bag of each index, from the bags' offsets.
Result<std::vector<std::int64_t>> bags_of(const KernelContext& c, std::int64_t indices,
                                          std::int64_t bags) {
  const Integers offsets = c.integers("offsets");
  std::vector<std::int64_t> bag_of(at(indices), -1);
  for (std::int64_t b = 0; b < bags; ++b) {
    const std::int64_t begin = offsets[b];
    const std::int64_t end = b + 1 < offsets.count() ? offsets[b + 1] : indices;
    if (begin < 0 || begin > end || end > indices)
      return error(fmt::format("{}: bag {} from {} to {} of {} indices", c.call.op().name, b, begin,
                               end, indices));
    std::fill(bag_of.begin() + begin, bag_of.begin() + end, b);
  }
  return bag_of;
}

// The state of a forward pass over the bags.
struct Bags {
  Reals values;      // [bags, width]
  Integers size;     // [bags]: indices that count
  Integers largest;  // [bags, width]: rows of the largest values
};

void take_largest(Bags& bags, std::int64_t bag, const Reals& weight, std::int64_t row) {
  const std::int64_t width = bags.values.shape[1];
  for (std::int64_t i = 0; i < width; ++i) {
    double& own = bags.values[bag * width + i];
    const double value = weight[row * width + i];
    if (bags.size[bag] > 1 && !(value > own)) continue;
    own = value;
    bags.largest[bag * width + i] = row;
  }
}

// Outputs that are recorded empty, or padded as on a GPU, are not needed in full.
void write_list(KernelContext& c, Integers values, std::size_t output) {
  const Shape& shape = c.output_types[output].shape;
  values.shape = shape;
  values.data.resize(at(element_count(shape)), 0);
  c.write(values, output);
}

Result<Done> embedding_bag(KernelContext& c) {
  if (const auto fits = check_shape_rule(c); !fits) return fits;
  const Reals weight = c.reals("weight");
  const auto rows = indices_into(c, "indices", 0, weight.shape[0], Negative::refused);
  if (!rows) return rows.diagnostics();
  const std::int64_t bags = c.output_types[0].shape[0];
  const auto bag_of = bags_of(c, static_cast<std::int64_t>(rows->size()), bags);
  if (!bag_of) return bag_of.diagnostics();
  const auto mode = static_cast<BagMode>(c.call.integer("mode"));
  const Reals scale = c.call.is_tensor("per_sample_weights")
                          ? c.reals("per_sample_weights")
                          : Reals({static_cast<std::int64_t>(rows->size())}, 1);
  Bags out{Reals({bags, weight.shape[1]}), Integers({bags}), Integers({bags, weight.shape[1]})};
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::int64_t bag = (*bag_of)[i];
    if (bag < 0 || (*rows)[i] == c.call.integer("padding_idx")) continue;
    ++out.size[bag];
    if (mode == BagMode::largest)
      take_largest(out, bag, weight, (*rows)[i]);
    else
      add_row(out.values, bag, weight, (*rows)[i], scale.data[i]);
  }
  if (mode == BagMode::mean)
    for (std::int64_t i = 0; i < out.values.count(); ++i)
      out.values[i] /=
          static_cast<double>(std::max<std::int64_t>(out.size[i / weight.shape[1]], 1));
  Integers bag_list({static_cast<std::int64_t>(rows->size())});
  bag_list.data = *bag_of;
  c.write(out.values);
  write_list(c, bag_list, 1);
  write_list(c, out.size, 2);
  write_list(c, mode == BagMode::largest ? out.largest : out.size, 3);
  return Done{};
}

// The gradient of the largest values goes to the rows that they came from.
Result<Done> largest_backward(KernelContext& c, Reals out) {
  const Reals gradient = c.reals("grad");
  const Integers size = c.integers("bag_size");
  const auto rows = indices_into(c, "maximum_indices", 0, out.shape[0], Negative::refused);
  if (!rows) return rows.diagnostics();
  if (rows->size() != gradient.data.size() || size.count() < gradient.shape[0])
    return error(fmt::format("{}: {} maximum_indices and {} bag sizes for a gradient of shape {}",
                             c.call.op().name, rows->size(), size.count(),
                             format_shape(gradient.shape)));
  const std::int64_t width = out.shape[1];
  for (std::int64_t i = 0; i < gradient.count(); ++i)
    if (size[i / width] > 0) out[(*rows)[at(i)] * width + i % width] += gradient[i];
  c.write(out);
  return Done{};
}

Result<Done> bag_backward(KernelContext& c) {
  Reals out(c.output_types[0].shape);
  const auto mode = static_cast<BagMode>(c.call.integer("mode"));
  if (mode == BagMode::largest) return largest_backward(c, std::move(out));
  const Reals gradient = c.reals("grad");
  const auto rows = indices_into(c, "indices", 0, out.shape[0], Negative::refused);
  if (!rows) return rows.diagnostics();
  const auto bag_of = indices_into(c, "offset2bag", 0, gradient.shape[0], Negative::refused);
  if (!bag_of) return bag_of.diagnostics();
  const Integers size = c.integers("bag_size");
  const bool weighted = c.call.is_tensor("per_sample_weights");
  const Reals weights = weighted ? c.reals("per_sample_weights") : Reals({0});
  if (bag_of->size() != rows->size() || size.count() < gradient.shape[0] ||
      (weighted && weights.data.size() != rows->size()))
    return error(fmt::format("{}: {} bags, {} sizes and {} weights for {} indices",
                             c.call.op().name, bag_of->size(), size.count(), weights.count(),
                             rows->size()));
  const auto frequency = frequencies(*rows, out.shape[0]);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::int64_t row = (*rows)[i];
    if (row == c.call.integer("padding_idx")) continue;
    double scale = weighted ? weights.data[i] : 1;
    if (c.call.boolean("scale_grad_by_freq")) scale /= frequency[at(row)];
    if (mode == BagMode::mean)
      scale /= static_cast<double>(std::max<std::int64_t>(size[(*bag_of)[i]], 1));
    add_row(out, row, gradient, (*bag_of)[i], scale);
  }
  c.write(out);
  return Done{};
}

Result<Done> sample_backward(KernelContext& c) {
  const Reals weight = c.reals("weight");
  const Reals gradient = c.reals("grad");
  const auto rows = indices_into(c, "indices", 0, weight.shape[0], Negative::refused);
  if (!rows) return rows.diagnostics();
  const auto bag_of = bags_of(c, static_cast<std::int64_t>(rows->size()),
                              std::min(c.tensor("offsets").count(), gradient.shape[0]));
  if (!bag_of) return bag_of.diagnostics();
  const std::int64_t width = weight.shape[1];
  Reals out(c.output_types[0].shape);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if ((*rows)[i] == c.call.integer("padding_idx") || (*bag_of)[i] < 0) continue;
    for (std::int64_t j = 0; j < width; ++j)
      out.data[i] += gradient[(*bag_of)[i] * width + j] * weight[(*rows)[i] * width + j];
  }
  c.write(out);
  return Done{};
}

}  // namespace

void add_embedding_kernels(KernelTable& table) {
  table.add(Op::embedding, embedding);
  table.add(Op::embedding_dense_backward, embedding_backward);
  for (const Op op : {Op::_embedding_bag, Op::_embedding_bag_forward_only})
    table.add(op, embedding_bag);
  table.add(Op::_embedding_bag_dense_backward, bag_backward);
  table.add(Op::_embedding_bag_per_sample_weights_backward, sample_backward);
}

}  // namespace recut
