// Objects that run work on a GPU: code, streams, captured graphs, and events as clocks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/support/result.h"
#include "native/cuda/gpu.h"

namespace recut::cuda {

// Compiled code, loaded onto the GPU.
class Cubin {
 public:
  static Result<Cubin> load(SharedGpu gpu, const std::string& code);

  Cubin(Cubin&& other) noexcept;
  Cubin& operator=(Cubin&&) = delete;
  ~Cubin();

  // Fails where the code has no such function, or the GPU not so much shared memory per block.
  Result<driver::FunctionHandle> find(const std::string& symbol, std::int64_t shared_bytes) const;

 private:
  Cubin(SharedGpu gpu, driver::ModuleHandle module);

  SharedGpu gpu_;
  driver::ModuleHandle module_;
};

// A point in a stream's time.
class Event {
 public:
  static Result<Event> create(SharedGpu gpu);

  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;
  ~Event();

  driver::EventHandle handle() const { return handle_; }
  double seconds_since(const Event& earlier) const;  // both have passed

 private:
  Event(SharedGpu gpu, driver::EventHandle handle);

  SharedGpu gpu_;
  driver::EventHandle handle_;
};

// An asynchronous queue of launches.
class Stream {
 public:
  static Result<Stream> create(SharedGpu gpu);

  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&&) = delete;
  ~Stream();

  driver::StreamHandle handle() const { return handle_; }
  Result<Done> wait() const;
  Result<Done> record(const Event& event) const;

 private:
  Stream(SharedGpu gpu, driver::StreamHandle handle);

  SharedGpu gpu_;
  driver::StreamHandle handle_;
};

// A captured sequence of launches, which one call launches again.
class LaunchGraph {
 public:
  // Captures all launches that `launches` puts on the stream; none of them runs meanwhile. Fails if
  // `launches` does, or if it makes a call that can't be captured.
  static Result<LaunchGraph> record(SharedGpu gpu, const Stream& stream,
                                    const std::function<Result<Done>()>& launches);

  LaunchGraph(LaunchGraph&& other) noexcept;
  LaunchGraph& operator=(LaunchGraph&&) = delete;
  ~LaunchGraph();

  Result<Done> launch(const Stream& stream) const;

  // Calls change(node), which returns true where it changed the node's arguments.
  Result<Done> change_kernels(const std::function<bool(driver::KernelNode&)>& change);

 private:
  explicit LaunchGraph(SharedGpu gpu) : gpu_(std::move(gpu)) {}
  Result<std::vector<driver::GraphNode>> nodes() const;

  SharedGpu gpu_;
  driver::GraphHandle graph_ = nullptr;
  driver::GraphExec exec_ = nullptr;
};

}  // namespace recut::cuda
