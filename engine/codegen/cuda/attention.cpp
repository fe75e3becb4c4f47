// Writes the struct with a call's numbers (sizes, strides, scale, mask) as constants, and one
// __global__ function for each launch that instantiates the templates of device/attention_*.cuh
// with it. Sizes as template parameters let nvcc unroll all loops over fragments and keep them in
// registers; the price is a compilation for each shape. A warp has two row tiles of 16 for heads of
// up to 64 features, whose sums fit into registers twice, else one; blocks of keys are smaller
// where elements are f32.
#include "engine/codegen/cuda/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/codegen/cuda/scalar_code.h"

namespace recut::cuda {
namespace {

using library::Attention;
using library::Operand;

constexpr std::int64_t kMinFeatures = 16, kMaxFeatures = 128;
constexpr std::int64_t kMaxItems = std::int64_t{1} << 30;  // the range of an int
constexpr std::int64_t kFewFeatures = 64;                  // two row tiles fit into registers
constexpr int kThreads = 128;
constexpr std::int64_t kRowsOfTile = 64, kSummedRows = 16;

const Attention& attention_of(const library::Kernel& kernel) {
  return std::get<Attention>(kernel.calls.front());
}

// Contiguous rows, aligned to 16 bytes.
bool has_aligned_rows(const library::Kernel& kernel, const Operand& operand) {
  const std::int64_t chunk = 16 / item_bytes(kernel.buffers[operand.buffer].dtype);
  const Layout& layout = operand.layout;
  const auto fits = [&](std::int64_t step) { return step % chunk == 0; };
  return layout.strides.back() == 1 && fits(layout.offset) && fits(layout.shape.back()) &&
         std::all_of(layout.strides.begin(), layout.strides.end() - 1, fits);
}

bool has_supported_width(const Operand& operand) {
  const std::int64_t width = operand.layout.shape.back();
  return width >= kMinFeatures && width <= kMaxFeatures && width % 8 == 0;
}

// The sizes of a call, and the tiles chosen for them.
struct AttentionShape {
  AttentionShape(const library::Kernel& kernel, const Attention& a,
                 MatmulPrecision matmul_precision = MatmulPrecision::f32)
      : dtype(kernel.buffers[a.query.buffer].dtype),
        batches(a.query.layout.shape[0]),
        heads(a.query.layout.shape[1]),
        key_heads(a.key.layout.shape[1]),
        queries(a.query.layout.shape[2]),
        keys(a.key.layout.shape[2]),
        features(a.query.layout.shape[3]),
        value_features(a.value.layout.shape[3]) {
    const bool few = features <= kFewFeatures && value_features <= kFewFeatures;
    const bool real = dtype == DType::f32,
               parted = real && matmul_precision == MatmulPrecision::f32;
    m_tiles = few && !parted ? 2 : 1;
    block = !real && !a.grad ? 64 : 32;
    if (a.grad && real && !few) block = 16;
  }

  DType dtype;
  std::int64_t batches, heads, key_heads, queries, keys, features, value_features;
  std::int64_t m_tiles, block;

  std::int64_t tiles(std::int64_t rows, std::int64_t of) const { return (of + rows - 1) / rows; }
  std::int64_t query_blocks() const {
    return batches * heads * tiles(kRowsOfTile * m_tiles, queries);
  }
  std::int64_t key_blocks() const {
    return batches * key_heads * tiles(kRowsOfTile * m_tiles, keys);
  }
  std::int64_t rows() const { return batches * heads * queries; }

