// The roofline model (Williams, Waterman and Patterson 2009) of single calls:
//   micros = (launch + max(flops / peak rate, bytes / bandwidth)) * correction of the kernel's kind
// Only matrix products, convolutions and attention have flops; the time of all other operators is
// traffic. Flops are counted as in PyTorch's partitioner, repeated operands included, so that plans
// compare. convolution_backward is two kernels, for input and for weight with bias. A measured time
// replaces the model. All products of sizes saturate, since sizes come from files.
#include "engine/cost/cost.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/cost/collective_time.h"
#include "engine/cost/measured_kernels.h"
#include "engine/ir/storage_model.h"

namespace recut {
namespace {

constexpr std::int64_t kMaxFlops = std::int64_t{1} << 62;

// A saturating product: sizes come from files and may overflow.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > kMaxFlops ? kMaxFlops : product;
}

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t result = 1;
  for (const std::int64_t size : sizes) result = times(result, size);
  return result;
}

// The shapes of a call's distinct operands. A node with several outputs has no shape of its own.
class OperandShapes {
 public:
  OperandShapes(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  // Operand k, if it has at least `rank` dimensions; null otherwise. A repeated operand counts
  // once, which makes mm(x, x) free, as in the reference model that plans are compared with.
  const Shape* at(std::size_t k, std::size_t rank) const {
    if (k >= node_.operands.size()) return nullptr;
    const NodeId operand = node_.operands[k];
    if (graph_.op(operand).multiple_outputs()) return nullptr;
    const Shape& shape = graph_[operand].type().shape;
    return shape.size() >= rank ? &shape : nullptr;
  }

 private:
  const Graph& graph_;
  const Node& node_;
};

std::int64_t product_flops(const Shape* a, const Shape* b) {
  return a != nullptr && b != nullptr ? times(2, times(product(*a), b->back())) : 0;
}

// Each row, column or inner index is of one group: a product of the whole dimension. With matrices on
// the left alone, their groups are of the right one's columns.
std::int64_t grouped_flops(const Shape* a, const Shape* b) {
  if (a == nullptr || b == nullptr || a->size() == b->size() || b->size() == 3)
    return product_flops(a, b);
  return times(2, times(product(*b), (*a)[1]));
}

std::int64_t attention_flops(const OperandShapes& shapes, bool backward) {
  const std::size_t query = backward ? 1 : 0;
  const Shape* q = shapes.at(query, 4);
  const Shape* k = shapes.at(query + 1, 3);
  if (q == nullptr || k == nullptr) return 0;
  const std::int64_t rows = product(std::span(*q).first(3));
  return times(backward ? 10 : 4, times(times(rows, (*k)[2]), (*q)[3]));
}

std::int64_t convolution_flops(const Shape* moved, const Shape* weight, std::int64_t each) {
  if (moved == nullptr || weight == nullptr) return 0;
  return times(times(each, product(*moved)), product(std::span(*weight).subspan(1)));
}

// The dtype of a product's operands, which is one dtype for all.
DType product_dtype(const Graph& graph, NodeId id) {
  return graph.type(graph[id].operands.front()).dtype;
}

// One of the two products that convolution_backward stands for: libraries compute the gradient of
// the input by one, those of weight and bias by another.
struct GradientProduct {
  std::size_t operand;  // beside the gradient of the output
  std::size_t first_output, last_output;
};
constexpr std::array kGradientProducts{GradientProduct{2, 0, 0}, GradientProduct{1, 1, 2}};

bool is_computed(const Node& node, const GradientProduct& product) {
  return node.outputs[product.first_output].exists() || node.outputs[product.last_output].exists();
}

std::int64_t gradient_flops(const Node& node, const OperandShapes& shapes) {
  const auto products =
      std::count_if(kGradientProducts.begin(), kGradientProducts.end(),
                    [&](const GradientProduct& product) { return is_computed(node, product); });
  return convolution_flops(shapes.at(0, 0), shapes.at(2, 1), 2 * products);
}

std::int64_t bytes_of(const Node& node, std::size_t output) {
  return node.outputs[output].exists() ? byte_size(node.outputs[output]) : 0;
}

std::int64_t bytes_of(const Graph& graph, const Argument& operand) {
  const NodeId* id = operand.get<NodeId>();
  return id != nullptr ? value_bytes(graph[*id]) : 0;
}

// The sum over both products. If both are computed, the gradient of the output is read twice.
double gradient_micros(const Graph& graph, NodeId id, const DeviceRates& rates) {
  const Node& node = graph[id];
  const OperandShapes shapes(graph, node);
  const std::int64_t flops = convolution_flops(shapes.at(0, 0), shapes.at(2, 1), 2);
  const double compute_seconds =
      static_cast<double>(flops) / rates.flops_of(product_dtype(graph, id));
  double micros = 0;
  for (const GradientProduct& product : kGradientProducts) {
    if (!is_computed(node, product)) continue;
    std::int64_t bytes = bytes_of(graph, node.arguments[0]);
    bytes += bytes_of(graph, node.arguments[product.operand]);
    for (std::size_t o = product.first_output; o <= product.last_output; ++o)
      bytes += bytes_of(node, o);
    micros += ModelledKernel{compute_seconds, bytes}.micros(rates);
  }
  return micros;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::int64_t node_flops(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const std::string_view name = graph.op(id).name;
  const OperandShapes shapes(graph, node);
  if (name == "mm" || name == "_int_mm" || name == "_scaled_mm")
    return product_flops(shapes.at(0, 2), shapes.at(1, 2));
  if (name == "addmm") return product_flops(shapes.at(1, 2), shapes.at(2, 2));
  if (name == "bmm") return product_flops(shapes.at(0, 3), shapes.at(1, 3));
  if (name == "_grouped_mm") return grouped_flops(shapes.at(0, 2), shapes.at(1, 2));
  if (name == "convolution" || name == "recut.clamped_convolution" ||
      name == "recut.int_convolution")
    return convolution_flops(&node.type().shape, shapes.at(1, 1), 2);
  if (name == "convolution_backward") return gradient_flops(node, shapes);
  if (contains(name, "scaled_dot_product"))
    return attention_flops(shapes, contains(name, "backward"));
  return 0;
}

std::int64_t node_traffic(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  if (op.is(kInput | kView)) return 0;
  std::int64_t bytes = value_bytes(graph[id]);
  for (const NodeId operand : graph[id].operands) bytes += value_bytes(graph[operand]);
  return bytes;
}

double node_compute_seconds(const Graph& graph, NodeId id, const DeviceRates& rates) {
  const std::int64_t flops = node_flops(graph, id);
  return flops > 0 ? static_cast<double>(flops) / rates.flops_of(product_dtype(graph, id)) : 0;
}

std::optional<double> measured_micros(const Graph& graph, NodeId id, const DeviceRates& rates) {
  const Measurement* measurement = rates.measured ? graph.measurement(id) : nullptr;
  if (measurement != nullptr && measurement->micros) return measurement->micros;
  return rates.kernel_times == nullptr ? std::nullopt : rates.kernel_times->of(std::span(&id, 1));
}

KernelKind ModelledKernel::kind(const DeviceRates& rates) const {
  if (compute_seconds > 0) return KernelKind::products;
  return 1e6 * static_cast<double>(bytes) / rates.bytes_per_second > rates.launch_micros
             ? KernelKind::memory
             : KernelKind::launches;
}

double ModelledKernel::micros(const DeviceRates& rates) const {
  const double moving = static_cast<double>(bytes) / rates.bytes_per_second;
  const double micros = rates.launch_micros + 1e6 * std::max(compute_seconds, moving);
  switch (kind(rates)) {
    case KernelKind::products:
      return rates.corrections.products * micros;
    case KernelKind::memory:
      return rates.corrections.memory * micros;
    case KernelKind::launches:
      break;
  }
  return rates.corrections.launches * micros;
}

double node_micros(const Graph& graph, NodeId id, const DeviceRates& rates) {
  const Operator& op = graph.op(id);
  if (op.is(kInput | kView)) return 0;
  if (const auto measured = measured_micros(graph, id, rates)) return *measured;
  if (graph[id].op == Op::convolution_backward) return gradient_micros(graph, id, rates);
  const double micros =
      ModelledKernel{node_compute_seconds(graph, id, rates), node_traffic(graph, id)}.micros(rates);
  return op.is(kCollective)
             ? std::max(micros, rates.launch_micros + link_micros(graph, id, rates.link))
             : micros;
}

}  // namespace recut
