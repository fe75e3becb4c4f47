// Triangles, diagonals, pixel shuffles and windows: kernels that are one index function each.
// im2col and col2im share one index function; unfold_backward adds each window back.
#include <algorithm>
#include <array>

#include "engine/eval/kernels/data_movement.h"

namespace recut {
namespace {

using namespace data_movement;

template <class Keep>
Result<Done> keep_where(KernelContext& c, Keep keep) {
  const Shape& shape = c.output_types[0].shape;
  const Strides strides = contiguous_strides(shape);
  return gather_by_index(c, "self", [&](const Coordinates& position) {
    const std::int64_t row = position[position.size() - 2];
    return keep(position.back() - row) ? flat(position, strides) : kNoSource;
  });
}

Result<Done> tril(KernelContext& c) {
  const std::int64_t diagonal = c.call.integer("diagonal");
  return keep_where(c, [diagonal](std::int64_t at) { return at <= diagonal; });
}

Result<Done> triu(KernelContext& c) {
  const std::int64_t diagonal = c.call.integer("diagonal");
  return keep_where(c, [diagonal](std::int64_t at) { return at >= diagonal; });
}

Result<Done> diag_embed(KernelContext& c) {
  const auto rank = static_cast<std::int64_t>(c.output_types[0].shape.size());
  const std::size_t row = dimension(c, "dim1", rank);
  const std::size_t column = dimension(c, "dim2", rank);
  const std::int64_t offset = c.call.integer("offset");
  const Strides strides = contiguous_strides(c.tensor("self").shape);
  return gather_by_index(c, "self", [&](const Coordinates& position) {
    if (position[column] - position[row] != offset) return kNoSource;
    Coordinates own;
    for (std::size_t d = 0; d < position.size(); ++d)
      if (d != row && d != column) own.push_back(position[d]);
    own.push_back(std::min(position[row], position[column]));
    return flat(own, strides);
  });
}

Result<Done> pixel_shuffle(KernelContext& c) {
  const std::int64_t factor = c.call.integer("upscale_factor");
  const Strides strides = contiguous_strides(c.tensor("self").shape);
  return gather_by_index(c, "self", [&](Coordinates position) {
    std::int64_t* last = &position.back();  // channel, row, column are last[-2], last[-1], last[0]
    last[-2] = (last[-2] * factor + last[-1] % factor) * factor + last[0] % factor;
    last[-1] /= factor;
    last[0] /= factor;
    return flat(position, strides);
  });
}

Result<Done> pixel_unshuffle(KernelContext& c) {
  const std::int64_t factor = c.call.integer("downscale_factor");
  const Strides strides = contiguous_strides(c.tensor("self").shape);
  return gather_by_index(c, "self", [&](Coordinates position) {
    std::int64_t* last = &position.back();
    last[0] = last[0] * factor + last[-2] % factor;
    last[-1] = last[-1] * factor + last[-2] / factor % factor;
    last[-2] = last[-2] / factor / factor;
    return flat(position, strides);
  });
}

Result<Done> channel_shuffle(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const std::int64_t groups = c.call.integer("groups");
  const std::int64_t channels = shape[1] / groups;  // of one group
  const Strides strides = contiguous_strides(shape);
  return gather_by_index(c, "self", [&](Coordinates position) {
    position[1] = position[1] % groups * channels + position[1] / groups;
    return flat(position, strides);
  });
}

// Maps a position of the columns to a pixel of the image: im2col gathers by it, col2im
// scatter-adds.
class Columns {
 public:
  Columns(const Call& call, const Shape& image)
      : kernel_(call.integers("kernel_size")),
        dilation_(call.integers("dilation")),
        padding_(call.integers("padding")),
        stride_(call.integers("stride")),
        image_(image),
        strides_(contiguous_strides(image)) {
    const std::int64_t width = image.back();
    windows_in_row_ =
        (width + 2 * padding_[1] - dilation_[1] * (kernel_[1] - 1) - 1) / stride_[1] + 1;
  }

  std::int64_t operator()(const Coordinates& position) const {
    const std::int64_t row =
        position[position.size() - 2];  // channel, row and column in the kernel
    const std::int64_t window = position.back();
    const std::size_t channel = image_.size() - 3;
    const std::int64_t in_kernel = row % (kernel_[0] * kernel_[1]);
    const std::int64_t y = coordinate(0, window / windows_in_row_, in_kernel / kernel_[1]);
    const std::int64_t x = coordinate(1, window % windows_in_row_, in_kernel % kernel_[1]);
    if (y < 0 || y >= image_[channel + 1] || x < 0 || x >= image_[channel + 2]) return kNoSource;
    const std::int64_t batch = channel == 1 ? position[0] * strides_[0] : 0;
    return batch + row / (kernel_[0] * kernel_[1]) * strides_[channel] + y * strides_[channel + 1] +
           x;
  }

 private:
  std::int64_t coordinate(std::size_t d, std::int64_t window, std::int64_t in_kernel) const {
    return window * stride_[d] - padding_[d] + in_kernel * dilation_[d];
  }

  std::vector<std::int64_t> kernel_, dilation_, padding_, stride_;
  Shape image_;
  Strides strides_;
  std::int64_t windows_in_row_ = 1;
};

Result<Done> im2col(KernelContext& c) {
  return gather_by_index(c, "self", Columns(c.call, c.tensor("self").shape));
}

Result<Done> col2im(KernelContext& c) {
  return scatter_add_by_index(c, "self", Columns(c.call, c.output_types[0].shape));
}

Result<Done> unfold_backward(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  const Strides strides = contiguous_strides(shape);
  const std::size_t dim = dimension(c, "dim", static_cast<std::int64_t>(shape.size()));
  const std::int64_t step = c.call.integer("step");
  return scatter_add_by_index(c, "grad_in", [&](Coordinates position) {
    const std::int64_t in_window = position.back();
    position.pop_back();
    if (position.empty()) return std::int64_t{0};
    position[dim] = position[dim] * step + in_window;
    return flat(position, strides);
  });
}

}  // namespace

void add_plane_kernels(KernelTable& table) {
  table.add_any(Op::tril, tril);
  table.add_any(Op::triu, triu);
  table.add_any(Op::diag_embed, diag_embed);
  table.add_any(Op::pixel_shuffle, pixel_shuffle);
  table.add_any(Op::pixel_unshuffle, pixel_unshuffle);
  for (const Op op : {Op::channel_shuffle, Op::native_channel_shuffle})
    table.add_any(op, channel_shuffle);
  table.add(Op::im2col, im2col);
  table.add(Op::col2im, col2im);
  table.add_any(Op::unfold_backward, unfold_backward);
}

}  // namespace recut
