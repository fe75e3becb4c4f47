// Each thread takes blocks of its own, with primitives for one thread: a head's products are too
// small to share. Causal queries need no keys behind their block.
#include "native/cpu/onednn_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/schedule/schedule.h"
#include "engine/support/check.h"
#include "native/cpu/threads.h"

namespace recut::cpu::onednn {
namespace {

using dnnl::memory;
using library::Attention;
using library::Operand;

// The bytes of a block's scores: they stay in a core's cache from product to product.
constexpr std::int64_t kBlockBytes = std::int64_t{256} << 10;
// oneDNN packs keys and values for each product, which pays from this many queries on.
constexpr std::int64_t kMinQueries = 16;
// Causal blocks see one of this many numbers of keys, since each needs code of its own.
constexpr std::int64_t kMaxKeyCounts = 16;

enum Dimension : std::uint8_t { kBatch, kHead, kRow, kColumn };

std::int64_t extent(const Operand& operand, Dimension d) { return operand.layout.shape[d]; }
std::int64_t stride(const Operand& operand, Dimension d) { return operand.layout.strides[d]; }

// The first element of a head's matrix.
std::int64_t offset(const Operand& operand, std::int64_t batch, std::int64_t head) {
  return operand.layout.offset + batch * stride(operand, kBatch) + head * stride(operand, kHead);
}

// The strides of a head's matrix if a product takes it: the elements of rows or of columns lie side
// by side. The stride of a dimension with one element is of no account.
std::optional<memory::dims> matrix_strides(const Operand& operand) {
  const std::int64_t height = extent(operand, kRow), width = extent(operand, kColumn);
  std::int64_t row = stride(operand, kRow), column = stride(operand, kColumn);
  if (width == 1) column = height > 1 && row == 1 ? height : 1;
  if (height == 1) row = column == 1 ? width : 1;
  const bool by_rows = column == 1 && row >= width, by_columns = row == 1 && column >= height;
  if (!by_rows && !by_columns) return std::nullopt;
  return memory::dims{row, column};
}

// The first `rows` rows of a head.
memory::desc matrix(const Operand& operand, std::int64_t rows) {
  return {{rows, extent(operand, kColumn)}, memory::data_type::f32, *matrix_strides(operand)};
}

// A block's shape, and oneDNN's primitives for it.
struct Block {
  std::int64_t rows = 0, keys = 0;
  dnnl::matmul::primitive_desc score, weigh;
  dnnl::softmax_forward::primitive_desc softmax;
  dnnl::primitive score_code, softmax_code, weigh_code;

  std::int64_t scratchpad_bytes() const {
    const auto bytes = [](const auto& one) { return one.scratchpad_desc().get_size(); };
    return static_cast<std::int64_t>(std::max({bytes(score), bytes(softmax), bytes(weigh)}));
  }
};

// A thread's stream, and memories whose addresses it sets before each primitive.
struct Worker {
  struct Memories {
    memory query, key, scores, value, out, score_pad, softmax_pad, weigh_pad;
  };
  dnnl::stream stream;
  std::vector<Memories> memories;  // by number of the block's shape
};

// A block of queries of one head.
struct Place {
  std::int64_t batch, head, key_head, first;
};

struct Argument {
  int name;
  const memory& where;
  void* data;
};

template <std::size_t N>
void execute(const dnnl::primitive& code, const dnnl::stream& stream, const Argument (&given)[N]) {
  std::array<dnnl_exec_arg_t, N> arguments;
  for (std::size_t i = 0; i < N; ++i) {
    dnnl_memory_set_data_handle(given[i].where.get(), given[i].data);
    arguments[i] = {given[i].name, given[i].where.get()};
  }
  const dnnl_status_t status =
      dnnl_primitive_execute(code.get(), stream.get(), static_cast<int>(N), arguments.data());
  RECUT_CHECK(status == dnnl_success, "a primitive that was made runs");
}

// Begins at -inf; OpenMP's own max may begin at the lowest number.
#pragma omp declare reduction(highest_of:float                                 \
                              : omp_out = omp_in > omp_out ? omp_in : omp_out) \
    initializer(omp_priv = -HUGE_VALF)

// Replaces a query's products by scores, and returns the highest: -inf if all keys are hidden, NaN
// if it sees nothing but NaNs.
template <class Score>
float set_scores(float* scores, std::int64_t keys, const Score& score) {
  int visible = 0;
  float highest = -HUGE_VALF;
#pragma omp simd reduction(| : visible) reduction(highest_of : highest)
  for (std::int64_t k = 0; k < keys; ++k) {
    const float value = score(scores[k], k);
    scores[k] = value;
    visible |= static_cast<int>(value != -HUGE_VALF);
    highest = value > highest ? value : highest;
  }
  return visible != 0 && highest == -HUGE_VALF ? std::nanf("") : highest;
}

// The logarithm of the sum of a row's exponentials. The highest score's weight is 1 / e^-score of
// that sum.
float logsumexp(const float* weights, std::int64_t keys, float highest_score) {
  float highest = 0;
#pragma omp simd reduction(highest_of : highest)
  for (std::int64_t k = 0; k < keys; ++k) highest = weights[k] > highest ? weights[k] : highest;
  if (highest_score == -HUGE_VALF) return highest_score;
  const float or_nan = 0 * weights[0];  // a row with a NaN has nothing else
  return highest_score - std::log(highest) + or_nan;
}

}  // namespace

