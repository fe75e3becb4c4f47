#include "native/cuda/library_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "engine/codegen/cuda/emit.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "native/cuda/convolution_form.h"
#include "native/cuda/matrix_forms.h"

namespace recut::cuda {
namespace {

constexpr int kMeasuredRuns = 3;

Diagnostics named(const library::Kernel& kernel, const Diagnostics& faults) {
  return {error(fmt::format("node {}: {}", quote(kernel.name), faults.front().message))};
}

}  // namespace

bool library_takes(const library::Kernel& kernel) {
  if (std::holds_alternative<library::Attention>(kernel.calls.front()))
    return takes_attention(kernel);
  return std::all_of(kernel.calls.begin(), kernel.calls.end(), [](const library::Call& call) {
    if (const auto* product = std::get_if<library::MatrixProduct>(&call))
      return form_of(*product).has_value();
    return form_of(std::get<library::Convolution>(call)).ok();
  });
}

// Measures the ways of calls on a stream.
class LibraryCalls::Chooser {
 public:
  static Result<Chooser> create(const SharedCard& card, const Stream& stream) {
    auto from = Event::create(card);
    if (!from) return from.diagnostics();
    auto to = Event::create(card);
    if (!to) return to.diagnostics();
    return Chooser(stream, std::move(*from), std::move(*to));
  }

  // The quickest way; a way that the library refuses is none. `place`: of so many bytes.
  Result<std::size_t> choose(const DeviceCall& call, std::span<const driver::Address> buffers,
                             const std::function<driver::Address(std::int64_t)>& place) const {
    if (call.ways() == 1) return std::size_t{0};
    std::optional<std::size_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t way = 0; way < call.ways(); ++way) {
      const auto seconds = measure(call, way, buffers, place(call.workspace_bytes(way)));
      if (auto done = stream_.wait(); !done) return done.diagnostics();
      if (!seconds || *seconds >= least) continue;
      best = way;
      least = *seconds;
    }
    if (!best) return error("its library refuses all ways to compute it");
    return *best;
  }

 private:
  Chooser(const Stream& stream, Event from, Event to)
      : stream_(stream), from_(std::move(from)), to_(std::move(to)) {}

  Result<double> measure(const DeviceCall& call, std::size_t way,
                         std::span<const driver::Address> buffers, driver::Address scratch) const {
    if (auto done = call.run(way, buffers, scratch); !done) return done.diagnostics();
    if (auto done = stream_.record(from_); !done) return done.diagnostics();
    for (int i = 0; i < kMeasuredRuns; ++i)
      if (auto done = call.run(way, buffers, scratch); !done) return done.diagnostics();
    if (auto done = stream_.record(to_); !done) return done.diagnostics();
    if (auto done = stream_.wait(); !done) return done.diagnostics();
    return to_.seconds_since(from_);
  }

  const Stream& stream_;
  Event from_, to_;
};

Result<std::unique_ptr<DeviceCall>> LibraryCalls::make(const library::Call& call, const Card& card,
                                                       const Stream& stream, Libraries& libraries,
                                                       const CallOptions& options) {
  if (const auto* product = std::get_if<library::MatrixProduct>(&call)) {
    if (libraries.products == nullptr) {
      auto loaded = CublasLt::load(card);
      if (!loaded) return loaded.diagnostics();
      libraries.products = *loaded;
    }
    return CublasLt::call(libraries.products, *product, stream, options);
  }
  if (libraries.convolutions == nullptr) {
    auto loaded = Cudnn::load(stream);
    if (!loaded) return loaded.diagnostics();
    libraries.convolutions = *loaded;
  }
  return Cudnn::call(libraries.convolutions, std::get<library::Convolution>(call), options);
}

Result<Done> LibraryCalls::reserve(const SharedCard& card, std::span<const LaunchPlace> first,
                                   bool all_ways) {
  std::int64_t most = 0;
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (const Chosen& chosen : kernels_[k])
      for (std::size_t way = 0; way < chosen.call->ways(); ++way) {
        const std::int64_t bytes = chosen.call->workspace_bytes(way);
        if ((all_ways || way == chosen.way) && bytes > first[k].workspace.bytes)
          most = std::max(most, bytes);
      }
  scratch_ = DeviceMemory();
  auto scratch = DeviceMemory::reserve(card, most, "the libraries' scratch memory");
  if (!scratch) return scratch.diagnostics();
  scratch_ = std::move(*scratch);
  return Done{};
}

Result<LibraryCalls> LibraryCalls::prepare(const SharedCard& card, const Stream& stream,
                                           std::span<const library::Kernel> kernels,
                                           std::span<const LaunchPlace> first,
                                           std::span<const std::vector<Function>> own,
                                           const CallOptions& options) {
  LibraryCalls calls;
  Libraries libraries;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    calls.kernels_.emplace_back();
    CallOptions bounds = options;
    bounds.most_workspace_bytes = std::max(options.most_workspace_bytes, first[k].workspace.bytes);
    if (!own[k].empty()) {
      auto call = std::make_unique<AttentionCall>(kernels[k], own[k], card, stream);
      if (call->workspace_bytes(0) > bounds.most_workspace_bytes)
        return named(
            kernels[k],
            {error("attention takes " + format_bytes(call->workspace_bytes(0)) +
                   " of workspace, and may have " + format_bytes(bounds.most_workspace_bytes))});
      calls.kernels_.back().push_back({std::move(call), 0});
      continue;
    }
    for (const library::Call& call : kernels[k].calls) {
      auto made = make(call, *card, stream, libraries, bounds);
      if (!made) return named(kernels[k], made.diagnostics());
      calls.kernels_.back().push_back({std::move(*made), 0});
    }
  }
  if (auto done = calls.reserve(card, first, true); !done) return done.diagnostics();
  const auto chooser = Chooser::create(card, stream);
  if (!chooser) return chooser.diagnostics();
  for (std::size_t k = 0; k < kernels.size(); ++k)
    for (Chosen& chosen : calls.kernels_[k]) {
      const auto way = chooser->choose(*chosen.call, first[k].buffers, [&](std::int64_t bytes) {
        return calls.place_of(bytes, first[k].workspace);
      });
      if (!way) return named(kernels[k], way.diagnostics());
      chosen.way = *way;
    }
  if (auto done = calls.reserve(card, first, false); !done) return done.diagnostics();
  return calls;
}

std::int64_t LibraryCalls::workspace_bytes(std::uint32_t kernel) const {
  std::int64_t most = 0;
  for (const Chosen& chosen : kernels_[kernel])
    most = std::max(most, chosen.call->workspace_bytes(chosen.way));
  return most;
}

Result<Done> LibraryCalls::run(std::uint32_t kernel, std::span<const driver::Address> buffers,
                               const Workspace& workspace) const {
  for (const Chosen& chosen : kernels_[kernel]) {
    const std::int64_t bytes = chosen.call->workspace_bytes(chosen.way);
    if (auto done = chosen.call->run(chosen.way, buffers, place_of(bytes, workspace)); !done)
      return done;
  }
  return Done{};
}

}  // namespace recut::cuda
