// Pads matrix products to aligned sizes if the gain exceeds the cost of the copies.
//
//   %y = mm(%a, %b)                    %p = constant_pad_nd(%a, [0, 1, 0, 0])
//   (a is f32[64, 1023],        =>     %q = constant_pad_nd(%b, [0, 2, 0, 1])
//    b is f32[1023, 62])               %w = mm(%p, %q)                          (f32[64, 64])
//                                      %s = slice.Tensor(%w, 1, 0, 62)
//                                      %y = clone(%s, memory_format="contiguous_format")
//
// The same for bmm and addmm. Needs: f32, f16 or bf16 on a device that is no CPU (one that the
// graph doesn't name counts as none); no empty dimension; a dimension that isn't a multiple of 4
// (f32) or 8 (f16, bf16) and isn't 1; a compute-bound product: m n k / (m k + k n + m n) above half
// of the device's operations per byte; and an estimate that the product alone takes 1.1 times as
// long as pads, padded product and cut. Conditions and margin are those of Inductor's pad_mm, which
// measures instead of estimating. Establishes: no such product is left. Bit-exact in the
// interpreter: sums gain only 0 * 0 at their end. A result with cut columns is copied, which keeps
// its strides. Factors are padded beneath their views, once for all products that read them
// (padded_operands.h). Opt-in, and on for steps on a GPU (recut run --device cuda).
#include "engine/passes/pad_mm.h"

#include <algorithm>

#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/passes/freezing/rewriter.h"
#include "engine/passes/padded_operands.h"
#include "engine/passes/pass_table.h"
#include "engine/passes/rewrite_nodes.h"

namespace recut::passes {

PassResult pad_mm(const Graph& graph) { return pad_mm_pass({}).run(graph); }

}  // namespace recut::passes

namespace recut {
namespace {

constexpr double kMargin = 1.1;

// [batch, m, k] times [batch, k, n].
struct Sizes {
  std::int64_t batch = 1, m = 0, k = 0, n = 0;

  double multiplied() const { return real(batch) * real(m) * real(k) * real(n); }
  double left() const { return real(batch) * real(m) * real(k); }
  double right() const { return real(batch) * real(k) * real(n); }
  double result() const { return real(batch) * real(m) * real(n); }
  friend bool operator==(const Sizes&, const Sizes&) = default;

 private:
  static double real(std::int64_t i) { return static_cast<double>(i); }
};

// 0 if the dtype needs no alignment.
std::int64_t alignment_of(DType dtype) {
  if (dtype == DType::f32) return 4;
  return dtype == DType::f16 || dtype == DType::bf16 ? 8 : 0;
}

std::int64_t aligned(std::int64_t size, std::int64_t alignment) {
  return size == 1 ? 1 : (size + alignment - 1) / alignment * alignment;
}

class PadMm {
 public:
  PadMm(const Graph& from, const Device& device)
      : from_(from), device_(device), pinned_(from), operands_(from) {
    for (const NodeId id : from.order())
      if (const auto product = product_to_pad(id)) request(id, *product);
  }

  PassResult run() {
    return rewrite_nodes(
        from_,
        [&](Graph& to, NodeId old,
            const std::vector<Argument>& arguments) -> std::optional<Rewrite> {
          if (const auto product = product_to_pad(old))
            return Rewrite{"padded product", padded(to, old, arguments, *product)};
          if (const auto part = operands_.widened(to, old, arguments))
            return Rewrite{"wider padding", *part};
          return std::nullopt;
        },
        [&](NodeId old, const Graph&, NodeId successor) { operands_.placed(old, successor); });
  }

 private:
  struct Product {
    Sizes sizes, wide;
    std::size_t left = 0;  // the place of its left factor among the arguments

    std::int64_t m() const { return wide.m - sizes.m; }
    std::int64_t k() const { return wide.k - sizes.k; }
    std::int64_t n() const { return wide.n - sizes.n; }
  };

  std::optional<Product> product_to_pad(NodeId old) const {
    const Node& node = from_[old];
    if (node.op != Op::mm && node.op != Op::addmm && node.op != Op::bmm) return std::nullopt;
    const std::size_t left = node.op == Op::addmm ? 1 : 0;
    const Sizes sizes = sizes_of(node, left);
    const std::int64_t alignment = alignment_of(node.type().dtype);
    if (alignment == 0 || sizes.result() * sizes.left() == 0 || !on_accelerator(node.type()) ||
        pinned_.contains(old))
      return std::nullopt;
    const Sizes wide = {sizes.batch, aligned(sizes.m, alignment), aligned(sizes.k, alignment),
                        aligned(sizes.n, alignment)};
    if (wide == sizes || !worth_it(sizes, wide, node.type().dtype)) return std::nullopt;
    return Product{sizes, wide, left};
  }

  Sizes sizes_of(const Node& node, std::size_t left) const {
    const Shape& a = from_.type(*node.arguments[left].get<NodeId>()).shape;
    const Shape& out = node.type().shape;
    return {out.size() == 3 ? out[0] : 1, out[out.size() - 2], a.back(), out.back()};
  }

  bool on_accelerator(const TensorType& type) const {
    if (device_.runs_step) return true;
    const std::string& device = type.device.empty() ? from_.device : type.device;
    return device.rfind("cpu", 0) != 0;
  }

