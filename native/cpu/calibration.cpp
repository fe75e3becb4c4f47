// Measures a processor by running small graphs through the same path as a training step: schedule,
// LLVM code, oneDNN. So the rates include the overheads that a step has.
//
// Ceilings (triad, multiply-adds) are the best of several runs; sustained rates are medians. The
// triad's arrays exceed the last-level cache, and a kernel of 16384 elements measures the cost of a
// launch. The time is `seconds` for each figure.
#include "native/cpu/calibration.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "engine/cost/cost.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/fusion/kernel_model.h"
#include "engine/ir/builder.h"
#include "engine/runtime/program.h"
#include "engine/schedule/make_schedule.h"
#include "engine/schedule/schedule.h"
#include "engine/support/clock.h"
#include "native/cpu/multiply_adds.h"
#include "native/cpu/step.h"

namespace recut::cpu {
namespace {

constexpr std::int64_t kMinTriadBytes = std::int64_t{64} << 20;
constexpr std::int64_t kProduct = 512;
constexpr std::int64_t kElements = 1 << 18;
constexpr std::int64_t kLaunched = 1 << 14;
constexpr int kFewestRuns = 3;

struct Times {
  double best = 0, median = 0;  // seconds
};

// A plan that runs every call of a forward graph once, in order.
Plan plan_of(const Graph& graph) {
  Plan plan;
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kInput)) plan.forward.push_back(id);
  return plan;
}

Result<Times> time_of(Run& run, double seconds) {
  std::vector<double> times;
  if (auto done = run.run(0); !done) return done.diagnostics();
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point began = Clock::now();
    if (auto done = run.run(0); !done) return done.diagnostics();
    times.push_back(seconds_since(began));
  } while (times.size() < kFewestRuns || seconds_since(start) < seconds);
  std::sort(times.begin(), times.end());
  return Times{times.front(), times[times.size() / 2]};
}

Tensor filled(const TensorType& type) {
  Tensor tensor = allocate(type, nullptr);
  pack(Reals(type.shape, 0.5), tensor);
  return tensor;
}

Result<Times> time_of(const Graph& graph, const Threads& threads, double seconds) {
  const KernelModel kernels(graph, Fusion::rows);
  const auto schedule = make_schedule(graph, kernels, plan_of(graph));
  if (!schedule) return schedule.diagnostics();
  auto program =
      make_program(graph, kernels, *schedule, {.library = true, .library_takes = onednn_takes});
  if (!program) return program.diagnostics();
  const auto step = Step::compile(std::move(*program));
  if (!step) return step.diagnostics();
  std::vector<Tensor> inputs;
  for (const NodeId id : step->program().inputs) inputs.push_back(filled(graph.type(id)));
  auto run = Run::prepare(*step, std::move(inputs), threads.count());
  if (!run) return run.diagnostics();
  return time_of(*run, seconds);
}

Graph triad(std::int64_t elements) {
  Builder b("triad");
  const Value x = b.input("x", DType::f32, {elements}), y = b.input("y", DType::f32, {elements});
  b.result(x + y * 0.5);
  return *b.finish();
}

Graph product(DType dtype) {
  Builder b("product");
  b.result(
      b.mm(b.input("x", dtype, {kProduct, kProduct}), b.input("y", dtype, {kProduct, kProduct})));
  return *b.finish();
}

Graph convolution() {
  using Ints = std::vector<std::int64_t>;
  Builder b("convolution");
  const Value x = b.input("x", DType::f32, {4, 32, 32, 32});
  const Value w = b.input("w", DType::f32, {64, 32, 3, 3});
  b.result(
      b(Op::convolution, {x, w, None{}, Ints{1, 1}, Ints{1, 1}, Ints{1, 1}, false, Ints{0, 0}, 1}));
  return *b.finish();
}

Graph silu(std::int64_t elements) {
  Builder b("silu");
  b.result(b("silu", {b.input("x", DType::f32, {elements})}));
  return *b.finish();
}

double flops_of(const Graph& graph) {
  return static_cast<double>(node_flops(graph, graph.results.front()));
}

// Arrays as large as all caches together leave nothing in a cache.
std::int64_t default_triad_bytes() {
  const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::max(kMinTriadBytes, 2 * std::max<std::int64_t>(0, cache));
}

class Calibrator {
 public:
  explicit Calibrator(const CalibrationRequest& request)
      : request_(request), threads_(request.threads) {}

  Result<Calibration> run() {
    Calibration c;
    const std::int64_t bytes =
        request_.triad_bytes > 0 ? request_.triad_bytes : default_triad_bytes();
    const auto elements = std::max<std::int64_t>(1, bytes / item_bytes(DType::f32));
    if (const auto t = time("memory", triad(elements)))
      c.triad_bytes = 3.0 * static_cast<double>(elements * item_bytes(DType::f32)) / t->best;
    c.multiply_adds_f32 = multiply_adds(DType::f32);
    c.multiply_adds_f64 = multiply_adds(DType::f64);
    c.products_f32 = achieved("matrix products", product(DType::f32));
    c.products_f64 = achieved("matrix products", product(DType::f64));
    c.convolutions_f32 = achieved("convolutions", convolution());
    if (const auto t = time("element-wise kernels", silu(kElements)))
      c.element_wise_f32 = static_cast<double>(kElements) / t->median;
    if (const auto t = time("launches", silu(kLaunched))) c.launch_micros = 1e6 * t->median;
    if (!faults_.empty()) return faults_;
    return c;
  }

 private:
  std::optional<Times> time(std::string_view what, const Graph& graph) {
    if (!faults_.empty()) return std::nullopt;
    request_.progress(what);
    const auto times = time_of(graph, threads_, request_.seconds);
    if (times) return *times;
    faults_ = times.diagnostics();
    return std::nullopt;
  }

  double achieved(std::string_view what, const Graph& graph) {
    const auto times = time(what, graph);
    return times ? flops_of(graph) / times->median : 0;
  }

  double multiply_adds(DType dtype) {
    if (!faults_.empty()) return 0;
    request_.progress("arithmetic");
    const auto rate = multiply_adds_per_second(dtype, threads_, request_.seconds);
    if (rate) return *rate;
    faults_ = rate.diagnostics();
    return 0;
  }

  const CalibrationRequest& request_;
  Threads threads_;
  Diagnostics faults_;
};

}  // namespace

Result<Calibration> calibrate(const CalibrationRequest& request) {
  return Calibrator(request).run();
}

}  // namespace recut::cpu
