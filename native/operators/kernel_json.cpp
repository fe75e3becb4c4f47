#include "native/operators/kernel_json.h"

namespace recut::operators {
namespace {

Json tensors_json(const std::vector<KernelTensor>& tensors) {
  Json list = Json::array();
  for (const KernelTensor& tensor : tensors)
    list.push_back({{"name", tensor.name},
                    {"dtype", short_name(tensor.type.dtype)},
                    {"sizes", tensor.type.shape},
                    {"strides", tensor.type.strides},
                    {"bytes", tensor.bytes}});
  return list;
}

}  // namespace

Json kernel_json(const CallFacts& call, const KeptKernel& kept, const Kernel& kernel) {
  return {{"operator", call.target},
          {"device", call.device},
          {"arguments", call.arguments},
          {"library", kept.path},
          {"processor", kept.processor},
          {"arena_bytes", kept.arena_bytes},
          {"inputs", tensors_json(kernel.inputs())},
          {"outputs", tensors_json(kernel.outputs())}};
}

Json miss_json(const Miss& miss) {
  return {{"kind", name_of(miss.kind)}, {"reason", miss.reason}, {"differences", miss.differences}};
}

}  // namespace recut::operators
