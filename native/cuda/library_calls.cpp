#include "native/cuda/library_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/codegen/cuda/attention.h"
#include "engine/codegen/cuda/emit.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "native/cache/bytes.h"
#include "native/cache/call_fields.h"
#include "native/cuda/alternative_calls.h"
#include "native/cuda/convolution_form.h"
#include "native/cuda/cudnn_attention.h"
#include "native/cuda/matrix_forms.h"

// Autotuning of library calls. prepare() makes each call once, with all algorithms that its library
// offers (cuBLASLt and cuDNN heuristics, or Recut's attention kernels beside cuDNN's), and times
// the algorithms that the AlgorithmCache lacks: kMeasuredRuns runs each, the minimum counts.
// Deterministic algorithms come first, then the quickest. best() takes the first that fits: one in
// the launch's workspace if it is within kTieFactor of the best, else one with scratch beside the
// arena. Cost: (algorithms * runs) launches per new call. As in Inductor's and XLA's GEMM
// autotuning: a library's heuristic ranks its algorithms without timing them.

namespace recut::cuda {
namespace {

constexpr int kMeasuredRuns = 3;
constexpr double kTieFactor = 1.02;  // time ratio that counts as a tie, by noise

Diagnostics named(const library::Kernel& kernel, const Diagnostics& faults) {
  return {error(fmt::format("node {}: {}", quote(kernel.name), faults.front().message))};
}

template <Precision precision>
bool takes(const library::Kernel& kernel) {
  if (std::holds_alternative<library::Attention>(kernel.calls.front()))
    return supports_attention(kernel);
  return std::all_of(kernel.calls.begin(), kernel.calls.end(), [](const library::Call& call) {
    if (const auto* product = std::get_if<library::MatrixProduct>(&call))
      return form_of(*product).has_value();
    const auto& convolution = std::get<library::Convolution>(call);
    const auto form = form_of(convolution);
    return form.ok() && !convolution.has_epilogue() &&
           !(form->channels_last && keeps_f32(*form, precision));
  });
}

}  // namespace

library::SupportsForm library_takes(Precision precision) {
  return precision == Precision::f32 ? takes<Precision::f32> : takes<Precision::tf32>;
}

// Asks a GPU's libraries which kernels they can compute. The libraries are opened for the first
// call that needs them, and asked once for all layers that make the same call.
class LibraryCalls::SupportQuery {
 public:
  SupportQuery(SharedGpu gpu, const CallOptions& options)
      : gpu_(std::move(gpu)), options_(options) {}

  bool is_supported(const library::Kernel& kernel) {
    const std::lock_guard lock(mutex_);
    if (!ensure_stream()) return true;
    const auto [known, first] = answers_.emplace(print(strip_names(kernel)), true);
    if (first)
      known->second = std::none_of(kernel.calls.begin(), kernel.calls.end(),
                                   [&](const library::Call& call) { return is_unsupported(call); });
    return known->second;
  }

 private:
  bool ensure_stream() {
    if (stream_) return true;
    if (!gpu_->enter()) return false;
    auto stream = Stream::create(gpu_);
    if (stream) stream_.emplace(std::move(*stream));
    return stream.ok();
  }

  // Attention is never refused: Recut has kernels for it.
  bool is_unsupported(const library::Call& call) {
    if (std::holds_alternative<library::Attention>(call)) return false;
    if (!libraries_.load(call, *gpu_, *stream_)) return false;
    const std::int64_t max_bytes = options_.max_workspace_bytes;
    return !make(call, *gpu_, *stream_, libraries_, options_.precision, {max_bytes, max_bytes})
                .ok();
  }

