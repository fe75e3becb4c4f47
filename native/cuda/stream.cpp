#include "native/cuda/stream.h"

#include <fmt/core.h>

#include <utility>

// Each class owns its driver handles, and shares the GPU so that the context outlives them. A move
// leaves null handles, which destructors skip. A destructor may run on a thread that never entered
// the context, so it calls driver_here(); all other functions expect an entered context.
// LaunchGraph turns a step's launches into one driver call:
//   record(launches) once  ⇒  launch() each step  ⇒  change_kernels() for new arguments
// record() ends the capture even where `launches` fails, since the stream would stay in capture
// mode. change_kernels() changes the instantiated graph, because a new capture would go through
// every launch.

namespace recut::cuda {
namespace {

constexpr std::int64_t kDefaultSharedBytes = std::int64_t{48}
                                             << 10;  // bytes; more must be requested

}  // namespace

Cubin::Cubin(SharedGpu gpu, driver::ModuleHandle module) : gpu_(std::move(gpu)), module_(module) {}
Cubin::Cubin(Cubin&& other) noexcept
    : gpu_(std::move(other.gpu_)), module_(std::exchange(other.module_, nullptr)) {}
Cubin::~Cubin() {
  if (module_ != nullptr) gpu_->driver_here().cuModuleUnload(module_);
}

Result<Cubin> Cubin::load(SharedGpu gpu, const std::string& code) {
  driver::ModuleHandle module = nullptr;
  if (auto done = gpu->done(gpu->driver().cuModuleLoadData(&module, code.data()),
                            "the step's code can't be loaded onto the GPU");
      !done)
    return done.diagnostics();
  return Cubin(std::move(gpu), module);
}

Result<driver::FunctionHandle> Cubin::find(const std::string& symbol,
                                           std::int64_t shared_bytes) const {
  driver::FunctionHandle function = nullptr;
  auto done = gpu_->done(gpu_->driver().cuModuleGetFunction(&function, module_, symbol.c_str()),
                         fmt::format("the step's code has no kernel {}", symbol));
  if (done && shared_bytes > kDefaultSharedBytes)
    done = gpu_->done(
        gpu_->driver().cuFuncSetAttribute(function, driver::kMaxDynamicSharedBytes,
                                          static_cast<int>(shared_bytes)),
        fmt::format("kernel {} can't have {} bytes of shared memory", symbol, shared_bytes));
  if (!done) return done.diagnostics();
  return function;
}

Event::Event(SharedGpu gpu, driver::EventHandle handle) : gpu_(std::move(gpu)), handle_(handle) {}
Event::Event(Event&& other) noexcept
    : gpu_(std::move(other.gpu_)), handle_(std::exchange(other.handle_, nullptr)) {}
Event::~Event() {
  if (handle_ != nullptr) gpu_->driver_here().cuEventDestroy_v2(handle_);
}

Result<Event> Event::create(SharedGpu gpu) {
  driver::EventHandle handle = nullptr;
  if (auto done = gpu->done(gpu->driver().cuEventCreate(&handle, driver::kDefaultEvent),
                            "the GPU gives no clock");
      !done)
    return done.diagnostics();
  return Event(std::move(gpu), handle);
}

double Event::seconds_since(const Event& earlier) const {
  float ms = 0;
  gpu_->driver().cuEventElapsedTime(&ms, earlier.handle_, handle_);
  return 1e-3 * static_cast<double>(ms);
}

Stream::Stream(SharedGpu gpu, driver::StreamHandle handle)
    : gpu_(std::move(gpu)), handle_(handle) {}
Stream::Stream(Stream&& other) noexcept
    : gpu_(std::move(other.gpu_)), handle_(std::exchange(other.handle_, nullptr)) {}
Stream::~Stream() {
  if (handle_ != nullptr) gpu_->driver_here().cuStreamDestroy_v2(handle_);
}

Result<Stream> Stream::create(SharedGpu gpu) {
  driver::StreamHandle handle = nullptr;
  if (auto done = gpu->done(gpu->driver().cuStreamCreate(&handle, driver::kNonBlockingStream),
                            "the GPU gives no stream");
      !done)
    return done.diagnostics();
  return Stream(std::move(gpu), handle);
}

Result<Done> Stream::wait() const {
  return gpu_->done(gpu_->driver().cuStreamSynchronize(handle_), "the GPU stopped");
}

Result<Done> Stream::record(const Event& event) const {
  return gpu_->done(gpu_->driver().cuEventRecord(event.handle(), handle_),
                    "the GPU's clock can't be read");
}

LaunchGraph::LaunchGraph(LaunchGraph&& other) noexcept
    : gpu_(std::move(other.gpu_)),
      graph_(std::exchange(other.graph_, nullptr)),
      exec_(std::exchange(other.exec_, nullptr)) {}

LaunchGraph::~LaunchGraph() {
  if (exec_ != nullptr) gpu_->driver_here().cuGraphExecDestroy(exec_);
  if (graph_ != nullptr) gpu_->driver_here().cuGraphDestroy(graph_);
}

Result<LaunchGraph> LaunchGraph::record(SharedGpu gpu, const Stream& stream,
                                        const std::function<Result<Done>()>& launches) {
  LaunchGraph recorded(gpu);
  const driver::Functions& f = gpu->driver();
  const char* const refused = "the step can't be recorded as a graph";
  auto done =
      gpu->done(f.cuStreamBeginCapture_v2(stream.handle(), driver::kCaptureRelaxed), refused);
  if (!done) return done.diagnostics();
  const auto launched = launches();
  done = gpu->done(f.cuStreamEndCapture(stream.handle(), &recorded.graph_), refused);
  if (!launched) return launched.diagnostics();
  if (done)
    done = gpu->done(f.cuGraphInstantiateWithFlags(&recorded.exec_, recorded.graph_, 0), refused);
  if (!done) return done.diagnostics();
  return recorded;
}

Result<Done> LaunchGraph::launch(const Stream& stream) const {
  return gpu_->done(gpu_->driver().cuGraphLaunch(exec_, stream.handle()),
                    "the step's graph can't be launched");
}

Result<std::vector<driver::GraphNode>> LaunchGraph::nodes() const {
  std::size_t count = 0;
  driver::Status status = gpu_->driver().cuGraphGetNodes(graph_, nullptr, &count);
  std::vector<driver::GraphNode> nodes(count);
  if (status == driver::kSuccess && count > 0)
    status = gpu_->driver().cuGraphGetNodes(graph_, nodes.data(), &count);
  if (auto done = gpu_->done(status, "the step's graph has no nodes"); !done)
    return done.diagnostics();
  return nodes;
}

Result<Done> LaunchGraph::change_kernels(const std::function<bool(driver::KernelNode&)>& change) {
  const auto all = nodes();
  if (!all) return all.diagnostics();
  const driver::Functions& f = gpu_->driver();
  for (const driver::GraphNode node : *all) {
    driver::NodeType type = driver::kKernelNode;
    driver::KernelNode kernel;
    // The driver may say nothing of libraries' own launches: these are never changed.
    if (f.cuGraphNodeGetType(node, &type) != driver::kSuccess || type != driver::kKernelNode ||
        f.cuGraphKernelNodeGetParams_v2(node, &kernel) != driver::kSuccess || !change(kernel))
      continue;
    if (auto done = gpu_->done(f.cuGraphExecKernelNodeSetParams_v2(exec_, node, &kernel),
                               "a kernel of the step's graph can't be changed");
        !done)
      return done;
  }
  return Done{};
}

}  // namespace recut::cuda
