// GFLOP/s of Recut's own loops for matrix products and convolutions: in tiles, beside plain loops
// and beside oneDNN, all in one run, on one thread and on all.
//
//   loops_bench [--tile ROWS BYTES] [WORD]     only cases whose name has the word
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "engine/cost/cost.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/fusion/kernel_model.h"
#include "engine/ir/builder.h"
#include "engine/runtime/program.h"
#include "engine/schedule/make_schedule.h"
#include "engine/schedule/schedule.h"
#include "engine/support/check.h"
#include "engine/support/clock.h"
#include "native/cpu/step.h"

namespace recut {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr int kRounds = 5;
constexpr double kSecondsOfRound = 0.1;

struct Case {
  std::string name;
  Graph graph;
};

// ---- What is measured ---------------------------------------------------------------------------

// `form`: NN, NT or TN; a T is a factor that is transposed in memory.
Case product(const std::string& what, std::int64_t m, std::int64_t n, std::int64_t k,
             const std::string& form, DType dtype = DType::f32) {
  Builder b("product");
  const bool left = form[0] == 'T', right = form[1] == 'T';
  Value x = b.input("x", dtype, left ? Shape{k, m} : Shape{m, k});
  Value y = b.input("y", dtype, right ? Shape{n, k} : Shape{k, n});
  if (left) x = b("t", {x});
  if (right) y = b("t", {y});
  b.result(b.mm(x, y));
  const std::string type = dtype == DType::f32 ? "" : " " + std::string(short_name(dtype));
  return {fmt::format("{} {}x{}x{} {}{}", what, m, n, k, form, type), *b.finish()};
}

Case batched(const std::string& what, std::int64_t batch, std::int64_t m, std::int64_t n,
             std::int64_t k) {
  Builder b("product");
  b.result(
      b("bmm", {b.input("x", DType::f32, {batch, m, k}), b.input("y", DType::f32, {batch, k, n})}));
  return {fmt::format("{} {} of {}x{}x{}", what, batch, m, n, k), *b.finish()};
}

struct Convolved {
  std::int64_t samples, channels, side, outputs, kernel, stride;
};

Case convolution(const std::string& what, const Convolved& c, const char* mode) {
  Builder b("convolution");
  const std::int64_t padding = c.kernel / 2,
                     side = (c.side + 2 * padding - c.kernel) / c.stride + 1;
  const Value x = b.input("x", DType::f32, {c.samples, c.channels, c.side, c.side});
  const Value w = b.input("w", DType::f32, {c.outputs, c.channels, c.kernel, c.kernel});
  const Ints stride{c.stride, c.stride}, around{padding, padding}, one{1, 1}, zero{0, 0};
  const std::string word = mode;
  if (word == "forward") {
    b.result(b(Op::convolution, {x, w, None{}, stride, around, one, false, zero, 1}));
  } else {
    const bool input = word == "input";
    const Value g = b.input("g", DType::f32, {c.samples, c.outputs, side, side});
    const Value all = b(Op::convolution_backward, {g, x, w, None{}, stride, around, one, false,
                                                   zero, 1, ArgumentList{input, !input, false}});
    b.result(all[input ? 0 : 1]);
  }
  return {fmt::format("{} {}x{}x{}² to {}, {}x{}/{} {}", what, c.samples, c.channels, c.side,
                      c.outputs, c.kernel, c.kernel, c.stride, mode),
          *b.finish()};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* form : {"NN", "NT", "TN"}) all.push_back(product("square", 512, 512, 512, form));
  all.push_back(product("square", 512, 512, 512, "NN", DType::f64));
  all.push_back(product("square", 512, 512, 512, "NN", DType::bf16));
  all.push_back(product("square", 1024, 1024, 1024, "NN"));
  for (const std::int64_t n : {1, 4, 16, 64}) all.push_back(product("skinny", n, 768, 768, "NT"));
  all.push_back(product("skinny", 768, 4, 768, "NN"));
  all.push_back(product("skinny", 512, 512, 8, "NN"));
  all.push_back(product("odd", 509, 257, 131, "NN"));
  all.push_back(product("gpt2 projection", 512, 2304, 768, "NN"));
  all.push_back(product("gpt2 widening", 512, 3072, 768, "NN"));
  all.push_back(product("gpt2 gradient", 768, 3072, 512, "TN"));
  all.push_back(product("gpt2 gradient", 512, 768, 3072, "NT"));
  all.push_back(batched("gpt2 attention", 48, 128, 128, 64));
  all.push_back(product("bert projection", 256, 768, 768, "NT"));
  all.push_back(product("bert narrowing", 256, 768, 3072, "NT"));
  for (const char* mode : {"forward", "input", "weight"}) {
    all.push_back(convolution("resnet18", {4, 3, 64, 64, 7, 2}, mode));
    all.push_back(convolution("resnet18", {4, 64, 56, 64, 3, 1}, mode));
    all.push_back(convolution("resnet18", {4, 128, 28, 256, 3, 2}, mode));
    all.push_back(convolution("resnet18", {4, 512, 7, 512, 3, 1}, mode));
    all.push_back(convolution("resnet18", {4, 64, 56, 128, 1, 2}, mode));
    all.push_back(convolution("unet", {1, 32, 64, 32, 3, 1}, mode));
  }
  return all;
}