  // The decision
  // ----------------------------------------------------------------------------------------------

  bool worth_it(const Sizes& sizes, const Sizes& wide, DType dtype) const {
    const double rate = device_.rates.flops_of(dtype);
    const double intensity = sizes.multiplied() / (sizes.left() + sizes.right() + sizes.result());
    if (intensity <= 0.5 * rate / device_.rates.bytes_per_second) return false;
    const double unpadded = product_seconds(sizes, dtype, device_.slowdown_of(dtype));
    return unpadded >
           kMargin * (product_seconds(wide, dtype, 1) + copies_seconds(sizes, wide, dtype));
  }

  double moved(double elements, DType dtype) const {
    return elements * static_cast<double>(item_bytes(dtype)) / device_.rates.bytes_per_second;
  }

  // The longer of arithmetic and memory traffic (roofline).
  double product_seconds(const Sizes& sizes, DType dtype, double slowdown) const {
    const double rate = device_.rates.flops_of(dtype);
    return std::max(slowdown * 2 * sizes.multiplied() / rate,
                    moved(sizes.left() + sizes.right() + sizes.result(), dtype));
  }

  // A padded factor is read and written once, as is a result that must be cut.
  double copies_seconds(const Sizes& sizes, const Sizes& wide, DType dtype) const {
    double elements = 0;
    if (wide.m != sizes.m || wide.k != sizes.k) elements += sizes.left() + wide.left();
    if (wide.n != sizes.n || wide.k != sizes.k) elements += sizes.right() + wide.right();
    if (cuts_by_copy(sizes, wide)) elements += 2 * sizes.result();
    return moved(elements, dtype);
  }

  // Only trailing rows of a single matrix can be cut by a view of the same strides.
  static bool cuts_by_copy(const Sizes& sizes, const Sizes& wide) {
    return wide.n != sizes.n || (wide.m != sizes.m && sizes.batch != 1);
  }

  // The replacement
  // ----------------------------------------------------------------------------------------------

  // The operands to pad, by argument index, and their zeros.
  struct Filled {
    std::size_t argument;
    PaddedOperands::Zeros zeros;
    const char* name;
  };
  std::vector<Filled> filled(NodeId old, const Product& product) const {
    const auto [m, k, n] = std::tuple{product.m(), product.k(), product.n()};
    std::vector<Filled> all = {{product.left, zeros(old, product.left, m, k), ".left"},
                               {product.left + 1, zeros(old, product.left + 1, k, n), ".right"}};
    if (product.left == 1) all.push_back({0, zeros(old, 0, m, n), ".bias"});
    std::erase_if(all, [](const Filled& f) {
      return std::all_of(f.zeros.begin(), f.zeros.end(), [](std::int64_t z) { return z == 0; });
    });
    return all;
  }

  // Zeros at the ends of rows and columns; a broadcast dimension stays 1.
  PaddedOperands::Zeros zeros(NodeId old, std::size_t argument, std::int64_t rows,
                              std::int64_t columns) const {
    const Shape& shape = from_.type(operand(old, argument)).shape;
    PaddedOperands::Zeros zeros(shape.size(), 0);
    const std::size_t rank = shape.size();
    if (rank > 0 && shape[rank - 1] != 1) zeros[rank - 1] = columns;
    if (rank > 1 && shape[rank - 2] != 1) zeros[rank - 2] = rows;
    return zeros;
  }

  NodeId operand(NodeId old, std::size_t argument) const {
    return *from_[old].arguments[argument].get<NodeId>();
  }

  void request(NodeId old, const Product& product) {
    for (const Filled& f : filled(old, product))
      operands_.request(operand(old, f.argument), f.zeros);
  }

  NodeId padded(Graph& to, NodeId old, std::vector<Argument> arguments, const Product& product) {
    const Node& node = from_[old];
    const std::string& name = from_.node_name(old);
    for (const Filled& f : filled(old, product))
      arguments[f.argument] =
          operands_.padded(to, operand(old, f.argument), f.zeros, name + f.name);
    NodeId whole = FreezingRewriter::make(to, node.op, std::move(arguments), name + ".padded");
    const std::int64_t rank = node.type().rank();
    for (const auto& [dim, size, extra] : {std::tuple{rank - 2, product.sizes.m, product.m()},
                                           std::tuple{rank - 1, product.sizes.n, product.n()}})
      if (extra != 0)
        whole = FreezingRewriter::make(to, Op::slice_Tensor,
                                       {whole, Argument(dim), Argument(0), Argument(size)},
                                       name + ".cut");
    if (to[whole].outputs == node.outputs) return whole;
    const NodeId dense = FreezingRewriter::make(to, Op::clone, {whole, "contiguous_format"}, name);
    return FreezingRewriter::with_types(to, dense, node, name);
  }

  const Graph& from_;
  const Device& device_;
  PinnedStorages pinned_;
  PaddedOperands operands_;
};

}  // namespace

Pass pad_mm_pass(const Device& device) {
  return {"pad_mm", find_pass("pad_mm")->description,
          [device](const Graph& graph) { return PadMm(graph, device).run(); }, false, true};
}

}  // namespace recut
