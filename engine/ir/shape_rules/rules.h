// The shape rules that rows of the operator table name, by family. A rule reads a checked call and
// gives the types of its outputs, or says what does not fit.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/layout.h"
#include "engine/ir/promotion.h"

namespace recut::rules {

using Types = std::vector<TensorType>;
using Inferred = Result<Types>;

// One output.
inline Inferred one(TensorType type) { return Types{std::move(type)}; }

// promotion.cpp
// ------------------------------------------------------------------------------------------------------

// Shape of all tensor parameters broadcast together.
Result<Shape> broadcast_all(const Call& call);

// The layout of an element-wise result: that of the first operand of full shape that is dense, else
// contiguous.
TensorType elementwise_type(const Call& call, DType dtype, Shape shape);

// Device that a call's outputs are on: that of its tensors with dimensions, else of the first; ""
// without tensors.
std::string device_of(const Call& call);

// A contiguous type, refused where its size is not sound: for shapes that arguments name.
Inferred sized(DType dtype, Shape shape, std::string device);

// The type in another memory format ("channels_last", …); "" and preserve_format keep the layout
// where it is dense.
TensorType in_memory_format(TensorType type, std::string_view format);

// memory_format.cpp
// --------------------------------------------------------------------------------------------------

// Whether PyTorch takes a type for channels last (ATen's is_channels_last_strides_2d and _3d).
bool is_channels_last(const TensorType& type);

// Strides of a dense channels-last value of 4 or 5 dimensions.
Strides channels_last_strides(const Shape& shape);

// A dense type of that shape, channels last where `like` is and has as many dimensions, else
// contiguous (ATen's suggest_memory_format).
TensorType laid_out_like(const TensorType& like, DType dtype, Shape shape);

// generic.cpp
// --------------------------------------------------------------------------------------------------------
Inferred recorded(
    const Call& call);  // nothing can be inferred: never asked for inputs; data-dependent rows
Inferred same_type(const Call& call);  // shape, dtype and layout of the first tensor
Inferred same_type_dense(
    const Call& call);  // the same, made contiguous where the operand's layout is not dense
Inferred same_type_no_bool(const Call& call);   // the same; bools are refused
Inferred same_type_integers(const Call& call);  // the same; floats are refused
Inferred promote_all(const Call& call);         // broadcast, promoted dtype
Inferred promote_tensors(const Call& call);     // the same; Scalars have no say in the dtype
Inferred promote_no_bool(const Call& call);     // promote_all; bools are refused
Inferred promote_integers(const Call& call);    // promote_all; floats are refused
Inferred promote_to_float(const Call& call);    // promote_all; integers become f32
Inferred promote_to_double(const Call& call);   // broadcast, f64
Inferred compare(const Call& call);             // broadcast, bool
Inferred where(const Call& call);               // broadcast of all three, dtype of the last two
Inferred lerp(const Call& call);                // broadcast of all, dtype of self
Inferred divide_rounded(const Call& call);      // promote_all if rounded, else promote_to_float
Inferred clone(const Call& call);
Inferred copy(const Call& call);
Inferred fill(const Call& call);
Inferred to_copy(const Call& call);
Inferred convert(const Call& call);
Inferred to_dense(const Call& call);
Inferred frexp(const Call& call);
Inferred device_put(const Call& call);
Inferred prelu_backward(const Call& call);
Inferred rrelu(const Call& call);
Inferred log_sigmoid_forward(const Call& call);
Inferred log_sigmoid_backward(const Call& call);
Inferred native_dropout_backward(const Call& call);
Inferred getitem(const Call& call);

// creation.cpp, reduction.cpp, view.cpp, matrix.cpp, … : the rest, one file a family, declared here
// in the same order.
Inferred fill_size(const Call& call);
Inferred fill_value(const Call& call);
Inferred fill_strided(const Call& call);
Inferred fill_permuted(const Call& call);
Inferred fill_like(const Call& call);
Inferred fill_new(const Call& call);
Inferred scalar_tensor(const Call& call);
Inferred eye(const Call& call);
Inferred arange(const Call& call);
Inferred linspace(const Call& call);
Inferred iota(const Call& call);
Inferred triangle_indices(const Call& call);
Inferred one_hot(const Call& call);
Inferred vander(const Call& call);
Inferred randint(const Call& call);
Inferred randperm(const Call& call);
Inferred multinomial(const Call& call);
Inferred native_dropout(const Call& call);
Inferred inductor_seeds(const Call& call);
Inferred inductor_lookup_seed(const Call& call);
Inferred inductor_random(const Call& call);

// Reductions fold the dimensions named by `dim`; all, where it is None, empty or not a parameter.
Inferred reduce_sum(const Call& call);         // integers and bools give i64
Inferred reduce_mean(const Call& call);        // integers only with a floating dtype given
Inferred reduce_same(const Call& call);        // floating dtype of self, or the one given
Inferred reduce_two(const Call& call);         // two outputs in the dtype of self
Inferred reduce_to_float(const Call& call);    // integers become f32
Inferred reduce_extreme(const Call& call);     // dtype of self; nothing to choose from is refused
Inferred reduce_with_index(const Call& call);  // values and i64 indices along one dimension
Inferred reduce_index(const Call& call);       // i64
Inferred reduce_bool(const Call& call);        // bool; u8 stays u8; an empty list folds nothing
Inferred reduce_median(const Call& call);      // of all elements
Inferred trace(const Call& call);
Inferred dist(const Call& call);
Inferred scan(const Call& call);  // shape of self; integers and bools give i64
Inferred scan_same(const Call& call);
Inferred scan_with_index(const Call& call);
Inferred sort(const Call& call);
Inferred argsort(const Call& call);
Inferred topk(const Call& call);
Inferred search(const Call& call);
Inferred isin(const Call& call);
Inferred histc(const Call& call);
Inferred histogram(const Call& call);

// matrix.cpp
// -------------------------------------------------------------------------------------------------
Inferred mm(const Call& call);
Inferred int_mm(const Call& call);
Inferred bmm(const Call& call);
Inferred addmm(const Call& call);
Inferred baddbmm(const Call& call);
Inferred addbmm(const Call& call);
Inferred mv(const Call& call);
Inferred addmv(const Call& call);
Inferred addr(const Call& call);
Inferred outer(const Call& call);
Inferred dot(const Call& call);
Inferred inner(const Call& call);
Inferred matmul(const Call& call);
Inferred linear(const Call& call);
Inferred trilinear(const Call& call);
Inferred cdist(const Call& call);
Inferred cdist_backward(const Call& call);
Inferred pdist(const Call& call);
Inferred pdist_backward(const Call& call);

// nn_convolution.cpp
// -------------------------------------------------------------------------------------------------
Inferred convolution(const Call& call);
Inferred convolution_plain(const Call& call);
Inferred int_convolution(const Call& call);
Inferred convolution_plain_transposed(const Call& call);
Inferred convolution_backward(const Call& call);

// nn_pooling.cpp
// -------------------------------------------------------------------------------------------------
Inferred max_pool1d(const Call& call);
Inferred max_pool2d(const Call& call);
Inferred max_pool3d(const Call& call);
Inferred max_pool1d_with_indices(const Call& call);
Inferred max_pool2d_with_indices(const Call& call);
Inferred max_pool3d_with_indices(const Call& call);
Inferred max_pool2d_backward(const Call& call);
Inferred max_pool3d_backward(const Call& call);
Inferred avg_pool1d(const Call& call);
Inferred avg_pool2d(const Call& call);
Inferred avg_pool3d(const Call& call);
Inferred avg_pool2d_backward(const Call& call);
Inferred avg_pool3d_backward(const Call& call);
Inferred adaptive_avg_pool1d(const Call& call);
Inferred adaptive_avg_pool2d(const Call& call);
Inferred adaptive_avg_pool3d(const Call& call);
Inferred adaptive_max_pool1d(const Call& call);
Inferred adaptive_max_pool2d(const Call& call);
Inferred adaptive_max_pool3d(const Call& call);
Inferred adaptive_pool2d_backward(const Call& call);
Inferred adaptive_pool3d_backward(const Call& call);
Inferred adaptive_max_pool2d_backward(const Call& call);
Inferred adaptive_max_pool3d_backward(const Call& call);
Inferred low_memory_max_pool(const Call& call);
Inferred max_unpool2d(const Call& call);
Inferred max_unpool3d(const Call& call);
Inferred fractional_max_pool2d(const Call& call);
Inferred fractional_max_pool3d(const Call& call);
Inferred low_memory_max_pool_indices(const Call& call);

// nn_attention.cpp
// -------------------------------------------------------------------------------------------------
Inferred efficient_attention(const Call& call);
Inferred efficient_attention_backward(const Call& call);
Inferred flash_attention(const Call& call);
Inferred cudnn_attention(const Call& call);
Inferred flash_attention_backward(const Call& call);
Inferred flash_attention_for_cpu(const Call& call);
Inferred flash_attention_for_cpu_backward(const Call& call);
Inferred scaled_dot_product_attention(const Call& call);
Inferred kept_attention(const Call& call);
Inferred kept_attention_backward(const Call& call);
Inferred fused_lstm_cell(const Call& call);
Inferred fused_lstm_cell_backward(const Call& call);
Inferred fused_gru_cell(const Call& call);
Inferred fused_gru_cell_backward(const Call& call);

// nn_resample.cpp
// -------------------------------------------------------------------------------------------------
Inferred upsample(const Call& call);
Inferred upsample_vec(const Call& call);
Inferred upsample_backward(const Call& call);
Inferred grid_sampler(const Call& call);
Inferred grid_sampler_backward(const Call& call);

// nn_segments.cpp
// -------------------------------------------------------------------------------------------------
Inferred segment_reduce(const Call& call);
Inferred segment_reduce_backward(const Call& call);
Inferred histogramdd_bin_edges(const Call& call);
Inferred histogramdd_from_bin_counts(const Call& call);
Inferred histogramdd_from_bin_edges(const Call& call);

// nn_normalisation.cpp
// -------------------------------------------------------------------------------------------------
Inferred softmax(const Call& call);
Inferred softmax_as(const Call& call);
Inferred softmax_backward(const Call& call);
Inferred layer_norm(const Call& call);
Inferred layer_norm_backward(const Call& call);
Inferred rms_norm(const Call& call);
Inferred rms_norm_backward(const Call& call);
Inferred native_group_norm(const Call& call);
Inferred native_group_norm_backward(const Call& call);
Inferred group_norm(const Call& call);
Inferred batch_norm(const Call& call);
Inferred batch_norm_backward(const Call& call);

// nn_loss.cpp
// -------------------------------------------------------------------------------------------------
Inferred loss(const Call& call);
Inferred loss_backward(const Call& call);
Inferred nll_loss(const Call& call);
Inferred nll_loss_with_weight(const Call& call);
Inferred nll_loss_backward(const Call& call);
Inferred cross_entropy_loss(const Call& call);
Inferred multi_margin_loss(const Call& call);
Inferred multi_margin_loss_backward(const Call& call);
Inferred multilabel_margin_loss(const Call& call);
Inferred multilabel_margin_loss_backward(const Call& call);
Inferred glu(const Call& call);
Inferred glu_backward(const Call& call);
Inferred prelu(const Call& call);
Inferred cosine_similarity(const Call& call);
Inferred pairwise_distance(const Call& call);

// linear_algebra.cpp
// -------------------------------------------------------------------------------------------------
Inferred square_like_self(const Call& call);
Inferred square_and_info(const Call& call);
Inferred geqrf(const Call& call);
Inferred linalg_qr(const Call& call);
Inferred householder_product(const Call& call);
Inferred ormqr(const Call& call);
Inferred linalg_lu(const Call& call);
Inferred linalg_lu_factor(const Call& call);
Inferred lu_unpack(const Call& call);
Inferred linalg_ldl_factor(const Call& call);
Inferred linalg_det(const Call& call);
Inferred linalg_slogdet(const Call& call);
Inferred linalg_eigh(const Call& call);
Inferred linalg_eigvalsh(const Call& call);
Inferred linalg_svd(const Call& call);
Inferred linalg_svdvals(const Call& call);
Inferred matrix_function(const Call& call);
Inferred linalg_cross(const Call& call);

// linear_algebra_solve.cpp
// -------------------------------------------------------------------------------------------------
Inferred cholesky_solve(const Call& call);
Inferred linalg_lu_solve(const Call& call);
Inferred lu_solve(const Call& call);
Inferred linalg_ldl_solve(const Call& call);
Inferred linalg_solve_triangular(const Call& call);
Inferred triangular_solve(const Call& call);
Inferred linalg_solve_with_factors(const Call& call);
Inferred linalg_solve(const Call& call);
Inferred linalg_lstsq(const Call& call);
Inferred linalg_pinv(const Call& call);

// view.cpp
// -----------------------------------------------------------------------------------------------------------

// The type that a layout rule gives the operator's first operand: with the strides of the view, or
// contiguous where the operator copies.
Inferred viewed_type(const Call& call, layout::Rule rule);
Inferred copied_type(const Call& call, layout::Rule rule);
template <layout::Rule rule>
Inferred view(const Call& call) {
  return viewed_type(call, rule);
}
template <layout::Rule rule>
Inferred view_copy(const Call& call) {
  return copied_type(call, rule);
}
Inferred split(const Call& call);
Inferred split_with_sizes(const Call& call);
Inferred chunk(const Call& call);
Inferred unbind(const Call& call);
Inferred split_copy(const Call& call);
Inferred split_with_sizes_copy(const Call& call);
Inferred unbind_copy(const Call& call);
Inferred view_dtype(const Call& call);

// indexing_movement.cpp
// ----------------------------------------------------------------------------------------------
Inferred cat(const Call& call);
Inferred stack(const Call& call);
Inferred constant_pad_nd(const Call& call);
Inferred edge_pad(const Call& call);  // reflection and replication, any number of dimensions
Inferred edge_pad_backward(const Call& call);
Inferred flip(const Call& call);  // also prims.rev
Inferred roll(const Call& call);
Inferred rot90(const Call& call);
Inferred repeat(const Call& call);
Inferred repeat_interleave_int(const Call& call);
Inferred resize(const Call& call);

// indexing_planes.cpp
// ------------------------------------------------------------------------------------------------
Inferred triangle(const Call& call);  // tril, triu
Inferred diag_embed(const Call& call);
Inferred pixel_shuffle(const Call& call);
Inferred pixel_unshuffle(const Call& call);
Inferred channel_shuffle(const Call& call);
Inferred im2col(const Call& call);
Inferred col2im(const Call& call);

// Self with a part replaced by src; the part is the view of the same parameters.
Inferred scattered_type(const Call& call, layout::Rule rule);
template <layout::Rule rule>
Inferred view_scatter(const Call& call) {
  return scattered_type(call, rule);
}
// Zeros of input_sizes with the gradient in a part of them.
Inferred part_backward_type(const Call& call, layout::Rule rule);
template <layout::Rule rule>
Inferred view_backward(const Call& call) {
  return part_backward_type(call, rule);
}
Inferred unfold_backward(const Call& call);

// indexing_gather.cpp
// ------------------------------------------------------------------------------------------------
Inferred gather(const Call& call);
Inferred scatter(const Call& call);  // all overloads, scatter_add and scatter_reduce
Inferred take(const Call& call);
Inferred take_along_dim(const Call& call);
Inferred put(const Call& call);
Inferred masked_fill(const Call& call);
Inferred masked_scatter(const Call& call);
Inferred masked_scatter_backward(const Call& call);

// indexing_embedding.cpp
// --------------------------------------------------------------------------------------------
Inferred embedding(const Call& call);
Inferred embedding_dense_backward(const Call& call);
Inferred embedding_bag(const Call& call);
Inferred embedding_bag_dense_backward(const Call& call);
Inferred embedding_bag_sample_backward(const Call& call);

// indexing_index.cpp
// ------------------------------------------------------------------------------------------------
Inferred index(const Call& call);
Inferred index_put(const Call& call);
Inferred masked_index(const Call& call);
Inferred masked_index_put(const Call& call);
Inferred index_select(const Call& call);
Inferred index_add(const Call& call);  // index_add, index_copy, index_reduce
Inferred index_fill(const Call& call);
Inferred nonzero_static(const Call& call);

// quantization.cpp
// ---------------------------------------------------------------------------------------------------
Inferred quantize_per_tensor(const Call& call);
Inferred dequantize_per_tensor(const Call& call);
Inferred quantize_per_channel(const Call& call);
Inferred dequantize_per_channel(const Call& call);

// Whether a call's schema has such a parameter.
inline bool has(const Call& call, std::string_view parameter) {
  return call.op().parameter(parameter).has_value();
}

// The type itself where it is dense, else the same shape in order.
inline TensorType dense_like(const TensorType& in) {
  return is_dense(in) ? in : make_type(in.dtype, in.shape, in.device);
}

}  // namespace recut::rules
