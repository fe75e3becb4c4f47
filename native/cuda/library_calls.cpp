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
#include "native/cuda/alternatives.h"
#include "native/cuda/convolution_form.h"
#include "native/cuda/cudnn_attention.h"
#include "native/cuda/matrix_forms.h"

// Autotuning of library calls. prepare() makes each call once, with all algorithms that its library
// offers (cuBLASLt and cuDNN heuristics, or Recut's attention kernels beside cuDNN's), and times
// those that the AlgorithmCache lacks: kMeasuredRuns runs each, the minimum counts. Deterministic
// algorithms come first, then the quickest. best() takes the first that fits: one in the launch's
// workspace if it is within kTieFactor of the best, else one with scratch beside the arena. Cost:
// (algorithms * runs) launches per new call. As in Inductor's and XLA's GEMM autotuning: a
// library's heuristic ranks its algorithms without timing them.

namespace recut::cuda {
namespace {

constexpr int kMeasuredRuns = 3;
constexpr double kAsQuick = 1.02;  // time ratio that counts as a tie, by noise

Diagnostics named(const library::Kernel& kernel, const Diagnostics& faults) {
  return {error(fmt::format("node {}: {}", quote(kernel.name), faults.front().message))};
}

template <Precision precision>
bool takes(const library::Kernel& kernel) {
  if (std::holds_alternative<library::Attention>(kernel.calls.front()))
    return takes_attention(kernel);
  return std::all_of(kernel.calls.begin(), kernel.calls.end(), [](const library::Call& call) {
    if (const auto* product = std::get_if<library::MatrixProduct>(&call))
      return form_of(*product).has_value();
    const auto form = form_of(std::get<library::Convolution>(call));
    return form.ok() && !(form->channels_last && keeps_f32(*form, precision));
  });
}

}  // namespace

library::SupportsForm library_takes(Precision precision) {
  return precision == Precision::f32 ? takes<Precision::f32> : takes<Precision::tf32>;
}

// Which kernels a GPU's libraries can compute. The libraries are opened for the first call that
// needs them, and asked once for all layers that make the same call.
class LibraryCalls::Question {
 public:
  Question(SharedCard card, const CallOptions& options)
      : card_(std::move(card)), options_(options) {}

  bool has_ways(const library::Kernel& kernel) {
    const std::lock_guard lock(mutex_);
    if (!has_stream()) return true;
    const auto [known, first] = answers_.emplace(print(without_names(kernel)), true);
    if (first)
      known->second = std::none_of(kernel.calls.begin(), kernel.calls.end(),
                                   [&](const library::Call& call) { return is_refused(call); });
    return known->second;
  }

 private:
  bool has_stream() {
    if (stream_) return true;
    if (!card_->enter()) return false;
    auto stream = Stream::create(card_);
    if (stream) stream_.emplace(std::move(*stream));
    return stream.ok();
  }

  // Attention is never refused: Recut has kernels for it.
  bool is_refused(const library::Call& call) {
    if (std::holds_alternative<library::Attention>(call)) return false;
    if (!libraries_.load(call, *card_, *stream_)) return false;
    const std::int64_t most = options_.most_workspace_bytes;
    return !make(call, *card_, *stream_, libraries_, options_.precision, {most, most}).ok();
  }

  const SharedCard card_;
  const CallOptions options_;
  std::mutex mutex_;
  std::optional<Stream> stream_;  // outlives the calls made for it
  Libraries libraries_;
  std::unordered_map<std::string, bool> answers_;  // by the kernel's text
};

library::SupportsKernel library_takes(const SharedCard& card, const CallOptions& options) {
  const auto question = std::make_shared<LibraryCalls::Question>(card, options);
  return [fits = library_takes(options.precision), question](const library::Kernel& kernel) {
    return fits(kernel) && question->has_ways(kernel);
  };
}

// Times the algorithms of calls on a stream.
class LibraryCalls::Chooser {
 public:
  static Result<Chooser> create(const SharedCard& card, const Stream& stream, bool may_vary) {
    auto from = Event::create(card);
    if (!from) return from.diagnostics();
    auto to = Event::create(card);
    if (!to) return to.diagnostics();
    return Chooser(stream, std::move(*from), std::move(*to), may_vary);
  }

