// cuDNN's graph interface: a graph of operations on tensors, for which cuDNN has engines that
// compute all of it as one kernel or few.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/support/result.h"
#include "native/cuda/cudnn.h"

namespace recut::cuda::cudnn {

// Owns one. Attributes are set before it is finished; what fails is said by the next finish().
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

// A way to compute a graph.
class GraphPlan {
 public:
  GraphPlan(std::shared_ptr<const Cudnn> library, SharedDescriptor plan,
            std::int64_t workspace_bytes)
      : library_(std::move(library)), plan_(std::move(plan)), workspace_bytes_(workspace_bytes) {}

  std::int64_t workspace_bytes() const { return workspace_bytes_; }

  // Puts it on the library's stream. `given`: where each tensor that was given stands, in order;
  // those from the host are read before this returns.
  Result<Done> run(std::span<void* const> given, void* workspace) const;

 private:
  std::shared_ptr<const Cudnn> library_;
  SharedDescriptor plan_;
  std::int64_t workspace_bytes_;
};

class OperationGraph {
 public:
  using Value = std::int64_t;  // its number; those given are counted from 0

  explicit OperationGraph(std::shared_ptr<const Cudnn> library) : library_(std::move(library)) {}

  // Of the card's memory, read or written; all of them before anything else.
  Value given(Type type, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides);
  // One number of the host's, f32, of as many dimensions as it is beside.
  Value from_host(std::size_t rank);
  // Between operations.
  Value between(Type type, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides = {});

  // y = x (mode) b, where t holds.
  void pointwise(PointwiseMode mode, Value y, Value x, std::optional<Value> b = std::nullopt,
                 std::optional<Value> t = std::nullopt);
  // The place of each element along a dimension.
  void index(Value y, Value x, std::int64_t dimension);
  void product(Value c, Value a, Value b);
  void reduce(ReductionHow how, Value y, Value x);
  // The same elements under another shape, or turned.
  void reshape(Value y, Value x);

  // Ways that cuDNN has for it on the stream's card, the best first, at most so many. None where it
  // has none, or is older than what is needed here.
  std::vector<GraphPlan> plans(std::size_t most);

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
  bool fits_ = true;  // cuDNN has refused nothing
};

}  // namespace recut::cuda::cudnn
