#include "engine/partition/torch/flops.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace recut::torch {
namespace {

double product(std::span<const std::int64_t> sizes) {
  double result = 1;
  for (const std::int64_t size : sizes) result *= static_cast<double>(size);
  return result;
}

// A call's arguments by position.
class Arguments {
 public:
  Arguments(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  // The shape of the tensor at `position`; null if it has fewer than `rank` dimensions.
  const Shape* shape(std::size_t position, std::size_t rank) const {
    if (position >= node_.arguments.size()) return nullptr;
    const auto* id = node_.arguments[position].get<NodeId>();
    if (id == nullptr || graph_[*id].outputs.empty()) return nullptr;
    const Shape& shape = graph_[*id].type().shape;
    return shape.size() >= rank ? &shape : nullptr;
  }
  bool flag(std::size_t position) const {
    const bool* value =
        position < node_.arguments.size() ? node_.arguments[position].get<bool>() : nullptr;
    return value != nullptr && *value;
  }
  bool flag(std::size_t position, std::size_t item) const {
    if (position >= node_.arguments.size()) return false;
    const auto* list = node_.arguments[position].get<ArgumentList>();
    const bool* value = list && item < list->size() ? (*list)[item].get<bool>() : nullptr;
    return value != nullptr && *value;
  }

 private:
  const Graph& graph_;
  const Node& node_;
};

// [.., m, k] x [.., k, n]
double matrix_product(const Shape* a, const Shape* b) {
  return a != nullptr && b != nullptr ? 2 * product(*a) * static_cast<double>(b->back()) : 0;
}

// Each element of the output (of the input, where transposed) multiplies the whole filter.
double convolution(const Shape& x, const Shape& weight, const Shape& out, bool transposed) {
  const Shape& places = transposed ? x : out;
  if (places.size() < 2 || x.empty()) return 0;
  return 2 * product(std::span(places).subspan(2)) * product(weight) * static_cast<double>(x[0]);
}

Shape channels_first(Shape shape) {
  std::swap(shape[0], shape[1]);
  return shape;
}

double convolution_forward(const Arguments& arguments, const Node& node) {
  const Shape* x = arguments.shape(0, 2);
  const Shape* weight = arguments.shape(1, 2);
  if (x == nullptr || weight == nullptr) return 0;
  return convolution(*x, *weight, node.type().shape, arguments.flag(6));
}

// grad_out, input, weight; the gradient of the input is a transposed convolution of grad_out, that
// of the weight a convolution over the batch.
double convolution_backward(const Arguments& arguments, const Node& node) {
  const Shape* grad = arguments.shape(0, 2);
  const Shape* x = arguments.shape(1, 2);
  const Shape* weight = arguments.shape(2, 2);
  if (grad == nullptr || x == nullptr || weight == nullptr || node.outputs.size() < 2) return 0;
  const bool transposed = arguments.flag(7);
  double flops = 0;
  if (arguments.flag(10, 0)) flops += convolution(*grad, *weight, *x, !transposed);
  if (arguments.flag(10, 1)) {
    const Shape first = channels_first(transposed ? *grad : *x);
    const Shape second = channels_first(transposed ? *x : *grad);
    flops += convolution(first, second, channels_first(*weight), false);
  }
  return flops;
}

// Two products: scores, then scores times values. Backward repeats the first and adds four.
double attention(const Arguments& arguments, std::size_t query, bool backward) {
  const Shape* q = arguments.shape(query, 4);
  const Shape* k = arguments.shape(query + 1, 4);
  const Shape* v = arguments.shape(query + 2, 4);
  if (q == nullptr || k == nullptr || v == nullptr) return 0;
  const double pairs = product(std::span(*q).first(3)) * static_cast<double>((*k)[2]);
  const auto query_width = static_cast<double>((*q)[3]), value_width = static_cast<double>((*v)[3]);
  return 2 * pairs * (backward ? 3 * query_width + 2 * value_width : query_width + value_width);
}

// PyTorch has formulas for these attention operators only.
bool counted_attention(std::string_view packet, std::string_view suffix) {
  constexpr std::string_view kFlavours[] = {"_scaled_dot_product_efficient_attention",
                                            "_scaled_dot_product_flash_attention",
                                            "_scaled_dot_product_cudnn_attention"};
  return std::any_of(std::begin(kFlavours), std::end(kFlavours), [&](std::string_view flavour) {
    return packet.substr(0, flavour.size()) == flavour && packet.substr(flavour.size()) == suffix;
  });
}

double by_formula(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const std::string_view packet = graph.op(id).packet;
  const Arguments arguments(graph, node);
  if (packet == "mm") return matrix_product(arguments.shape(0, 2), arguments.shape(1, 2));
  if (packet == "bmm") return matrix_product(arguments.shape(0, 3), arguments.shape(1, 3));
  if (packet == "addmm") return matrix_product(arguments.shape(1, 2), arguments.shape(2, 2));
  if (packet == "baddbmm") return matrix_product(arguments.shape(1, 3), arguments.shape(2, 3));
  if (packet == "convolution") return convolution_forward(arguments, node);
  if (packet == "convolution_backward") return convolution_backward(arguments, node);
  if (counted_attention(packet, "")) return attention(arguments, 0, false);
  if (counted_attention(packet, "_backward")) return attention(arguments, 1, true);
  return 0;
}

}  // namespace

double counted_flops(const Graph& graph, NodeId id) { return std::max(by_formula(graph, id), 1.0); }

}  // namespace recut::torch