// ---- How ----------------------------------------------------------------------------------------

Tensor numbers(const TensorType& type) {
  Tensor tensor = allocate(type, nullptr);
  Reals reals(type.shape, 0);
  for (std::size_t i = 0; i < reals.data.size(); ++i)
    reals.data[i] = static_cast<double>(i % 17) / 16 - 0.5;
  pack(reals, tensor);
  return tensor;
}

Plan every_call(const Graph& graph) {
  Plan plan;
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kInput)) plan.forward.push_back(id);
  return plan;
}

Result<cpu::Step> compiled(const Graph& graph, const ProgramOptions& options) {
  const KernelModel kernels(graph, Fusion::rows);
  const auto schedule = make_schedule(graph, kernels, every_call(graph));
  if (!schedule) return schedule.diagnostics();
  auto program = make_program(graph, kernels, *schedule, options);
  if (!program) return program.diagnostics();
  return cpu::Step::compile(std::move(*program));
}

// Seconds of the quickest run in about `seconds`.
double quickest(cpu::Run& run, double seconds) {
  double best = INFINITY;
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point began = Clock::now();
    if (!run.run(0)) std::abort();
    best = std::min(best, seconds_since(began));
  } while (seconds_since(start) < seconds);
  return best;
}

struct LoopVariant {
  std::string name;
  ProgramOptions options;
};

std::vector<LoopVariant> loop_variants(loop::RegisterTile tile) {
  std::vector<LoopVariant> all(3);
  all[0].name = "plain";
  all[0].options.lower.registers.reset();
  all[1].name = "tiles";
  all[1].options.lower.registers = tile;
  all[2].name = "oneDNN";
  all[2].options.library = true;
  return all;
}

// Seconds per variant: the quickest of all rounds, in turns, so that other work on the machine
// disturbs all of them alike.
std::vector<double> seconds_by_variant(const Graph& graph, const std::vector<cpu::Step>& steps,
                                       int threads) {
  std::vector<cpu::Run> runs;
  for (const cpu::Step& step : steps) {
    std::vector<Tensor> inputs;
    for (const NodeId id : step.program().inputs) inputs.push_back(numbers(graph.type(id)));
    auto run = cpu::Run::prepare(step, std::move(inputs), threads);
    RECUT_CHECK(run.ok(), "a single call can be run");
    runs.push_back(std::move(*run));
  }
  std::vector<double> best(steps.size(), INFINITY);
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < runs.size(); ++i)
      best[i] = std::min(best[i], quickest(runs[i], kSecondsOfRound));
  return best;
}

double flops_of(const Graph& graph) {
  double all = 0;
  for (const NodeId id : graph.order()) all += static_cast<double>(node_flops(graph, id));
  return all;
}

void row(const Case& one, loop::RegisterTile tile) {
  std::vector<cpu::Step> steps;
  for (const LoopVariant& mode : loop_variants(tile)) {
    auto step = compiled(one.graph, mode.options);
    RECUT_CHECK(step.ok(), "a single call can be compiled");
    steps.push_back(std::move(*step));
  }
  fmt::print("{:44}", one.name);
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (const int threads : {1, all}) {
    const std::vector<double> seconds = seconds_by_variant(one.graph, steps, threads);
    for (const double s : seconds) fmt::print(" {:7.1f}", 1e-9 * flops_of(one.graph) / s);
    fmt::print("  {:6.2f} {:6.2f}  ", seconds[0] / seconds[1], seconds[2] / seconds[1]);
    if (all == 1) break;
  }
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace recut

int main(int argc, char** argv) {
  recut::loop::RegisterTile tile;
  std::string word;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--tile" && i + 2 < argc) {
      tile.rows = std::atoll(argv[++i]);
      tile.bytes = std::atoll(argv[++i]);
    } else {
      word = argv[i];
    }
  fmt::print(
      "GFLOP/s: plain loops, tiles of {} x {} bytes, oneDNN; how many times plain and oneDNN "
      "the tiles are\n{:44}{:>25}{:>33}\n",
      tile.rows, tile.bytes, "", "one thread", "all threads");
  for (const recut::Case& one : recut::cases())
    if (one.name.find(word) != std::string::npos) recut::row(one, tile);
  return 0;
}