  // All algorithms that the library doesn't refuse, in TunedCall's order. `workspace_at` gives
  // the address of a workspace of so many bytes.
  Result<std::vector<MeasuredWay>> measure(
      const DeviceCall& call, std::span<const driver::Address> buffers,
      const std::function<driver::Address(std::int64_t)>& place) const {
    std::vector<MeasuredWay> ways;
    for (std::size_t way = 0; way < call.ways(); ++way) {
      const std::int64_t bytes = call.workspace_bytes(way);
      if (call.ways() == 1) return std::vector<MeasuredWay>{{way, bytes, 0, false}};
      const auto seconds = measure(call, way, buffers, place(bytes));
      if (auto done = stream_.wait(); !done) return done.diagnostics();
      if (seconds) ways.push_back({way, bytes, *seconds, !may_vary_ && call.varies(way)});
    }
    if (ways.empty()) return error("its library refuses all ways to compute it");
    std::stable_sort(ways.begin(), ways.end(), [](const MeasuredWay& a, const MeasuredWay& b) {
      return std::pair(a.avoided, a.seconds) < std::pair(b.avoided, b.seconds);
    });
    return ways;
  }

 private:
  Chooser(const Stream& stream, Event from, Event to, bool may_vary)
      : stream_(stream), from_(std::move(from)), to_(std::move(to)), may_vary_(may_vary) {}

  // Seconds of the quickest run: other work on the machine only makes runs longer. The first of
  // the two launches keeps the GPU busy while the host prepares the second.
  Result<double> measure(const DeviceCall& call, std::size_t way,
                         std::span<const driver::Address> buffers, driver::Address scratch) const {
    double least = 0;
    for (int i = 0; i < kMeasuredRuns; ++i) {
      if (auto done = call.run(way, buffers, scratch); !done) return done.diagnostics();
      if (auto done = stream_.record(from_); !done) return done.diagnostics();
      if (auto done = call.run(way, buffers, scratch); !done) return done.diagnostics();
      if (auto done = stream_.record(to_); !done) return done.diagnostics();
      if (auto done = stream_.wait(); !done) return done.diagnostics();
      const double seconds = to_.seconds_since(from_);
      if (i == 0 || seconds < least) least = seconds;
    }
    return least;
  }

