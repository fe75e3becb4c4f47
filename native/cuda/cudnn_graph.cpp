#include "native/cuda/cudnn_graph.h"

#include <fmt/core.h>

#include <numeric>
#include <utility>

// Builds cuDNN's backend descriptors: tensors, operations and their graph. Each builder call makes
// one descriptor and finishes it; the first refusal clears fits_, and plans() then finds none.
// plans() asks cuDNN's heuristic (mode A, best first) for engine configurations and keeps each that
// gives an execution plan. Descriptors are shared, since a plan may outlive its builder.

namespace recut::cuda::cudnn {
namespace {

constexpr std::int64_t kAlignment = 16;   // bytes
constexpr std::int64_t kFirstNumber = 1;  // of tensors: 0 is no tensor

std::vector<std::int64_t> dense(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

}  // namespace

OwnedDescriptor::OwnedDescriptor(std::shared_ptr<const Cudnn> library, Kind kind)
    : library_(std::move(library)) {
  status_ = library_->functions().cudnnBackendCreateDescriptor(kind, &descriptor_);
}

OwnedDescriptor::~OwnedDescriptor() {
  if (descriptor_ != nullptr) library_->functions().cudnnBackendDestroyDescriptor(descriptor_);
}

void OwnedDescriptor::set(Attribute attribute, ArrayOf type, std::int64_t count,
                          const void* items) {
  if (status_ == kSuccess)
    status_ =
        library_->functions().cudnnBackendSetAttribute(descriptor_, attribute, type, count, items);
}

Status OwnedDescriptor::finish() {
  if (status_ == kSuccess) status_ = library_->functions().cudnnBackendFinalize(descriptor_);
  return status_;
}

Result<Done> GraphPlan::run(std::span<void* const> given, void* workspace) const {
  std::vector<std::int64_t> numbers(given.size());
  std::iota(numbers.begin(), numbers.end(), kFirstNumber);
  OwnedDescriptor pack(library_, kPack);
  pack.set(kPackNumbers, kInt64s, numbers);
  pack.set(kPackPointers, kPointers, std::vector<void*>(given.begin(), given.end()));
  pack.set_one(kPackWorkspace, kPointers, workspace);
  Status status = pack.finish();
  const Functions& f = library_->functions();
  if (status == kSuccess)
    status = f.cudnnBackendExecute(library_->handle(), plan_->get(), pack.get());
  if (status == kSuccess) return Done{};
  return error(fmt::format("cuDNN refuses a graph: {}", f.cudnnGetErrorString(status)));
}

SharedDescriptor OperationGraph::make(Kind kind) const {
  return std::make_shared<OwnedDescriptor>(library_, kind);
}

OperationGraph::Value OperationGraph::add(SharedDescriptor tensor, Type type,
                                          std::vector<std::int64_t> shape,
                                          std::vector<std::int64_t> strides) {
  const auto number = static_cast<Value>(tensors_.size());
  tensor->set_one(kTensorNumber, kInt64s, number + kFirstNumber);
  tensor->set_one(kTensorType, kTypes, type);
  tensor->set_one(kTensorAlignment, kInt64s, kAlignment);
  tensor->set(kTensorShape, kInt64s, shape);
  tensor->set(kTensorStrides, kInt64s, strides.empty() ? dense(shape) : strides);
  fits_ = tensor->finish() == kSuccess && fits_;
  tensors_.push_back(std::move(tensor));
  types_.push_back(type);
  return number;
}

OperationGraph::Value OperationGraph::input(Type type, std::vector<std::int64_t> shape,
                                            std::vector<std::int64_t> strides) {
  return add(make(kTensor), type, std::move(shape), std::move(strides));
}

OperationGraph::Value OperationGraph::host_scalar(std::size_t rank) {
  SharedDescriptor tensor = make(kTensor);
  tensor->set_one(kTensorIsFromHost, kBooleans, true);
  return add(std::move(tensor), kF32, std::vector<std::int64_t>(rank, 1), {});
}

OperationGraph::Value OperationGraph::virtual_tensor(Type type, std::vector<std::int64_t> shape,
                                                     std::vector<std::int64_t> strides) {
  SharedDescriptor tensor = make(kTensor);
  tensor->set_one(kTensorIsBetween, kBooleans, true);
  return add(std::move(tensor), type, std::move(shape), std::move(strides));
}

void OperationGraph::call(const SharedDescriptor& call) {
  fits_ = call->finish() == kSuccess && fits_;
  calls_.push_back(call);
}

void OperationGraph::pointwise(const SharedDescriptor& how, Type precision, Value y, Value x,
                               std::optional<Value> b, std::optional<Value> t) {
  how->set_one(kPointwisePrecision, kTypes, precision);
  fits_ = how->finish() == kSuccess && fits_;
  operators_.push_back(how);
  const SharedDescriptor made = make(kPointwiseCall);
  made->set_one(kPointwiseOperator, kDescriptors, how->get());
  made->set_one(kPointwiseX, kDescriptors, tensor(x));
  if (b) made->set_one(kPointwiseB, kDescriptors, tensor(*b));
  if (t) made->set_one(kPointwiseT, kDescriptors, tensor(*t));
  made->set_one(kPointwiseY, kDescriptors, tensor(y));
  call(made);
}

void OperationGraph::pointwise(PointwiseMode mode, Value y, Value x, std::optional<Value> b,
                               std::optional<Value> t) {
  const SharedDescriptor how = make(kPointwise);
  how->set_one(kPointwiseMode, kPointwiseModes, mode);
  pointwise(how, types_[static_cast<std::size_t>(y)] == kBoolean ? kBoolean : kF32, y, x, b, t);
}

void OperationGraph::index(Value y, Value x, std::int64_t dimension) {
  const SharedDescriptor how = make(kPointwise);
  how->set_one(kPointwiseMode, kPointwiseModes, kIndex);
  how->set_one(kPointwiseAxis, kInt64s, dimension);
  pointwise(how, kF32, y, x, std::nullopt, std::nullopt);
}

void OperationGraph::product(Value c, Value a, Value b) {
  const SharedDescriptor how = make(kProduct);
  how->set_one(kProductPrecision, kTypes, kF32);
  fits_ = how->finish() == kSuccess && fits_;
  operators_.push_back(how);
  const SharedDescriptor made = make(kProductCall);
  made->set_one(kProductA, kDescriptors, tensor(a));
  made->set_one(kProductB, kDescriptors, tensor(b));
  made->set_one(kProductC, kDescriptors, tensor(c));
  made->set_one(kProductOperator, kDescriptors, how->get());
  call(made);
}

void OperationGraph::reduce(ReductionHow how, Value y, Value x) {
  const SharedDescriptor reduction = make(kReduction);
  reduction->set_one(kReductionHow, kReductions, how);
  reduction->set_one(kReductionPrecision, kTypes, kF32);
  fits_ = reduction->finish() == kSuccess && fits_;
  operators_.push_back(reduction);
  const SharedDescriptor made = make(kReductionCall);
  made->set_one(kReductionX, kDescriptors, tensor(x));
  made->set_one(kReductionY, kDescriptors, tensor(y));
  made->set_one(kReductionOperator, kDescriptors, reduction->get());
  call(made);
}

void OperationGraph::reshape(Value y, Value x) {
  const SharedDescriptor made = make(kReshapeCall);
  made->set_one(kReshapeX, kDescriptors, tensor(x));
  made->set_one(kReshapeY, kDescriptors, tensor(y));
  call(made);
}

SharedDescriptor OperationGraph::device() const {
  SharedDescriptor device = make(kDevice);
  device->set_one(kDeviceHandle, kHandles, library_->handle());
  return device->finish() == kSuccess ? device : nullptr;
}

std::optional<GraphPlan> OperationGraph::plan(const SharedDescriptor& device,
                                              Descriptor configuration) const {
  SharedDescriptor made = make(kPlan);
  made->set_one(kPlanConfiguration, kDescriptors, configuration);
  made->set_one(kPlanDevice, kDescriptors, device->get());
  std::int64_t count = 0, bytes = 0;
  if (made->finish() != kSuccess ||
      library_->functions().cudnnBackendGetAttribute(made->get(), kPlanWorkspaceBytes, kInt64s, 1,
                                                     &count, &bytes) != kSuccess)
    return std::nullopt;
  return GraphPlan(library_, std::move(made), bytes);
}

std::vector<GraphPlan> OperationGraph::plans(std::size_t max_plans) {
  std::vector<GraphPlan> found;
  const SharedDescriptor device = fits_ ? this->device() : nullptr;
  if (device == nullptr) return found;
  std::vector<Descriptor> calls;
  for (const SharedDescriptor& call : calls_) calls.push_back(call->get());
  const SharedDescriptor graph = make(kGraph);
  graph->set(kGraphCalls, kDescriptors, calls);
  if (graph->finish() != kSuccess) return found;
  const SharedDescriptor heuristics = make(kHeuristics);
  heuristics->set_one(kHeuristicsGraph, kDescriptors, graph->get());
  heuristics->set_one(kHeuristicsMode, kHeuristicsModes, kBestFirst);
  heuristics->set_one(kHeuristicsDevice, kDescriptors, device->get());
  if (heuristics->finish() != kSuccess) return found;
  std::vector<SharedDescriptor> configurations;
  std::vector<Descriptor> filled;
  for (std::size_t i = 0; i < max_plans; ++i) {
    configurations.push_back(make(kConfiguration));
    filled.push_back(configurations.back()->get());
  }
  std::int64_t count = 0;
  if (library_->functions().cudnnBackendGetAttribute(
          heuristics->get(), kHeuristicsResults, kDescriptors, static_cast<std::int64_t>(max_plans),
          &count, filled.data()) != kSuccess)
    return found;
  for (std::int64_t i = 0; i < count; ++i)
    if (auto made = plan(device, filled[static_cast<std::size_t>(i)]))
      found.push_back(std::move(*made));
  return found;
}

}  // namespace recut::cuda::cudnn