  const SharedGpu gpu_;
  const CallOptions options_;
  std::mutex mutex_;
  std::optional<Stream> stream_;  // outlives the calls made for it
  Libraries libraries_;
  std::unordered_map<std::string, bool> answers_;  // by the kernel's text
};

library::SupportsKernel library_takes(const SharedGpu& gpu, const CallOptions& options) {
  const auto query = std::make_shared<LibraryCalls::SupportQuery>(gpu, options);
  return [fits = library_takes(options.precision), query](const library::Kernel& kernel) {
    return fits(kernel) && query->is_supported(kernel);
  };
}

// Times the algorithms of calls on a stream.
class LibraryCalls::Autotuner {
 public:
  static Result<Autotuner> create(const SharedGpu& gpu, const Stream& stream,
                                  bool allows_nondeterminism) {
    auto from = Event::create(gpu);
    if (!from) return from.diagnostics();
    auto to = Event::create(gpu);
    if (!to) return to.diagnostics();
    return Autotuner(stream, std::move(*from), std::move(*to), allows_nondeterminism);
  }

  // All algorithms that the library doesn't refuse, in TunedCall's order. `workspace_at` gives
  // the address of a workspace by its size in bytes.
  Result<std::vector<MeasuredAlgorithm>> measure(
      const DeviceCall& call, std::span<const driver::Address> buffers,
      const std::function<driver::Address(std::int64_t)>& workspace_at) const {
    std::vector<MeasuredAlgorithm> algorithms;
    for (std::size_t algorithm = 0; algorithm < call.algorithm_count(); ++algorithm) {
      const std::int64_t bytes = call.workspace_bytes(algorithm);
      if (call.algorithm_count() == 1)
        return std::vector<MeasuredAlgorithm>{{algorithm, bytes, 0, false}};
      const auto seconds = measure(call, algorithm, buffers, workspace_at(bytes));
      if (auto done = stream_.wait(); !done) return done.diagnostics();
      if (seconds)
        algorithms.push_back({algorithm, bytes, *seconds,
                              !allows_nondeterminism_ && call.is_nondeterministic(algorithm)});
    }
    if (algorithms.empty()) return error("its library refuses every algorithm for it");
    std::stable_sort(algorithms.begin(), algorithms.end(),
                     [](const MeasuredAlgorithm& a, const MeasuredAlgorithm& b) {
                       return std::pair(a.avoided, a.seconds) < std::pair(b.avoided, b.seconds);
                     });
    return algorithms;
  }

 private:
  Autotuner(const Stream& stream, Event from, Event to, bool allows_nondeterminism)
      : stream_(stream),
        from_(std::move(from)),
        to_(std::move(to)),
        allows_nondeterminism_(allows_nondeterminism) {}

  // Seconds of the quickest run: other work on the machine only makes runs longer. The first of
  // the two launches keeps the GPU busy while the host prepares the second.
  Result<double> measure(const DeviceCall& call, std::size_t algorithm,
                         std::span<const driver::Address> buffers, driver::Address scratch) const {
    double fastest = 0;
    for (int i = 0; i < kMeasuredRuns; ++i) {
      if (auto done = call.run(algorithm, buffers, scratch); !done) return done.diagnostics();
      if (auto done = stream_.record(from_); !done) return done.diagnostics();
      if (auto done = call.run(algorithm, buffers, scratch); !done) return done.diagnostics();
      if (auto done = stream_.record(to_); !done) return done.diagnostics();
      if (auto done = stream_.wait(); !done) return done.diagnostics();
      const double seconds = to_.seconds_since(from_);
      if (i == 0 || seconds < fastest) fastest = seconds;
    }
    return fastest;
  }