  const Stream& stream_;
  Event from_, to_;
  const bool may_vary_;
};

const MeasuredWay* LibraryCalls::Chosen::best(std::int64_t workspace, std::int64_t most) const {
  const auto within = [&](std::int64_t bytes) {
    const auto way = std::find_if(ways.begin(), ways.end(), [&](const MeasuredWay& each) {
      return each.workspace_bytes <= bytes;
    });
    return way == ways.end() ? nullptr : &*way;
  };
  const MeasuredWay *best = within(most), *fits = within(workspace);
  const bool as_good = fits != nullptr && fits->avoided == best->avoided &&
                       fits->seconds <= kAsQuick * best->seconds;
  return as_good ? fits : best;
}

Result<Done> LibraryCalls::Libraries::load_products(const Card& card) {
  if (products != nullptr) return Done{};
  auto loaded = CublasLt::load(card);
  if (!loaded) return loaded.diagnostics();
  products = *loaded;
  return Done{};
}

Result<Done> LibraryCalls::Libraries::load(const library::Call& call, const Card& card,
                                           const Stream& stream) {
  return std::holds_alternative<library::MatrixProduct>(call) ? load_products(card)
                                                              : load_convolutions(stream);
}

Result<Done> LibraryCalls::Libraries::load_convolutions(const Stream& stream) {
  if (convolutions != nullptr) return Done{};
  auto loaded = Cudnn::load(stream);
  if (!loaded) return loaded.diagnostics();
  convolutions = *loaded;
  return Done{};
}

Result<std::unique_ptr<DeviceCall>> LibraryCalls::make(const library::Call& call, const Card& card,
                                                       const Stream& stream, Libraries& libraries,
                                                       Precision precision,
                                                       const WorkspaceBounds& bounds) {
  if (auto loaded = libraries.load(call, card, stream); !loaded) return loaded.diagnostics();
  if (const auto* product = std::get_if<library::MatrixProduct>(&call))
    return CublasLt::call(libraries.products, *product, stream, precision, bounds);
  return Cudnn::call(libraries.convolutions, std::get<library::Convolution>(call), precision,
                     bounds.most);
}

// Recut's own kernels, and beside them cuDNN's where it has some.
std::unique_ptr<DeviceCall> LibraryCalls::attention(const SharedCard& card, const Stream& stream,
                                                    const library::Kernel& kernel,
                                                    const std::vector<Function>& own,
                                                    Libraries& libraries,
                                                    std::int64_t most_workspace) {
  auto ours = std::make_unique<AttentionCall>(kernel, own, card, stream);
  if (!cudnn_may_take(kernel) || !libraries.load_convolutions(stream)) return ours;
  auto theirs = cudnn_attention(libraries.convolutions, kernel, card, stream, most_workspace);
  if (theirs == nullptr) return ours;
  std::vector<std::unique_ptr<DeviceCall>> both;
  both.push_back(std::move(ours));
  both.push_back(std::move(theirs));
  return std::make_unique<Alternatives>(std::move(both));
}

Result<Done> LibraryCalls::make_calls(const SharedCard& card, const Stream& stream,
                                      const library::Kernel& kernel,
                                      const std::vector<Function>& own, const KernelPlaces& places,
                                      Libraries& libraries, Precision precision) {
  std::vector<Chosen>& calls = kernels_.emplace_back();
  const auto [least, most] =
      std::minmax_element(places.workspaces.begin(), places.workspaces.end());
  if (!own.empty()) {
    calls.push_back({attention(card, stream, kernel, own, libraries, most_of(*most)), {}});
    return Done{};
  }
  for (const library::Call& call : kernel.calls) {
    auto made = make(call, *card, stream, libraries, precision, {most_of(*most), most_of(*least)});
    if (!made) return named(kernel, made.diagnostics());
    calls.push_back({std::move(*made), {}});
  }
  return Done{};
}

Result<Done> LibraryCalls::reserve(const SharedCard& card, std::int64_t bytes) {
  scratch_ = DeviceMemory();
  auto scratch = DeviceMemory::reserve(card, bytes, "the libraries' scratch memory");
  if (!scratch) return scratch.diagnostics();
  scratch_ = std::move(*scratch);
  return Done{};
}

Result<Done> LibraryCalls::reserve_for_measuring(const SharedCard& card,
                                                 std::span<const KernelPlaces> places) {
  std::int64_t most = 0;
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (const Chosen& chosen : kernels_[k])
      for (std::size_t way = 0; chosen.ways.empty() && way < chosen.call->ways(); ++way) {
        const std::int64_t bytes = chosen.call->workspace_bytes(way);
        if (bytes > places[k].workspace.bytes) most = std::max(most, bytes);
      }
  return reserve(card, std::min(most, beside_));
}

Result<Done> LibraryCalls::reserve_for_launches(const SharedCard& card,
                                                std::span<const KernelPlaces> places,
                                                std::span<const library::Kernel> kernels) {
  std::int64_t most = 0;
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (const Chosen& chosen : kernels_[k])
      for (const std::int64_t workspace : places[k].workspaces) {
        const MeasuredWay* best = chosen.best(workspace, most_of(workspace));
        if (best == nullptr)
          return named(kernels[k],
                       {error(fmt::format("nothing computes it in {} bytes of workspace",
                                          format_count(most_of(workspace))))});
        if (best->workspace_bytes > workspace) most = std::max(most, best->workspace_bytes);
      }
  return reserve(card, most);
}

std::string LibraryCalls::Libraries::versions() const {
  return fmt::format("cuBLASLt {}, cuDNN {}", products == nullptr ? 0 : products->version(),
                     convolutions == nullptr ? 0 : convolutions->version());
}

std::string LibraryCalls::words_of(library::Kernel kernel, const KernelPlaces& places,
                                   const Libraries& libraries, const CallOptions& options) const {
  std::string versions = libraries.versions();
  std::vector<driver::Address> alignments;  // libraries use no larger ones
  for (const driver::Address buffer : places.buffers)
    alignments.push_back(std::min<driver::Address>(buffer & (~buffer + 1), kWorkspaceAlignment));
  const auto [fewest, largest] =
      std::minmax_element(places.workspaces.begin(), places.workspaces.end());
  std::int64_t least = most_of(*fewest), most = most_of(*largest);
  auto [precision, beside, may_vary] = options;
  cache::ByteWriter<cache::CallFields> writer;
  writer(versions, kernel.calls, alignments, least, most, precision, beside, may_vary);
  return writer.bytes();
}

bool LibraryCalls::take(std::uint32_t kernel, const KeptWays::Ways& known) {
  std::vector<Chosen>& calls = kernels_[kernel];
  const auto is_of = [](const DeviceCall& call, const std::vector<MeasuredWay>& ways) {
    return !ways.empty() && std::all_of(ways.begin(), ways.end(), [&](const MeasuredWay& measured) {
      return measured.way < call.ways() &&
             measured.workspace_bytes == call.workspace_bytes(measured.way);
    });
  };
  if (known.size() != calls.size()) return false;
  for (std::size_t c = 0; c < calls.size(); ++c)
    if (!is_of(*calls[c].call, known[c])) return false;
  for (std::size_t c = 0; c < calls.size(); ++c) calls[c].ways = known[c];
  return true;
}

Result<Done> LibraryCalls::measure(const SharedCard& card, const Stream& stream,
                                   std::span<const library::Kernel> kernels,
                                   std::span<const KernelPlaces> places,
                                   const CallOptions& options) {
  if (auto done = reserve_for_measuring(card, places); !done) return done;
  const auto chooser = Chooser::create(card, stream, options.may_vary);
  if (!chooser) return chooser.diagnostics();
  for (std::size_t k = 0; k < kernels.size(); ++k)
    for (Chosen& chosen : kernels_[k]) {
      if (!chosen.ways.empty()) continue;
      auto ways = chooser->measure(*chosen.call, places[k].buffers, [&](std::int64_t bytes) {
        return place_of(bytes, places[k].workspace);
      });
      if (!ways) return named(kernels[k], ways.diagnostics());
      chosen.ways = std::move(*ways);
    }
  return Done{};
}

Result<LibraryCalls> LibraryCalls::prepare(const SharedCard& card, const Stream& stream,
                                           std::span<const library::Kernel> kernels,
                                           std::span<const KernelPlaces> places,
                                           std::span<const std::vector<Function>> own,
                                           const CallOptions& options, KeptWays* kept) {
  LibraryCalls calls;
  calls.beside_ = options.most_workspace_bytes;
  Libraries libraries;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (auto done = calls.make_calls(card, stream, kernels[k], own[k], places[k], libraries,
                                     options.precision);
        !done)
      return done.diagnostics();
  std::vector<std::pair<std::uint32_t, std::string>> unknown;  // kernels, and their keys
  for (std::uint32_t k = 0; kept != nullptr && k < kernels.size(); ++k) {
    std::string words = calls.words_of(kernels[k], places[k], libraries, options);
    const auto known = kept->find(words);
    if (!known || !calls.take(k, *known)) unknown.emplace_back(k, std::move(words));
  }
  if (auto done = calls.measure(card, stream, kernels, places, options); !done)
    return done.diagnostics();
  for (const auto& [k, words] : unknown) {
    KeptWays::Ways ways;
    for (const Chosen& chosen : calls.kernels_[k]) ways.push_back(chosen.ways);
    kept->add(words, std::move(ways));
  }
  if (!unknown.empty()) kept->write();
  if (auto done = calls.reserve_for_launches(card, places, kernels); !done)
    return done.diagnostics();
  return calls;
}

std::int64_t LibraryCalls::workspace_bytes(std::uint32_t kernel, std::int64_t workspace) const {
  std::int64_t most = 0;
  for (const Chosen& chosen : kernels_[kernel])
    most = std::max(most, chosen.best(workspace, most_of(workspace))->workspace_bytes);
  return most;
}

std::int64_t LibraryCalls::bytes_within(std::uint32_t kernel, std::int64_t workspace) const {
  std::int64_t most = 0;
  for (const Chosen& chosen : kernels_[kernel])
    if (const std::int64_t bytes = chosen.best(workspace, most_of(workspace))->workspace_bytes;
        bytes <= workspace)
      most = std::max(most, bytes);
  return most;
}

Result<Done> LibraryCalls::run(std::uint32_t kernel, std::span<const driver::Address> buffers,
                               const Workspace& workspace) const {
  for (const Chosen& chosen : kernels_[kernel]) {
    const MeasuredWay& best = *chosen.best(workspace.bytes, most_of(workspace.bytes));
    if (auto done = chosen.call->run(best.way, buffers, place_of(best.workspace_bytes, workspace));
        !done)
      return done;
  }
  return Done{};
}

}  // namespace recut::cuda
