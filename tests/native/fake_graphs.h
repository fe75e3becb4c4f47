// cuDNN's graph interface by its manual, for fake_libraries.h: descriptors keep their attributes,
// and a plan interprets its graph over this process' memory, operation by operation, every value
// rounded to its own type. A graph has two plans, of which the second needs more workspace.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "native/cuda/cudnn_api.h"
#include "tests/native/fake_numbers.h"

namespace recut::cuda::cudnn {

using IntVector = std::vector<std::int64_t>;

struct GraphTensor {
  std::int64_t number = 0;
  Type type = kF32;
  IntVector shape, strides;
  bool between = false, from_host = false;

  std::int64_t count() const {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    return count;
  }
  IntVector at(
      std::int64_t n) const {  // the index of the n-th element, the last dimension quickest
    IntVector index(shape.size());
    for (std::size_t d = shape.size(); d-- > 0; n /= shape[d]) index[d] = n % shape[d];
    return index;
  }
  std::int64_t in_memory(const IntVector& index) const {
    std::int64_t sum = 0;
    for (std::size_t d = 0; d < index.size(); ++d) sum += index[d] * strides[d];
    return sum;
  }
  // The element that is combined with another tensor's: dimensions of one broadcast, and a
  // smaller dimension serves as many neighbours each.
  std::int64_t under(const IntVector& index, const IntVector& of) const {
    std::int64_t n = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) n = n * shape[d] + index[d] / (of[d] / shape[d]);
    return n;
  }
  double as_stored(double value) const {
    std::uint32_t room = 0;
    if (type != kF16 && type != kBf16) return type == kF32 ? static_cast<float>(value) : value;
    store(type == kF16 ? Stored::f16 : Stored::bf16, &room, 0, value);
    return load(type == kF16 ? Stored::f16 : Stored::bf16, &room, 0);
  }
  Stored stored() const {
    return type == kF32 ? Stored::f32 : type == kF16 ? Stored::f16 : Stored::bf16;
  }
};

struct DescriptorOfCudnn {
  Kind kind = kTensor;
  std::map<Attribute, std::vector<std::byte>> given;
  bool finished = false;
  std::shared_ptr<const struct GraphProgram> program;  // of configurations and plans
  std::int64_t workspace_bytes = 0;

  template <class Item>
  std::vector<Item> all(Attribute attribute) const {
    const auto found = given.find(attribute);
    if (found == given.end()) return {};
    std::vector<Item> items(found->second.size() / sizeof(Item));
    std::memcpy(items.data(), found->second.data(), found->second.size());
    return items;
  }
  template <class Item>
  Item one(Attribute attribute) const {
    const std::vector<Item> items = all<Item>(attribute);
    return items.empty() ? Item() : items.front();
  }
  const DescriptorOfCudnn* part(Attribute attribute) const { return one<Descriptor>(attribute); }
  GraphTensor tensor(Attribute attribute) const {
    const DescriptorOfCudnn* t = part(attribute);
    if (t == nullptr) return {};
    return {t->one<std::int64_t>(kTensorNumber), t->one<Type>(kTensorType),
            t->all<std::int64_t>(kTensorShape),  t->all<std::int64_t>(kTensorStrides),
            t->one<char>(kTensorIsBetween) != 0, t->one<char>(kTensorIsFromHost) != 0};
  }
};

// The program of a graph, copied from descriptors, which need not outlive their plan.
struct GraphProgram {
  struct Step {
    Kind kind;
    int how = 0;
    std::int64_t axis = 0;
    GraphTensor x, b, t, y;
  };
  std::vector<Step> steps;

