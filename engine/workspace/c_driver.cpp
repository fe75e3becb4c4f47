#include "engine/workspace/c_driver.h"

#include <fmt/format.h>

#include <map>

#include "engine/eval/inputs.h"
#include "engine/ir/data_flow.h"
#include "engine/support/version.h"

namespace recut {
namespace {

constexpr std::string_view kDriverHead =
    R"(/* Runs the step that `recut compile` makes of graph.recut. Written by Recut {version}.
 *
 *   sh driver.sh
 */
#include <graph.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t kSeed = UINT64_C({seed});
static const char* const kData = {data};

/* For each input of the library, in order: the bound of its drawn values, or where its bytes are
 * in kData; a negative place: it is drawn. */
static const struct {{
  double bound;
  int64_t place;
}} kInputs[GRAPH_INPUTS + 1] = {{
)";

constexpr std::string_view kDriverBody = R"(    {0, -1}};

static uint64_t mix(uint64_t seed, uint64_t value) {
  uint64_t x = seed + UINT64_C(0x9e3779b97f4a7c15) + value;
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static uint64_t mix_text(uint64_t seed, const char* text) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (; *text; ++text) h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  return mix(seed, h);
}

/* A number as IEEE half or bfloat16, rounded to nearest even. */
static uint16_t to_small(double value, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned sign = signbit(value) ? 0x8000u : 0;
  int exponent;
  if (value == 0) return (uint16_t)sign;
  exponent = ilogb(value);
  if (exponent < 1 - bias) exponent = 1 - bias;
  const double units = nearbyint(ldexp(fabs(value), mantissa_bits - exponent));
  return (uint16_t)(sign | (((unsigned)(exponent + bias - 1) << mantissa_bits) + (unsigned)units));
}

static double from_small(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  const int exponent = (bits >> mantissa_bits) & top, mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == top) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * ldexp(mantissa | (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

static int is_dtype(const graph_tensor* tensor, const char* name) {
  return strcmp(tensor->dtype, name) == 0;
}

static int64_t count_of(const graph_tensor* tensor) {
  int64_t count = 1;
  for (int64_t d = 0; d < tensor->rank; ++d) count *= tensor->shape[d];
  return count;
}

static int64_t item_bytes(const graph_tensor* tensor) {
  const int64_t count = count_of(tensor);
  return count > 0 ? tensor->bytes / count : 0;
}

/* Where an element of a row-major index is in memory, in elements. */
static int64_t offset_of(const graph_tensor* tensor, int64_t index) {
  int64_t offset = 0;
  for (int64_t d = tensor->rank; d-- > 0; index /= tensor->shape[d])
    offset += index % tensor->shape[d] * tensor->strides[d];
  return offset;
}

static void draw(const graph_tensor* tensor, double bound, unsigned char* memory) {
  const uint64_t stream = mix_text(kSeed, tensor->name);
  const int64_t bytes = item_bytes(tensor);
  for (int64_t i = 0; i < count_of(tensor); ++i) {
    const uint64_t bits = mix(stream, (uint64_t)i);
    const double real = bound * ((double)(bits >> 11) * ldexp(1, -52) - 1);
    const float single = (float)real;
    const uint16_t small =
        is_dtype(tensor, "f16") ? to_small(real, 5, 10) : to_small(real, 8, 7);
    const int64_t integer = bound > 0 ? (int64_t)(bits >> 63) : 0;
    unsigned char* at = memory + offset_of(tensor, i) * bytes;
    if (is_dtype(tensor, "f64")) memcpy(at, &real, 8);
    else if (is_dtype(tensor, "f32")) memcpy(at, &single, 4);
    else if (is_dtype(tensor, "f16") || is_dtype(tensor, "bf16")) memcpy(at, &small, 2);
    else memcpy(at, &integer, (size_t)bytes); /* little-endian */
  }
}

static void read_values(const graph_tensor* tensor, FILE* file, int64_t place,
                        unsigned char* memory) {
  const int64_t bytes = item_bytes(tensor);
  if (fseek(file, (long)place, SEEK_SET) != 0) abort();
  for (int64_t i = 0; i < count_of(tensor); ++i)
    if (fread(memory + offset_of(tensor, i) * bytes, (size_t)bytes, 1, file) != 1) abort();
}

static double element(const graph_tensor* tensor, const unsigned char* memory, int64_t i) {
  const unsigned char* at = memory + i * item_bytes(tensor);
  double real; float single; uint16_t small; int64_t i64; int32_t i32; int16_t i16; int8_t i8;
  if (is_dtype(tensor, "f64")) return memcpy(&real, at, 8), real;
  if (is_dtype(tensor, "f32")) return memcpy(&single, at, 4), single;
  if (is_dtype(tensor, "f16")) return memcpy(&small, at, 2), from_small(small, 5, 10);
  if (is_dtype(tensor, "bf16")) return memcpy(&small, at, 2), from_small(small, 8, 7);
  if (is_dtype(tensor, "i64")) return memcpy(&i64, at, 8), (double)i64;
  if (is_dtype(tensor, "i32")) return memcpy(&i32, at, 4), i32;
  if (is_dtype(tensor, "i16")) return memcpy(&i16, at, 2), i16;
  if (is_dtype(tensor, "i8")) return memcpy(&i8, at, 1), i8;
  return *at;
}

static unsigned char* new_bytes(int64_t bytes, int64_t alignment) {
  const int64_t rounded = (bytes / alignment + 1) * alignment;
  unsigned char* memory = aligned_alloc((size_t)alignment, (size_t)rounded);
  if (memory == NULL) abort();
  memset(memory, 0, (size_t)rounded);
  return memory;
}

int main(void) {
  graph_step step = {0};
  unsigned char* outputs[GRAPH_OUTPUTS + 1];
  FILE* file = kData != NULL ? fopen(kData, "rb") : NULL;
  if (kData != NULL && file == NULL) { perror(kData); return 2; }
  step.arena = new_bytes(GRAPH_ARENA_BYTES, GRAPH_ARENA_ALIGNMENT);
  step.seed = kSeed;
  for (int32_t i = 0; i < GRAPH_INPUTS; ++i) {
    const graph_tensor* tensor = graph_input(i);
    unsigned char* memory = new_bytes(tensor->bytes, GRAPH_ARENA_ALIGNMENT);
    if (kInputs[i].place >= 0) read_values(tensor, file, kInputs[i].place, memory);
    else draw(tensor, kInputs[i].bound, memory);
    step.inputs[i] = memory;
  }
  for (int32_t i = 0; i < GRAPH_OUTPUTS; ++i)
    step.outputs[i] = outputs[i] = new_bytes(graph_output(i)->bytes, GRAPH_ARENA_ALIGNMENT);
  int32_t fault = graph_forward(&step);
)";

constexpr std::string_view kDriverBackward = "  if (fault == 0) fault = graph_backward(&step);\n";

constexpr std::string_view kDriverEnd = R"(  if (fault != 0) {
    fprintf(stderr, "%s\n", graph_fault(fault));
    return 1;
  }
  for (int32_t i = 0; i < GRAPH_OUTPUTS; ++i) {
    const graph_tensor* tensor = graph_output(i);
    double squares = 0;
    for (int64_t k = 0; k < count_of(tensor); ++k)
      squares += element(tensor, outputs[i], k) * element(tensor, outputs[i], k);
    printf("%s %s: %lld elements, norm %.9e\n", tensor->kind, tensor->name,
           (long long)count_of(tensor), sqrt(squares));
  }
  return 0;
}
)";

// The library's inputs in its order: placeholders, then constants.
std::vector<NodeId> library_inputs(const Graph& graph) {
  std::vector<NodeId> inputs(graph.inputs().begin(), graph.inputs().end());
  for (const NodeId id : graph.order())
    if (graph.op(id).is(kInput) && !graph.is_input(id)) inputs.push_back(id);
  return inputs;
}

}  // namespace

Result<std::string> c_driver(const Graph& graph, std::uint64_t seed, std::string_view data,
                             std::string_view file) {
  std::map<std::string, std::int64_t, std::less<>> places;
  if (!data.empty()) {
    const auto tensors = parse_safetensors(data, file);
    if (!tensors) return tensors.diagnostics();
    for (const NamedTensor& tensor : *tensors)
      places.emplace(tensor.name, tensor.bytes.data() - data.data());
  }
  std::string text =
      fmt::format(kDriverHead, fmt::arg("version", version()), fmt::arg("seed", seed),
                  fmt::arg("data", data.empty() ? "NULL" : fmt::format("\"{}\"", file)));
  for (const NodeId id : library_inputs(graph)) {
    const auto place = places.find("in." + graph.node_name(id));
    text += fmt::format("    {{{}, {}}},\n", fmt::format("{:.17g}", random_bound(graph, id)),
                        place == places.end() ? -1 : place->second);
  }
  text += kDriverBody;
  if (is_joint(graph)) text += kDriverBackward;
  return text + std::string(kDriverEnd);
}

}  // namespace recut
