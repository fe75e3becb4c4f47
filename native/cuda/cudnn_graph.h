// cuDNN's graph interface: a graph of operations on tensors, which cuDNN's engines compute as one
// kernel or few.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/support/result.h"
#include "native/cuda/cudnn.h"

namespace recut::cuda::cudnn {

// Owns one descriptor. Attributes are set before finish(), which reports the first failure.
class OwnedDescriptor {
 public:
  OwnedDescriptor(std::shared_ptr<const Cudnn> library, Kind kind);
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  ~OwnedDescriptor();

  template <class Item>
  void set(Attribute attribute, ArrayOf type, const std::vector<Item>& items) {
    set(attribute, type, static_cast<std::int64_t>(items.size()), items.data());
  }
  template <class Item>
  void set_one(Attribute attribute, ArrayOf type, const Item& item) {
    set(attribute, type, 1, &item);
  }
  Status finish();
  Descriptor get() const { return descriptor_; }

 private:
  void set(Attribute attribute, ArrayOf type, std::int64_t count, const void* items);

  std::shared_ptr<const Cudnn> library_;
  Descriptor descriptor_ = nullptr;
  Status status_ = kSuccess;
};
using SharedDescriptor = std::shared_ptr<OwnedDescriptor>;

// One execution plan of a graph.
class GraphPlan {
 public:
  GraphPlan(std::shared_ptr<const Cudnn> library, SharedDescriptor plan,
            std::int64_t workspace_bytes)
      : library_(std::move(library)), plan_(std::move(plan)), workspace_bytes_(workspace_bytes) {}

  std::int64_t workspace_bytes() const { return workspace_bytes_; }

  // Puts it on the library's stream. `given`: the address of each input tensor, in order; scalars
  // of the host are read before this returns.
  Result<Done> run(std::span<void* const> given, void* workspace) const;

 private:
  std::shared_ptr<const Cudnn> library_;
  SharedDescriptor plan_;
  std::int64_t workspace_bytes_;
};

class OperationGraph {
 public:
  using Value = std::int64_t;  // its number; inputs are counted from 0

  explicit OperationGraph(std::shared_ptr<const Cudnn> library) : library_(std::move(library)) {}

  // An input or output in the GPU's memory; all of them come before any other value.
  Value input(Type type, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides);
  // One scalar of the host, f32, with the rank of the tensor that it is combined with.
  Value host_scalar(std::size_t rank);
  // An intermediate value, which has no memory ("virtual" to cuDNN).
  Value virtual_tensor(Type type, std::vector<std::int64_t> shape,
                       std::vector<std::int64_t> strides = {});

  // y = x (mode) b, where t holds.
  void pointwise(PointwiseMode mode, Value y, Value x, std::optional<Value> b = std::nullopt,
                 std::optional<Value> t = std::nullopt);
  // y: the index of each element along a dimension.
  void index(Value y, Value x, std::int64_t dimension);
  void product(Value c, Value a, Value b);
  void reduce(ReductionHow how, Value y, Value x);
  // y: the same elements under another shape, or transposed.
  void reshape(Value y, Value x);

  // At most `max_plans` plans for the graph on the stream's GPU, the best first. None where cuDNN
  // has none, or is older than this interface needs.
  std::vector<GraphPlan> plans(std::size_t max_plans);

 private:
  SharedDescriptor make(Kind kind) const;
  Value add(SharedDescriptor tensor, Type type, std::vector<std::int64_t> shape,
            std::vector<std::int64_t> strides);
  Descriptor tensor(Value value) const { return tensors_[static_cast<std::size_t>(value)]->get(); }
  void call(const SharedDescriptor& call);
  void pointwise(const SharedDescriptor& how, Type precision, Value y, Value x,
                 std::optional<Value> b, std::optional<Value> t);
  SharedDescriptor device() const;
  std::optional<GraphPlan> plan(const SharedDescriptor& device, Descriptor configuration) const;

  std::shared_ptr<const Cudnn> library_;
  std::vector<SharedDescriptor> tensors_, calls_, operators_;
  std::vector<Type> types_;
  bool fits_ = true;  // false once cuDNN has refused a descriptor
};

}  // namespace recut::cuda::cudnn