bool supports_attention(const library::Kernel& kernel) {
  if (kernel.calls.size() != 1) return false;
  const auto* call = std::get_if<Attention>(&kernel.calls.front());
  if (call == nullptr || call->grad || call->keep) return false;
  for (const Operand* one : {&call->query, &call->key, &call->value, &call->out})
    if (kernel.buffers[one->buffer].dtype != DType::f32 || !matrix_strides(*one)) return false;
  if (call->bias) {
    const DType dtype = kernel.buffers[call->bias->buffer].dtype;
    if (dtype != DType::f32 && dtype != DType::boolean) return false;
  }
  return extent(call->query, kRow) >= kMinQueries;
}

struct AttentionCall::Parts {
  Parts(const dnnl::engine& of, const library::Kernel& kernel, const Attention& attention);

  void make();
  void fill(void* const* buffers) const;
  // Computes a block in a thread's scratch.
  void run(std::int64_t block, const Worker& worker, void* const* buffers,
           std::byte* scratch) const;

  std::size_t number_of(std::int64_t height, std::int64_t keys);
  Block describe(std::int64_t height, std::int64_t keys) const;
  Worker::Memories memories_of(const Block& block) const;
  std::int64_t keys_before(std::int64_t end) const;
  Place place_of(std::int64_t block) const;
  void write_logsumexp(void* const* buffers, const Place& place, std::int64_t row,
                       float value) const;
  float set_row(float* scores, const Block& block, void* const* buffers, const Place& place,
                std::int64_t row) const;

  std::int64_t queries() const { return extent(call.query, kRow); }
  std::int64_t heads() const { return extent(call.query, kHead); }
  std::int64_t block_count() const {
    return extent(call.query, kBatch) * heads() * static_cast<std::int64_t>(of_head.size());
  }

  // A thread's scratch: scores, the highest of each row, and the primitives' own.
  std::int64_t scores_bytes() const {
    return aligned(height * extent(call.key, kRow) * item_bytes(DType::f32), kScratchAlignment);
  }
  std::int64_t highest_bytes() const {
    return aligned(height * item_bytes(DType::f32), kScratchAlignment);
  }
  std::int64_t worker_bytes() const {
    std::int64_t own = 0;
    for (const Block& shape : shapes) own = std::max(own, shape.scratchpad_bytes());
    return scores_bytes() + highest_bytes() + aligned(own, kScratchAlignment);
  }

  dnnl::engine engine;
  Attention call;
  bool boolean_mask;
  std::vector<std::pair<Operand, std::int64_t>> zeros;  // and bytes of an element
  int threads = Threads::available();
  dnnl::primitive_attr attributes;
  std::int64_t height = 0;  // queries of a block; the last one of a head may have fewer
  std::vector<Block> shapes;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> numbers;  // in `shapes`
  std::vector<std::size_t> of_head;  // the blocks of each head: numbers in `shapes`
  std::vector<Worker> workers;
};

AttentionCall::Parts::Parts(const dnnl::engine& of, const library::Kernel& kernel,
                            const Attention& attention)
    : engine(of),
      call(attention),
      boolean_mask(call.bias && kernel.buffers[call.bias->buffer].dtype == DType::boolean) {
  for (const Operand& zero : call.zeros)
    zeros.emplace_back(zero, item_bytes(kernel.buffers[zero.buffer].dtype));
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const SingleThreadScope alone;
  const std::int64_t fitting = kBlockBytes / (extent(call.key, kRow) * item_bytes(DType::f32));
  const std::int64_t most = std::clamp(fitting, std::min(2 * kMinQueries, queries()), queries());
  const std::int64_t count = (queries() + most - 1) / most;
  height = (queries() + count - 1) / count;
  for (std::int64_t first = 0; first < queries(); first += height) {
    const std::int64_t end = std::min(first + height, queries());
    of_head.push_back(number_of(end - first, keys_before(end)));
  }
}