  const Stream& stream_;
  Event from_, to_;
  const bool allows_nondeterminism_;
};

const MeasuredAlgorithm* LibraryCalls::TunedCall::best(std::int64_t workspace,
                                                       std::int64_t max_bytes) const {
  const auto within = [&](std::int64_t bytes) {
    const auto algorithm =
        std::find_if(algorithms.begin(), algorithms.end(),
                     [&](const MeasuredAlgorithm& each) { return each.workspace_bytes <= bytes; });
    return algorithm == algorithms.end() ? nullptr : &*algorithm;
  };
  const MeasuredAlgorithm *best = within(max_bytes), *fits = within(workspace);
  const bool is_tie = fits != nullptr && fits->avoided == best->avoided &&
                      fits->seconds <= kTieFactor * best->seconds;
  return is_tie ? fits : best;
}

Result<Done> LibraryCalls::Libraries::load_products(const Gpu& gpu) {
  if (products != nullptr) return Done{};
  auto loaded = CublasLt::load(gpu);
  if (!loaded) return loaded.diagnostics();
  products = *loaded;
  return Done{};
}

Result<Done> LibraryCalls::Libraries::load(const library::Call& call, const Gpu& gpu,
                                           const Stream& stream) {
  return std::holds_alternative<library::MatrixProduct>(call) ? load_products(gpu)
                                                              : load_convolutions(stream);
}

Result<Done> LibraryCalls::Libraries::load_convolutions(const Stream& stream) {
  if (convolutions != nullptr) return Done{};
  auto loaded = Cudnn::load(stream);
  if (!loaded) return loaded.diagnostics();
  convolutions = *loaded;
  return Done{};
}

Result<std::unique_ptr<DeviceCall>> LibraryCalls::make(const library::Call& call, const Gpu& gpu,
                                                       const Stream& stream, Libraries& libraries,
                                                       Precision precision,
                                                       const WorkspaceBounds& bounds) {
  if (auto loaded = libraries.load(call, gpu, stream); !loaded) return loaded.diagnostics();
  if (const auto* product = std::get_if<library::MatrixProduct>(&call))
    return CublasLt::call(libraries.products, *product, stream, precision, bounds);
  return Cudnn::call(libraries.convolutions, std::get<library::Convolution>(call), precision,
                     bounds.max_bytes);
}

// Recut's own kernels, and beside them cuDNN's where it has some.
std::unique_ptr<DeviceCall> LibraryCalls::attention(const SharedGpu& gpu, const Stream& stream,
                                                    const library::Kernel& kernel,
                                                    const std::vector<Function>& own,
                                                    Libraries& libraries,
                                                    std::int64_t max_workspace) {
  auto ours = std::make_unique<AttentionCall>(kernel, own, gpu, stream);
  if (!cudnn_may_take(kernel) || !libraries.load_convolutions(stream)) return ours;
  auto theirs = cudnn_attention(libraries.convolutions, kernel, gpu, stream, max_workspace);
  if (theirs == nullptr) return ours;
  std::vector<std::unique_ptr<DeviceCall>> both;
  both.push_back(std::move(ours));
  both.push_back(std::move(theirs));
  return std::make_unique<AlternativeCalls>(std::move(both));
}

Result<Done> LibraryCalls::make_calls(const SharedGpu& gpu, const Stream& stream,
                                      const library::Kernel& kernel,
                                      const std::vector<Function>& own,
                                      const KernelArguments& arguments, Libraries& libraries,
                                      Precision precision) {
  std::vector<TunedCall>& calls = kernels_.emplace_back();
  const auto [min_bytes, max_bytes] =
      std::minmax_element(arguments.workspaces.begin(), arguments.workspaces.end());
  if (!own.empty()) {
    calls.push_back({attention(gpu, stream, kernel, own, libraries, max_bytes_of(*max_bytes)), {}});
    return Done{};
  }
  for (const library::Call& call : kernel.calls) {
    auto made = make(call, *gpu, stream, libraries, precision,
                     {max_bytes_of(*max_bytes), max_bytes_of(*min_bytes)});
    if (!made) return named(kernel, made.diagnostics());
    calls.push_back({std::move(*made), {}});
  }
  return Done{};
}

Result<Done> LibraryCalls::reserve(const SharedGpu& gpu, std::int64_t bytes) {
  scratch_ = DeviceMemory();
  auto scratch = DeviceMemory::reserve(gpu, bytes, "the libraries' scratch memory");
  if (!scratch) return scratch.diagnostics();
  scratch_ = std::move(*scratch);
  return Done{};
}

Result<Done> LibraryCalls::reserve_for_measuring(const SharedGpu& gpu,
                                                 std::span<const KernelArguments> arguments) {
  std::int64_t max_bytes = 0;
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (const TunedCall& tuned : kernels_[k])
      for (std::size_t algorithm = 0;
           tuned.algorithms.empty() && algorithm < tuned.call->algorithm_count(); ++algorithm) {
        const std::int64_t bytes = tuned.call->workspace_bytes(algorithm);
        if (bytes > arguments[k].workspace.bytes) max_bytes = std::max(max_bytes, bytes);
      }
  return reserve(gpu, std::min(max_bytes, beside_));
}

Result<Done> LibraryCalls::reserve_for_launches(const SharedGpu& gpu,
                                                std::span<const KernelArguments> arguments,
                                                std::span<const library::Kernel> kernels) {
  std::int64_t max_bytes = 0;
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (const TunedCall& tuned : kernels_[k])
      for (const std::int64_t workspace : arguments[k].workspaces) {
        const MeasuredAlgorithm* best = tuned.best(workspace, max_bytes_of(workspace));
        if (best == nullptr)
          return named(kernels[k],
                       {error(fmt::format("nothing computes it in {} bytes of workspace",
                                          format_count(max_bytes_of(workspace))))});
        if (best->workspace_bytes > workspace)
          max_bytes = std::max(max_bytes, best->workspace_bytes);
      }
  return reserve(gpu, max_bytes);
}

std::string LibraryCalls::Libraries::versions() const {
  return fmt::format("cuBLASLt {}, cuDNN {}", products == nullptr ? 0 : products->version(),
                     convolutions == nullptr ? 0 : convolutions->version());
}

std::string LibraryCalls::cache_key_of(library::Kernel kernel, const KernelArguments& arguments,
                                       const Libraries& libraries,
                                       const CallOptions& options) const {
  std::string versions = libraries.versions();
  std::vector<driver::Address> alignments;  // libraries use no larger ones
  for (const driver::Address buffer : arguments.buffers)
    alignments.push_back(std::min<driver::Address>(buffer & (~buffer + 1), kWorkspaceAlignment));
  const auto [fewest, largest] =
      std::minmax_element(arguments.workspaces.begin(), arguments.workspaces.end());
  std::int64_t min_bytes = max_bytes_of(*fewest), max_bytes = max_bytes_of(*largest);
  auto [precision, beside, allows_nondeterminism] = options;
  cache::ByteWriter<cache::CallFields> writer;
  writer(versions, kernel.calls, alignments, min_bytes, max_bytes, precision, beside,
         allows_nondeterminism);
  return writer.bytes();
}

bool LibraryCalls::take(std::uint32_t kernel, const AlgorithmCache::KernelAlgorithms& known) {
  std::vector<TunedCall>& calls = kernels_[kernel];
  const auto is_of = [](const DeviceCall& call, const std::vector<MeasuredAlgorithm>& algorithms) {
    return !algorithms.empty() &&
           std::all_of(
               algorithms.begin(), algorithms.end(), [&](const MeasuredAlgorithm& measured) {
                 return measured.algorithm < call.algorithm_count() &&
                        measured.workspace_bytes == call.workspace_bytes(measured.algorithm);
               });
  };
  if (known.size() != calls.size()) return false;
  for (std::size_t c = 0; c < calls.size(); ++c)
    if (!is_of(*calls[c].call, known[c])) return false;
  for (std::size_t c = 0; c < calls.size(); ++c) calls[c].algorithms = known[c];
  return true;
}

Result<Done> LibraryCalls::measure(const SharedGpu& gpu, const Stream& stream,
                                   std::span<const library::Kernel> kernels,
                                   std::span<const KernelArguments> arguments,
                                   const CallOptions& options) {
  if (auto done = reserve_for_measuring(gpu, arguments); !done) return done;
  const auto autotuner = Autotuner::create(gpu, stream, options.allows_nondeterminism);
  if (!autotuner) return autotuner.diagnostics();
  for (std::size_t k = 0; k < kernels.size(); ++k)
    for (TunedCall& tuned : kernels_[k]) {
      if (!tuned.algorithms.empty()) continue;
      auto algorithms = autotuner->measure(
          *tuned.call, arguments[k].buffers,
          [&](std::int64_t bytes) { return workspace_address(bytes, arguments[k].workspace); });
      if (!algorithms) return named(kernels[k], algorithms.diagnostics());
      tuned.algorithms = std::move(*algorithms);
    }
  return Done{};
}

Result<LibraryCalls> LibraryCalls::prepare(const SharedGpu& gpu, const Stream& stream,
                                           std::span<const library::Kernel> kernels,
                                           std::span<const KernelArguments> arguments,
                                           std::span<const std::vector<Function>> own,
                                           const CallOptions& options, AlgorithmCache* kept) {
  LibraryCalls calls;
  calls.beside_ = options.max_workspace_bytes;
  Libraries libraries;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (auto done = calls.make_calls(gpu, stream, kernels[k], own[k], arguments[k], libraries,
                                     options.precision);
        !done)
      return done.diagnostics();
  std::vector<std::pair<std::uint32_t, std::string>> untuned;  // kernels, and their keys
  for (std::uint32_t k = 0; kept != nullptr && k < kernels.size(); ++k) {
    std::string key = calls.cache_key_of(kernels[k], arguments[k], libraries, options);
    const auto known = kept->find(key);
    if (!known || !calls.take(k, *known)) untuned.emplace_back(k, std::move(key));
  }
  if (auto done = calls.measure(gpu, stream, kernels, arguments, options); !done)
    return done.diagnostics();
  for (const auto& [k, key] : untuned) {
    AlgorithmCache::KernelAlgorithms algorithms;
    for (const TunedCall& tuned : calls.kernels_[k]) algorithms.push_back(tuned.algorithms);
    kept->add(key, std::move(algorithms));
  }
  if (!untuned.empty()) kept->write();
  if (auto done = calls.reserve_for_launches(gpu, arguments, kernels); !done)
    return done.diagnostics();
  return calls;
}

std::int64_t LibraryCalls::workspace_bytes(std::uint32_t kernel, std::int64_t workspace) const {
  std::int64_t max_bytes = 0;
  for (const TunedCall& tuned : kernels_[kernel])
    max_bytes =
        std::max(max_bytes, tuned.best(workspace, max_bytes_of(workspace))->workspace_bytes);
  return max_bytes;
}

std::int64_t LibraryCalls::bytes_within(std::uint32_t kernel, std::int64_t workspace) const {
  std::int64_t max_bytes = 0;
  for (const TunedCall& tuned : kernels_[kernel])
    if (const std::int64_t bytes = tuned.best(workspace, max_bytes_of(workspace))->workspace_bytes;
        bytes <= workspace)
      max_bytes = std::max(max_bytes, bytes);
  return max_bytes;
}

Result<Done> LibraryCalls::run(std::uint32_t kernel, std::span<const driver::Address> buffers,
                               const Workspace& workspace) const {
  for (const TunedCall& tuned : kernels_[kernel]) {
    const MeasuredAlgorithm& best = *tuned.best(workspace.bytes, max_bytes_of(workspace.bytes));
    if (auto done = tuned.call->run(best.algorithm, buffers,
                                    workspace_address(best.workspace_bytes, workspace));
        !done)
      return done;
  }
  return Done{};
}

}  // namespace recut::cuda