  // Bytes of rows in shared memory, padded as by stride_of() in device/attention_tiles.cuh.
  std::int64_t bytes(std::int64_t rows, std::int64_t width) const {
    return rows * ((width + 15) / 16 * 16 * item_bytes(dtype) + 16);
  }
  std::int64_t forward_bytes() const {
    return std::max(bytes(kRowsOfTile * m_tiles, features),
                    2 * (bytes(block, features) + bytes(block, value_features)));
  }
  std::int64_t backward_bytes() const {
    const std::int64_t stages = 2 * (bytes(block, features) + bytes(block, value_features));
    const std::int64_t rows = kRowsOfTile * m_tiles;
    return stages + bytes(rows, features) + bytes(rows, value_features);
  }
};

std::string format_name(DType dtype, MatmulPrecision matmul_precision) {
  if (dtype == DType::bf16) return "Bf16";
  if (dtype == DType::f16) return "F16";
  return matmul_precision == MatmulPrecision::tf32 ? "Tf32" : "F32";
}

std::string real(double x) { return literal(DType::f32, {x, 0}); }

class AttentionWriter {
 public:
  AttentionWriter(const library::Kernel& kernel, std::string name, MatmulPrecision matmul_precision,
                  Helpers& helpers, Text& text)
      : kernel_(kernel),
        a_(attention_of(kernel)),
        shape_(kernel, a_, matmul_precision),
        name_(std::move(name)),
        matmul_precision_(matmul_precision),
        helpers_(helpers),
        text_(text) {
    name_buffers();
  }

  std::vector<Launch> run() {
    text_.set_location(loop::kUnknownLocation);
    line("// kernel " + kernel_.name);
    text_.set_location(0);
    for (const std::string& location : kernel_.locations) line("// " + location);
    write_call();
    a_.grad ? backward() : forward();
    text_.set_location(loop::kUnknownLocation);
    return std::move(launches_);
  }

 private:
  void line(const std::string& text) { text_.line(text); }

  // Names buffers by their role in the call.
  void name_buffers() {
    names_.resize(kernel_.buffers.size());
    const auto add = [&](const Operand& operand, const std::string& role) {
      std::string& name = names_[operand.buffer];
      name += (name.empty() ? "" : "_") + role;
    };
    const auto maybe = [&](const std::optional<Operand>& operand, const char* role) {
      if (operand) add(*operand, role);
    };
    add(a_.query, "query");
    add(a_.key, "key");
    add(a_.value, "value");
    maybe(a_.bias, "bias");
    maybe(a_.keep, "keep");
    add(a_.out, "out");
    maybe(a_.logsumexp, "log_sums");
    maybe(a_.grad, "grad");
    for (const Operand& zero : a_.zeros) add(zero, fmt::format("zeros_{}", zero.buffer));
    maybe(a_.query_gradient, "query_gradient");
    maybe(a_.key_gradient, "key_gradient");
    maybe(a_.value_gradient, "value_gradient");
  }

  const std::string& name(const Operand& operand) const { return names_[operand.buffer]; }
  std::string name(const std::optional<Operand>& operand) const {
    return operand ? names_[operand->buffer] : "nullptr";
  }
  std::string type(const Operand& operand) const {
    return memory_type_name(kernel_.buffers[operand.buffer].dtype);
  }

  // The struct of the call's sizes, and its functions for bias and dropout.
  void write_call() {
    const AttentionShape& s = shape_;
    line(fmt::format("// {} batch{} of {} heads, {} queries of {} features, {} keys{}", s.batches,
                     s.batches == 1 ? "" : "es", s.heads, s.queries, s.features, s.keys,
                     a_.causal ? ", causal" : ""));
    line(fmt::format("struct {}Call {{", name_));
    line(fmt::format("  using Format = {};", format_name(s.dtype, matmul_precision_)));
    line("  using Element = Format::Element;");
    line(fmt::format("  static constexpr int batches = {}, heads = {}, sharing = {};", s.batches,
                     s.heads, s.heads / s.key_heads));
    line(fmt::format("  static constexpr int queries = {}, keys = {}, log_rows = {};", s.queries,
                     s.keys, a_.logsumexp ? a_.logsumexp->layout.shape[2] : 0));
    line(fmt::format("  static constexpr int features = {}, value_features = {};", s.features,
                     s.value_features));
    line(fmt::format("  static constexpr int m_tiles = {}, block = {};", s.m_tiles, s.block));
    line(fmt::format("  static constexpr bool causal = {};", a_.causal));
    line(fmt::format("  static constexpr bool requires_key_grad = {}, requires_value_grad = {};",
                     a_.key_gradient.has_value(), a_.value_gradient.has_value()));
    line(fmt::format("  static constexpr float scale = {};", real(a_.scale)));
    const bool natural = a_.bias && kernel_.buffers[a_.bias->buffer].dtype != DType::boolean;
    const double log2 = std::log(2);
    line(fmt::format("  static constexpr float score_scale = {}, octaves = {};  // of a unit",
                     real(natural ? a_.scale : a_.scale / log2), real(natural ? 1 / log2 : 1)));
    line(fmt::format("  static constexpr float nats = {}, units_of_nat = {};",
                     real(natural ? 1 : log2), real(natural ? 1 : 1 / log2)));
    write_rows();
    write_bias();
    write_keep();
    line("};");
  }

