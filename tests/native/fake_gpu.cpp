#include "tests/native/fake_gpu.h"

#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace recut::test {
namespace {

using namespace cuda::driver;  // NOLINT: all of this is written in its words

constexpr auto kRefused = static_cast<Status>(900), kNoContext = static_cast<Status>(201);
thread_local Context current = nullptr;
std::map<Address, std::size_t> blocks;

// A captured launch with its arguments.
struct Node {
  const FakeKernel* kernel = nullptr;
  std::vector<long long> values;
  std::vector<void*> arguments;

  Node(const FakeKernel& launched, void** given) : kernel(&launched), values(launched.parameters) {
    take(given);
  }
  void take(void** given) {
    for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&values[i], given[i], 8);
  }
  void** own() {
    arguments.clear();
    for (long long& value : values) arguments.push_back(&value);
    return arguments.data();
  }
};
std::vector<Node*>* recorded = nullptr;  // while a stream is captured

template <class Handle>
Handle handle(const void* object) {
  return reinterpret_cast<Handle>(const_cast<void*>(object));  // NOLINT
}
template <class Object, class Handle>
Object& object(Handle given) {
  return *reinterpret_cast<Object*>(given);  // NOLINT
}

Status reserve(Address* address, std::size_t bytes) {
  FakeGpu& gpu = fake_gpu();
  if (current == nullptr) return kNoContext;
  if (gpu.used_bytes + bytes > gpu.total_bytes) return kOutOfMemory;
  *address = reinterpret_cast<Address>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  blocks[*address] = bytes;
  gpu.used_bytes += bytes;
  return kSuccess;
}

Status release(Address address) {
  if (current == nullptr) return kNoContext;
  fake_gpu().used_bytes -= blocks[address];
  blocks.erase(address);
  std::free(reinterpret_cast<void*>(address));  // NOLINT
  return kSuccess;
}

// Whether the bytes are all of one block.
bool reaches(Address address, std::size_t bytes) {
  if (current == nullptr) return false;
  auto block = blocks.upper_bound(address);
  if (block == blocks.begin()) return false;
  --block;
  return address + bytes <= block->first + block->second;
}

Status launch(FunctionHandle function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
              unsigned, StreamHandle, void** arguments, void**) {
  const FakeKernel& kernel = object<FakeKernel>(function);
  if (current == nullptr) return kNoContext;
  ++fake_gpu().launches;
  if (recorded != nullptr)
    recorded->push_back(new Node(kernel, arguments));
  else
    kernel.run(arguments);
  return kSuccess;
}

Status find(FunctionHandle* function, ModuleHandle, const char* name) {
  const auto found = fake_gpu().kernels.find(name);
  if (found == fake_gpu().kernels.end()) return kRefused;
  *function = handle<FunctionHandle>(&found->second);
  return kSuccess;
}

void add_memory(Functions& f) {
  f.cuMemGetInfo_v2 = [](std::size_t* free, std::size_t* total) {
    *total = fake_gpu().total_bytes;
    *free = *total - fake_gpu().used_bytes;
    return kSuccess;
  };
  f.cuMemAlloc_v2 = reserve;
  f.cuMemFree_v2 = release;
  f.cuMemsetD8Async = [](Address to, unsigned char with, std::size_t bytes, StreamHandle) {
    if (!reaches(to, bytes)) return kRefused;
    std::memset(reinterpret_cast<void*>(to), with, bytes);  // NOLINT
    ++fake_gpu().cleared;
    return kSuccess;
  };
  f.cuMemcpyHtoD_v2 = [](Address to, const void* from, std::size_t bytes) {
    if (!reaches(to, bytes)) return kRefused;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);  // NOLINT
    return kSuccess;
  };
  f.cuMemcpyDtoH_v2 = [](void* to, Address from, std::size_t bytes) {
    if (!reaches(from, bytes)) return kRefused;
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);  // NOLINT
    return kSuccess;
  };
  f.cuMemsetD8_v2 = [](Address to, unsigned char with, std::size_t bytes) {
    if (!reaches(to, bytes)) return kRefused;
    std::memset(reinterpret_cast<void*>(to), with, bytes);  // NOLINT
    return kSuccess;
  };
}

void add_gpu(Functions& f) {
  f.cuInit = [](unsigned) { return kSuccess; };
  f.cuDriverGetVersion = [](int* version) {
    *version = fake_gpu().driver_version;
    return kSuccess;
  };
  f.cuGetErrorName = [](Status, const char** name) {
    *name = "CUDA_ERROR_FAKE";
    return kSuccess;
  };
  f.cuGetErrorString = [](Status, const char** text) {
    *text = "the test's own";
    return kSuccess;
  };
  f.cuDeviceGetCount = [](int* count) {
    *count = fake_gpu().gpus;
    return kSuccess;
  };
  f.cuDeviceGet = [](cuda::driver::Device* device, int number) {
    *device = number;
    return kSuccess;
  };
  f.cuDeviceGetName = [](char* name, int bytes, cuda::driver::Device) {
    std::strncpy(name, "Fake H100", static_cast<std::size_t>(bytes));
    return kSuccess;
  };
  f.cuDeviceGetAttribute = [](int* value, DeviceAttribute which, cuda::driver::Device) {
    if (which == kComputeMajor) *value = fake_gpu().capability / 10;
    if (which == kComputeMinor) *value = fake_gpu().capability % 10;
    if (which == kMultiprocessorCount) *value = 2;
    if (which == kL2Bytes) *value = 1 << 20;
    return kSuccess;
  };
  f.cuDevicePrimaryCtxRetain = [](Context* context, cuda::driver::Device) {
    *context = handle<Context>(&fake_gpu());
    return kSuccess;
  };
  f.cuDevicePrimaryCtxRelease_v2 = [](cuda::driver::Device) { return kSuccess; };
  f.cuCtxSetCurrent = [](Context context) {
    current = context;
    return kSuccess;
  };
}