  static std::shared_ptr<const GraphProgram> of(const DescriptorOfCudnn& graph) {
    auto program = std::make_shared<GraphProgram>();
    for (const Descriptor call : graph.all<Descriptor>(kGraphCalls)) {
      Step step{call->kind};
      if (call->kind == kPointwiseCall) {
        const DescriptorOfCudnn* how = call->part(kPointwiseOperator);
        step.how = how->one<int>(kPointwiseMode);
        step.axis = how->one<std::int64_t>(kPointwiseAxis);
        step.x = call->tensor(kPointwiseX);
        step.b = call->tensor(kPointwiseB);
        step.t = call->tensor(kPointwiseT);
        step.y = call->tensor(kPointwiseY);
      } else if (call->kind == kProductCall) {
        step.x = call->tensor(kProductA);
        step.b = call->tensor(kProductB);
        step.y = call->tensor(kProductC);
      } else if (call->kind == kReductionCall) {
        step.how = call->part(kReductionOperator)->one<int>(kReductionHow);
        step.x = call->tensor(kReductionX);
        step.y = call->tensor(kReductionY);
      } else {
        step.x = call->tensor(kReshapeX);
        step.y = call->tensor(kReshapeY);
      }
      program->steps.push_back(std::move(step));
    }
    return program;
  }
};

class GraphRun {
 public:
  GraphRun(const GraphProgram& program, std::map<std::int64_t, void*> memory)
      : program_(program), memory_(std::move(memory)) {}

  void run() {
    for (const GraphProgram::Step& step : program_.steps) {
      std::vector<double> y = result(step);
      for (std::int64_t n = 0; n < step.y.count(); ++n) {
        double& value = y[static_cast<std::size_t>(n)];
        value = step.y.as_stored(value);
        if (!step.y.between)
          store(step.y.stored(), memory_.at(step.y.number), step.y.in_memory(step.y.at(n)), value);
      }
      values_[step.y.number] = std::move(y);
    }
  }

 private:
  using Values = std::vector<double>;

  const Values& value(const GraphTensor& tensor) {
    auto found = values_.find(tensor.number);
    if (found != values_.end()) return found->second;
    Values read;
    for (std::int64_t n = 0; n < tensor.count(); ++n)
      read.push_back(
          load(tensor.stored(), memory_.at(tensor.number), tensor.in_memory(tensor.at(n))));
    return values_[tensor.number] = std::move(read);
  }
  double of(const GraphTensor& tensor, const IntVector& index, const IntVector& shape) {
    return value(tensor)[static_cast<std::size_t>(tensor.under(index, shape))];
  }

  Values result(const GraphProgram::Step& step) {
    if (step.kind == kReshapeCall) return seen_as(step.x, step.y);
    if (step.kind == kReductionCall) return reduced(step);
    Values y;
    for (std::int64_t n = 0; n < step.y.count(); ++n)
      y.push_back(step.kind == kProductCall ? product(step, step.y.at(n))
                                            : pointwise(step, step.y.at(n)));
    return y;
  }

  double pointwise(const GraphProgram::Step& step, const IntVector& index) {
    const IntVector& shape = step.y.shape;
    if (step.how == kIndex) return static_cast<double>(index[static_cast<std::size_t>(step.axis)]);
    const double x = of(step.x, index, shape);
    if (step.how == kExp) return std::exp(x);
    if (step.how == kLog) return std::log(x);
    if (step.how == kIdentity) return x;
    const double b = of(step.b, index, shape);
    switch (step.how) {
      case kAdd:
        return x + b;
      case kSubtract:
        return x - b;
      case kMultiply:
        return x * b;
      case kDivide:
        return x / b;
      case kGreaterEqual:
        return x >= b ? 1 : 0;
      default:
        return of(step.t, index, shape) != 0 ? x : b;
    }
  }

  double product(const GraphProgram::Step& step, const IntVector& index) {
    const GraphTensor &a = step.x, &b = step.b;
    IntVector left = index, right = index, of_left = step.y.shape, of_right = step.y.shape;
    of_left[3] = a.shape[3];
    of_right[2] = b.shape[2];
    double sum = 0;
    for (std::int64_t k = 0; k < a.shape[3]; ++k) {
      left[3] = right[2] = k;
      sum += of(a, left, of_left) * of(b, right, of_right);
    }
    return sum;
  }