// The keys that causal queries before `end` see, rounded up.
std::int64_t AttentionCall::Parts::keys_before(std::int64_t end) const {
  const std::int64_t keys = extent(call.key, kRow);
  if (!call.causal) return keys;
  const std::int64_t part = (keys + kMaxKeyCounts - 1) / kMaxKeyCounts;
  return std::min(keys, (end + part - 1) / part * part);
}

std::size_t AttentionCall::Parts::number_of(std::int64_t rows, std::int64_t keys) {
  const auto [found, added] = numbers.try_emplace({rows, keys}, shapes.size());
  if (added) shapes.push_back(describe(rows, keys));
  return found->second;
}

Block AttentionCall::Parts::describe(std::int64_t rows, std::int64_t keys) const {
  const memory::desc scores({rows, keys}, memory::data_type::f32, memory::dims{keys, 1});
  const dnnl::matmul::desc score(matrix(call.query, rows),
                                 matrix(call.key, keys).permute_axes({1, 0}), scores);
  const dnnl::softmax_forward::desc softmax(dnnl::prop_kind::forward_inference, scores, 1);
  const dnnl::matmul::desc weigh(scores, matrix(call.value, keys), matrix(call.out, rows));
  Block block;
  block.rows = rows;
  block.keys = keys;
  block.score = {score, attributes, engine};
  block.softmax = {softmax, attributes, engine};
  block.weigh = {weigh, attributes, engine};
  return block;
}

Worker::Memories AttentionCall::Parts::memories_of(const Block& block) const {
  const auto made = [&](const memory::desc& form) {
    return memory(form, engine, DNNL_MEMORY_NONE);
  };
  return {made(block.score.src_desc()),          made(block.score.weights_desc()),
          made(block.score.dst_desc()),          made(block.weigh.weights_desc()),
          made(block.weigh.dst_desc()),          made(block.score.scratchpad_desc()),
          made(block.softmax.scratchpad_desc()), made(block.weigh.scratchpad_desc())};
}

void AttentionCall::Parts::make() {
  const SingleThreadScope alone;
  for (Block& block : shapes) {
    block.score_code = dnnl::matmul(block.score);
    block.softmax_code = dnnl::softmax_forward(block.softmax);
    block.weigh_code = dnnl::matmul(block.weigh);
  }
  for (int thread = 0; thread < threads; ++thread) {
    Worker worker{dnnl::stream(engine), {}};
    for (const Block& block : shapes) worker.memories.push_back(memories_of(block));
    workers.push_back(std::move(worker));
  }
}

Place AttentionCall::Parts::place_of(std::int64_t block) const {
  const auto count = static_cast<std::int64_t>(of_head.size());
  const std::int64_t head = block / count % heads(), sharing = heads() / extent(call.key, kHead);
  return {block / count / heads(), head, head / sharing, block % count * height};
}

// Scales the products of a block's row and hides keys. Returns the highest score (set_scores).
float AttentionCall::Parts::set_row(float* scores, const Block& block, void* const* buffers,
                                    const Place& place, std::int64_t row) const {
  const std::int64_t query = place.first + row;
  const std::int64_t keys = call.causal ? std::min(block.keys, query + 1) : block.keys;
  std::fill(scores + keys, scores + block.keys, -HUGE_VALF);
  const auto scale = static_cast<float>(call.scale);
  if (!call.bias) return set_scores(scores, keys, [=](float s, std::int64_t) { return s * scale; });
  const Operand& bias = *call.bias;
  const std::int64_t at = offset(bias, place.batch, place.head) + query * stride(bias, kRow);
  const std::int64_t step = stride(bias, kColumn);
  if (boolean_mask) {
    const auto* mask = static_cast<const std::uint8_t*>(buffers[bias.buffer]) + at;
    return set_scores(scores, keys, [=](float s, std::int64_t k) {
      return mask[k * step] != 0 ? s * scale : -HUGE_VALF;
    });
  }
  const float* mask = static_cast<const float*>(buffers[bias.buffer]) + at;
  if (step == 1)  // compilers make vectors of it
    return set_scores(scores, keys, [=](float s, std::int64_t k) { return s * scale + mask[k]; });
  return set_scores(scores, keys,
                    [=](float s, std::int64_t k) { return s * scale + mask[k * step]; });
}