  void write_rows() {
    const auto rows = [&](const char* name, const Operand& o) {
      const Strides& s = o.layout.strides;
      line(fmt::format("  using {} = Rows<{}, {}, {}, {}>;", name, o.layout.offset, s[0], s[1],
                       s[2]));
    };
    rows("Query", a_.query);
    rows("Key", a_.key);
    rows("Value", a_.value);
    rows("Out", a_.out);
    if (a_.logsumexp)
      rows("LogSums", *a_.logsumexp);
    else
      line("  using LogSums = Rows<0, 0, 0, 0>;");
    if (a_.grad) rows("Grad", *a_.grad);
    if (a_.query_gradient) rows("QueryGradient", *a_.query_gradient);
    if (a_.key_gradient) rows("KeyGradient", *a_.key_gradient);
    if (a_.value_gradient) rows("ValueGradient", *a_.value_gradient);
  }

  static std::string element_text(const char* buffer, const Operand& operand) {
    return fmt::format("{}[query * {}ll + key * {}ll]", buffer, operand.layout.strides[2],
                       operand.layout.strides[3]);
  }
  void write_offset(const char* name, const std::optional<Operand>& operand) {
    if (!operand)
      return line(fmt::format(
          "  static __device__ inline long long {}_at(int, int) {{ return 0; }}", name));
    const Layout& layout = operand->layout;
    line(fmt::format("  static __device__ inline long long {}_at(int batch, int head) {{", name));
    line(fmt::format("    return {}ll + batch * {}ll + head * {}ll;", layout.offset,
                     layout.strides[0], layout.strides[1]));
    line("  }");
  }

  void write_bias() {
    line(fmt::format("  using Bias = {};", a_.bias ? type(*a_.bias) : "float"));
    write_offset("bias", a_.bias);
    const std::string head = "  static __device__ inline float masked(float score, const Bias*";
    if (!a_.bias) return line(head + ", int, int) { return score; }");
    line(head + " bias, int query, int key) {");
    const DType dtype = kernel_.buffers[a_.bias->buffer].dtype;
    const std::string found = element_text("bias", *a_.bias);
    if (dtype == DType::boolean)
      line(fmt::format("    return {} ? score : minus_infinity();", found));
    else
      line(fmt::format("    return score + {};", value_of_memory(dtype, found, helpers_)));
    line("  }");
  }

  void write_keep() {
    write_offset("keep", a_.keep);
    const std::string head = "  static __device__ inline float kept(const unsigned char*";
    if (!a_.keep) return line(head + ", int, int) { return 1; }");
    line(head + " keep, int query, int key) {");
    line(fmt::format("    return query < queries && key < keys && {} ? {} : 0.0f;",
                     element_text("keep", *a_.keep), real(a_.keep_scale)));
    line("  }");
  }

  // A __global__ function with every buffer as a parameter.
  void launch(const char* what, std::int64_t blocks, std::int64_t shared_bytes,
              const std::vector<std::string>& body) {
    Launch launch{fmt::format("{}_{}", name_, what), blocks, kThreads, shared_bytes};
    line(fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}(", kThreads,
                     launch.symbol));
    for (std::size_t b = 0; b < kernel_.buffers.size(); ++b)
      line(fmt::format("    {}{}* __restrict__ {},",
                       kernel_.buffers[b].access == loop::Access::read ? "const " : "",
                       memory_type_name(kernel_.buffers[b].dtype), names_[b]));
    line("    float* __restrict__ row_sums) {");
    for (const std::string& one : body) line("  " + one);
    line("}");
    line("");
    launches_.push_back(std::move(launch));
  }