void add_streams(Functions& f) {
  f.cuStreamCreate = [](StreamHandle* stream, unsigned) {
    *stream = handle<StreamHandle>(&fake_gpu());
    return current != nullptr ? kSuccess : kNoContext;
  };
  f.cuStreamDestroy_v2 = [](StreamHandle) { return kSuccess; };
  f.cuStreamSynchronize = [](StreamHandle) { return recorded == nullptr ? kSuccess : kRefused; };
  f.cuEventCreate = [](EventHandle* event, unsigned) {
    *event = handle<EventHandle>(&fake_gpu());
    return kSuccess;
  };
  f.cuEventDestroy_v2 = [](EventHandle) { return kSuccess; };
  f.cuEventRecord = [](EventHandle, StreamHandle) { return kSuccess; };
  f.cuEventElapsedTime = [](float* ms, EventHandle, EventHandle) {
    *ms = fake_gpu().elapsed_ms;
    fake_gpu().elapsed_ms += fake_gpu().slower_ms;
    return kSuccess;
  };
  f.cuModuleLoadData = [](ModuleHandle* module, const void* image) {
    *module = handle<ModuleHandle>(image);
    return current != nullptr ? kSuccess : kNoContext;
  };
  f.cuModuleUnload = [](ModuleHandle) { return kSuccess; };
  f.cuModuleGetFunction = find;
  f.cuFuncSetAttribute = [](FunctionHandle, FunctionAttribute, int bytes) {
    return bytes <= 200 << 10 ? kSuccess : kRefused;
  };
  f.cuLaunchKernel = launch;
  f.cuLaunchCooperativeKernel = [](FunctionHandle function, unsigned x, unsigned y, unsigned z,
                                   unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, StreamHandle stream, void** arguments) {
    return launch(function, x, y, z, block_x, block_y, block_z, shared_bytes, stream, arguments,
                  nullptr);
  };
}

using Nodes = std::vector<Node*>;

void add_graphs(Functions& f) {
  f.cuStreamBeginCapture_v2 = [](StreamHandle, CaptureMode) {
    if (!fake_gpu().records) return kRefused;
    recorded = new Nodes();
    return kSuccess;
  };
  f.cuStreamEndCapture = [](StreamHandle, GraphHandle* graph) {
    *graph = handle<GraphHandle>(std::exchange(recorded, nullptr));
    return kSuccess;
  };
  f.cuGraphGetNodes = [](GraphHandle graph, GraphNode* nodes, std::size_t* count) {
    const Nodes& all = object<Nodes>(graph);
    *count = all.size();
    for (std::size_t i = 0; nodes != nullptr && i < all.size(); ++i)
      nodes[i] = handle<GraphNode>(all[i]);
    return kSuccess;
  };
  f.cuGraphNodeGetType = [](GraphNode, NodeType* type) {
    *type = kKernelNode;
    return kSuccess;
  };
  f.cuGraphKernelNodeGetParams_v2 = [](GraphNode node, KernelNode* kernel) {
    kernel->function = handle<FunctionHandle>(object<Node>(node).kernel);
    kernel->arguments = object<Node>(node).own();
    return kSuccess;
  };
  f.cuGraphExecKernelNodeSetParams_v2 = [](GraphExec, GraphNode node, const KernelNode* kernel) {
    object<Node>(node).take(kernel->arguments);
    ++fake_gpu().changed_nodes;
    return kSuccess;
  };
  f.cuGraphInstantiateWithFlags = [](GraphExec* exec, GraphHandle graph, unsigned long long) {
    *exec = handle<GraphExec>(&object<Nodes>(graph));
    return kSuccess;
  };
  f.cuGraphLaunch = [](GraphExec exec, StreamHandle) {
    ++fake_gpu().graph_launches;
    for (Node* node : object<Nodes>(exec)) node->kernel->run(node->own());
    return kSuccess;
  };
  f.cuGraphExecDestroy = [](GraphExec) { return kSuccess; };
  f.cuGraphDestroy = [](GraphHandle graph) {
    for (Node* node : object<Nodes>(graph)) delete node;
    delete &object<Nodes>(graph);
    return kSuccess;
  };
}

}  // namespace

FakeGpu& fake_gpu() {
  static FakeGpu gpu;
  return gpu;
}

cuda::driver::Functions fake_driver() {
  Functions functions;
  add_gpu(functions);
  add_memory(functions);
  add_streams(functions);
  add_graphs(functions);
  return functions;
}

}  // namespace recut::test