void AttentionCall::Parts::write_logsumexp(void* const* buffers, const Place& place,
                                           std::int64_t row, float value) const {
  const Operand& sums = *call.logsumexp;
  float* const of_head =
      static_cast<float*>(buffers[sums.buffer]) + offset(sums, place.batch, place.head);
  of_head[(place.first + row) * stride(sums, kRow)] = value;
}

// Writes the results that no block has: random seeds, and sums of rows behind the queries.
void AttentionCall::Parts::fill(void* const* buffers) const {
  for (const auto& [zero, item] : zeros)
    std::memset(static_cast<std::byte*>(buffers[zero.buffer]) + zero.layout.offset * item, 0,
                static_cast<std::size_t>(element_count(zero.layout.shape) * item));
  if (!call.logsumexp) return;
  const std::int64_t behind = extent(*call.logsumexp, kRow) - queries();
  for (std::int64_t head = 0; behind > 0 && head < extent(call.query, kBatch) * heads(); ++head)
    for (std::int64_t row = 0; row < behind; ++row)
      write_logsumexp(buffers, {head / heads(), head % heads(), 0, queries()}, row, HUGE_VALF);
}

void AttentionCall::Parts::run(std::int64_t number, const Worker& worker, void* const* buffers,
                               std::byte* scratch) const {
  const Place place = place_of(number);
  const std::size_t shape = of_head[static_cast<std::size_t>(number) % of_head.size()];
  const Block& block = shapes[shape];
  const Worker::Memories& of = worker.memories[shape];
  const auto at = [&](const Operand& operand, std::int64_t head, std::int64_t row) {
    return static_cast<float*>(buffers[operand.buffer]) + offset(operand, place.batch, head) +
           row * stride(operand, kRow);
  };
  auto* const scores = reinterpret_cast<float*>(scratch);
  auto* const highest = reinterpret_cast<float*>(scratch + scores_bytes());
  std::byte* const pad = scratch + scores_bytes() + highest_bytes();

  execute(block.score_code, worker.stream,
          {{DNNL_ARG_SRC, of.query, at(call.query, place.head, place.first)},
           {DNNL_ARG_WEIGHTS, of.key, at(call.key, place.key_head, 0)},
           {DNNL_ARG_DST, of.scores, scores},
           {DNNL_ARG_SCRATCHPAD, of.score_pad, pad}});
  for (std::int64_t row = 0; row < block.rows; ++row)
    highest[row] = set_row(scores + row * block.keys, block, buffers, place, row);
  execute(block.softmax_code, worker.stream,
          {{DNNL_ARG_SRC, of.scores, scores},
           {DNNL_ARG_DST, of.scores, scores},
           {DNNL_ARG_SCRATCHPAD, of.softmax_pad, pad}});
  for (std::int64_t row = 0; row < block.rows; ++row) {
    float* const weights = scores + row * block.keys;
    if (highest[row] == -HUGE_VALF) std::fill_n(weights, block.keys, 0.0F);
    if (call.logsumexp)
      write_logsumexp(buffers, place, row, logsumexp(weights, block.keys, highest[row]));
  }
  execute(block.weigh_code, worker.stream,
          {{DNNL_ARG_SRC, of.scores, scores},
           {DNNL_ARG_WEIGHTS, of.value, at(call.value, place.key_head, 0)},
           {DNNL_ARG_DST, of.out, at(call.out, place.head, place.first)},
           {DNNL_ARG_SCRATCHPAD, of.weigh_pad, pad}});
}

AttentionCall::AttentionCall(const dnnl::engine& engine, const library::Kernel& kernel,
                             const library::Attention& call)
    : parts_(std::make_unique<Parts>(engine, kernel, call)) {}
AttentionCall::AttentionCall(AttentionCall&& other) noexcept = default;
AttentionCall& AttentionCall::operator=(AttentionCall&& other) noexcept = default;
AttentionCall::~AttentionCall() = default;

std::int64_t AttentionCall::scratch_bytes() const {
  return parts_->threads * parts_->worker_bytes();
}

void AttentionCall::make() { parts_->make(); }

void AttentionCall::run(void* const* buffers, std::byte* scratch) const {
  parts_->fill(buffers);
  const int threads = parts_->threads;
  // In turn, since causal blocks have unlike work.
  const auto part = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t thread = first; thread < last; ++thread)
      for (std::int64_t block = thread; block < parts_->block_count(); block += threads)
        parts_->run(block, parts_->workers[static_cast<std::size_t>(thread)], buffers,
                    scratch + thread * parts_->worker_bytes());
  };
  Threads(threads).run(threads, 1, std::cref(part));
}

}  // namespace recut::cpu::onednn