  std::string call(const char* function, const std::string& arguments) const {
    return fmt::format("{}<{}Call>({});", function, name_, arguments);
  }
  std::string inputs() const {
    return fmt::format("{}, {}, {}, {}, {}", name(a_.query), name(a_.key), name(a_.value),
                       name(a_.bias), name(a_.keep));
  }

  void forward() {
    std::vector<std::string> body;
    for (const Operand& zero : a_.zeros) {
      const std::int64_t count = kernel_.buffers[zero.buffer].elements;
      body.emplace_back("if (blockIdx.x == 0 && threadIdx.x == 0)");
      body.push_back(fmt::format("  for (int i = 0; i < {}; ++i) {}[i] = 0;", count, name(zero)));
    }
    body.push_back(call("attention_forward_kernel",
                        fmt::format("{}, {}, {}", inputs(), name(a_.out), name(a_.logsumexp))));
    launch("forward", shape_.query_blocks(), shape_.forward_bytes(), body);
  }

  void backward() {
    const AttentionShape& s = shape_;
    launch(
        "row_sums", s.tiles(kSummedRows, s.rows()), 0,
        {call("row_dot_products", fmt::format("{}, {}, row_sums", name(a_.grad), name(a_.out)))});
    const std::string all =
        fmt::format("{}, {}, {}, row_sums, ", inputs(), name(a_.grad), name(a_.logsumexp));
    if (a_.key_gradient || a_.value_gradient)
      launch("keys", s.key_blocks(), s.backward_bytes(),
             {call("attention_key_gradients_kernel",
                   fmt::format("{}{}, {}", all, name(a_.key_gradient), name(a_.value_gradient)))});
    if (a_.query_gradient)
      launch("queries", s.query_blocks(), s.backward_bytes(),
             {call("attention_query_gradient_kernel", all + name(a_.query_gradient))});
  }

  const library::Kernel& kernel_;
  const Attention& a_;
  const AttentionShape shape_;
  const std::string name_;
  const MatmulPrecision matmul_precision_;
  std::vector<std::string> names_;
  Helpers& helpers_;
  Text& text_;
  std::vector<Launch> launches_;
};

// True if all rows can be copied 16 bytes at a time, and results stored in pairs.
bool has_supported_layouts(const library::Kernel& kernel, const Attention& a) {
  std::vector<const Operand*> all{&a.query, &a.key, &a.value, &a.out};
  for (const auto* maybe : {&a.grad, &a.query_gradient, &a.key_gradient, &a.value_gradient})
    if (*maybe) all.push_back(&**maybe);
  return std::all_of(all.begin(), all.end(),
                     [&](const Operand* operand) { return has_aligned_rows(kernel, *operand); });
}

}  // namespace

bool supports_attention(const library::Kernel& kernel) {
  if (kernel.calls.size() != 1 || !std::holds_alternative<Attention>(kernel.calls.front()))
    return false;
  const Attention& a = attention_of(kernel);
  const AttentionShape shape(kernel, a);
  const std::int64_t blocks_or_rows =
      std::max({shape.query_blocks(), shape.key_blocks(), shape.rows(), shape.queries, shape.keys});
  return has_supported_width(a.query) && has_supported_width(a.value) &&
         has_supported_layouts(kernel, a) && blocks_or_rows < kMaxItems;
}

std::int64_t attention_workspace_bytes(const library::Kernel& kernel) {
  const Attention& a = attention_of(kernel);
  return a.grad ? AttentionShape(kernel, a).rows() * item_bytes(DType::f32) : 0;
}

std::vector<Launch> emit_attention(const library::Kernel& kernel, const std::string& name,
                                   MatmulPrecision matmul_precision, Helpers& helpers, Text& text) {
  const Attention& a = attention_of(kernel);
  const DType dtype = kernel.buffers[a.query.buffer].dtype;
  if (dtype == DType::bf16 || dtype == DType::f16)
    helpers.use(format_name(dtype, matmul_precision));
  helpers.use(a.grad ? "attention_backward" : "attention_forward");
  return AttentionWriter(kernel, name, matmul_precision, helpers, text).run();
}

}  // namespace recut::cuda