  Values reduced(const GraphProgram::Step& step) {
    Values y(static_cast<std::size_t>(step.y.count()), step.how == kLargest ? -INFINITY : 0);
    const Values& x = value(step.x);
    for (std::int64_t n = 0; n < step.x.count(); ++n) {
      double& so_far = y[static_cast<std::size_t>(step.y.under(step.x.at(n), step.x.shape))];
      const double next = x[static_cast<std::size_t>(n)];
      so_far = step.how == kLargest ? std::max(so_far, next) : so_far + next;
    }
    return y;
  }

  Values seen_as(const GraphTensor& from, const GraphTensor& to) {
    std::map<std::int64_t, double> memory;
    const Values& x = value(from);
    for (std::int64_t n = 0; n < from.count(); ++n)
      memory[from.in_memory(from.at(n))] = x[static_cast<std::size_t>(n)];
    Values y;
    for (std::int64_t n = 0; n < to.count(); ++n) y.push_back(memory.at(to.in_memory(to.at(n))));
    return y;
  }

  const GraphProgram& program_;
  std::map<std::int64_t, void*> memory_;  // by a tensor's number
  std::map<std::int64_t, Values> values_;
};

constexpr std::size_t item_size(ArrayOf type) {
  if (type == kBooleans) return 1;
  return type == kTypes || type == kHeuristicsModes || type == kPointwiseModes ||
                 type == kReductions
             ? 4
             : 8;
}

extern "C" {
Status cudnnBackendCreateDescriptor(Kind kind, Descriptor* descriptor) {
  *descriptor = new DescriptorOfCudnn{kind, {}, false, nullptr, 0};
  return kSuccess;
}
Status cudnnBackendDestroyDescriptor(Descriptor descriptor) {
  delete descriptor;
  return kSuccess;
}
Status cudnnBackendSetAttribute(Descriptor descriptor, Attribute attribute, ArrayOf type,
                                std::int64_t count, const void* items) {
  if (descriptor->finished) return static_cast<Status>(3000);
  const auto* bytes = static_cast<const std::byte*>(items);
  descriptor->given[attribute] = {bytes, bytes + static_cast<std::size_t>(count) * item_size(type)};
  return kSuccess;
}
Status cudnnBackendFinalize(Descriptor descriptor) {
  descriptor->finished = true;
  if (descriptor->kind != kPlan) return kSuccess;
  const DescriptorOfCudnn* chosen = descriptor->part(kPlanConfiguration);
  descriptor->program = chosen->program;
  descriptor->workspace_bytes = chosen->workspace_bytes;
  return kSuccess;
}
Status cudnnBackendGetAttribute(Descriptor descriptor, Attribute attribute, ArrayOf,
                                std::int64_t most, std::int64_t* count, void* items) {
  if (attribute == kPlanWorkspaceBytes) {
    *count = 1;
    std::memcpy(items, &descriptor->workspace_bytes, sizeof descriptor->workspace_bytes);
    return kSuccess;
  }
  *count = std::min<std::int64_t>(most, 2);
  for (std::int64_t i = 0; i < *count; ++i) {
    Descriptor filled = static_cast<Descriptor*>(items)[i];
    filled->program = GraphProgram::of(*descriptor->part(kHeuristicsGraph));
    filled->workspace_bytes = i * 1024;
  }
  return kSuccess;
}
Status cudnnBackendExecute(Handle, Descriptor plan, Descriptor pack) {
  const auto numbers = pack->all<std::int64_t>(kPackNumbers);
  const auto pointers = pack->all<void*>(kPackPointers);
  std::map<std::int64_t, void*> memory;
  for (std::size_t i = 0; i < numbers.size(); ++i) memory[numbers[i]] = pointers[i];
  if (plan->workspace_bytes > 0)
    std::memset(pack->one<void*>(kPackWorkspace), 0xff,
                static_cast<std::size_t>(plan->workspace_bytes));
  GraphRun(*plan->program, std::move(memory)).run();
  return kSuccess;
}
}

}  // namespace recut::cuda::cudnn
