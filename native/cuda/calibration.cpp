#include "native/cuda/calibration.h"

#include <algorithm>
#include <optional>

#include "engine/cost/cost.h"
#include "engine/eval/inputs.h"
#include "engine/ir/builder.h"
#include "engine/runtime/program.h"
#include "native/cuda/calibration_kernels.h"
#include "native/cuda/library_calls.h"
#include "native/cuda/nvrtc.h"

// Each figure of a GPU is the time of a kernel or library call between two events on one stream,
// after a run that warms up. Runs repeat until `seconds` have passed. Ceilings (triad,
// multiply-adds, the largest product) take the best run; usual products take the median. Example:
// triad bytes per second = 3 * bytes / best seconds. Products are real cuBLASLt calls through
// LibraryCalls, so they run by the algorithm that a step would take. A launch is measured inside a
// CUDA graph, because steps run as graphs.

namespace recut::cuda {
namespace {

constexpr std::int64_t kMinTriadBytes = std::int64_t{256} << 20;
constexpr std::int64_t kTriadPack = 16;  // bytes of each array a thread
constexpr std::int64_t kBlocksOfProcessor = 8;
constexpr long long kRounds = 4096;
constexpr int kGraphLaunches = 1000;
constexpr std::size_t kMinCalibrationRuns = 3, kMaxCalibrationRuns = 1000;

struct Times {
  double best = 0, median = 0;  // seconds
};

struct ProductKind {
  const char* name;
  DType dtype;
  Precision precision;
};
// Kinds that the libraries don't take are passed over.
constexpr ProductKind kProductKinds[] = {{"f32", DType::f32, Precision::f32},
                                         {"tf32", DType::f32, Precision::tf32},
                                         {"bf16", DType::bf16, Precision::f32},
                                         {"f16", DType::f16, Precision::f32}};

// One matrix product as its library's call; none where the libraries don't take it.
struct MeasuredProduct {
  library::Kernel kernel;
  double flops = 0;
};
std::optional<MeasuredProduct> product_of(DType dtype, std::int64_t rows, std::int64_t sums,
                                          std::int64_t columns) {
  Builder b("product");
  b.result(b.mm(b.input("x", dtype, {rows, sums}), b.input("y", dtype, {sums, columns})));
  const Graph graph = *b.finish();
  ScheduledKernel call;
  call.calls = {graph.results.front()};
  auto kernel = library_kernel_of(graph, StorageModel(graph), call, library_takes(Precision::f32));
  if (!kernel) return std::nullopt;
  return MeasuredProduct{std::move(*kernel),
                         static_cast<double>(node_flops(graph, call.calls.front()))};
}

class GpuCalibrator {
 public:
  GpuCalibrator(const SharedGpu& gpu, const GpuCalibrationRequest& request, Stream stream,
                Cubin cubin, Event from, Event to)
      : gpu_(gpu),
        request_(request),
        stream_(std::move(stream)),
        cubin_(std::move(cubin)),
        from_(std::move(from)),
        to_(std::move(to)) {}

  Result<GpuCalibration> run() {
    GpuCalibration c;
    auto done = triad(c.triad_bytes);
    if (done) done = multiply_adds("multiply_adds_f32", c.multiply_adds_f32);
    if (done) done = multiply_adds("multiply_adds_f64", c.multiply_adds_f64);
    if (done) done = launches(c.launch_micros);
    if (done) done = products(c.products);
    if (!done) return done.diagnostics();
    return c;
  }

 private:
  // Times the launches that `work` puts on the stream, by the GPU's clock, after one run to warm
  // up.
  Result<Times> time(const std::function<Result<Done>()>& work) const {
    std::vector<double> times;
    if (auto done = work(); !done) return done.diagnostics();
    double sum = 0;
    while (times.size() < kMinCalibrationRuns ||
           (sum < request_.seconds && times.size() < kMaxCalibrationRuns)) {
      auto done = stream_.record(from_);
      if (done) done = work();
      if (done) done = stream_.record(to_);
      if (done) done = stream_.wait();
      if (!done) return done.diagnostics();
      times.push_back(to_.seconds_since(from_));
      sum += times.back();
    }
    std::sort(times.begin(), times.end());
    return Times{times.front(), times[times.size() / 2]};
  }

  Result<Done> launch(driver::FunctionHandle handle, std::int64_t blocks,
                      std::vector<void*> arguments) const {
    const Function function{handle, static_cast<unsigned>(blocks),
                            static_cast<unsigned>(kCalibrationThreads), 0};
    return cuda::launch(*gpu_, stream_.handle(), {&function, 1}, arguments.data(), "calibration");
  }

  Result<DeviceMemory> zeros(std::int64_t bytes) const {
    auto memory = DeviceMemory::reserve(gpu_, bytes, "memory to calibrate in");
    if (!memory) return memory;
    if (auto done = memory->fill(std::byte{0}); !done) return done.diagnostics();
    return memory;
  }

  Result<Done> triad(double& bytes_per_second) const {
    request_.progress("memory");
    const std::int64_t wanted =
        request_.triad_bytes > 0
            ? request_.triad_bytes
            : std::max(kMinTriadBytes, std::int64_t{4} * gpu_->attribute(driver::kL2Bytes));
    long long packs = std::max<std::int64_t>(1, wanted / kTriadPack);
    const std::int64_t bytes = packs * kTriadPack;
    const auto memory = zeros(3 * bytes);
    if (!memory) return memory.diagnostics();
    const auto function = cubin_.find("triad", 0);
    if (!function) return function.diagnostics();
    driver::Address a = memory->address(), b = a + static_cast<driver::Address>(bytes),
                    c = b + static_cast<driver::Address>(bytes);
    const auto times = time([&] {
      return launch(*function, (packs + kCalibrationThreads - 1) / kCalibrationThreads,
                    {&a, &b, &c, &packs});
    });
    if (!times) return times.diagnostics();
    bytes_per_second = 3.0 * static_cast<double>(bytes) / times->best;
    return Done{};
  }

  Result<Done> multiply_adds(const std::string& symbol, double& per_second) const {
    request_.progress("arithmetic");
    const auto memory = zeros(kTriadPack);
    if (!memory) return memory.diagnostics();
    const auto function = cubin_.find(symbol, 0);
    if (!function) return function.diagnostics();
    const std::int64_t blocks =
        kBlocksOfProcessor * std::max(1, gpu_->attribute(driver::kMultiprocessorCount));
    driver::Address out = memory->address();
    long long rounds = kRounds;
    const auto times = time([&] { return launch(*function, blocks, {&out, &rounds}); });
    if (!times) return times.diagnostics();
    per_second =
        2.0 * static_cast<double>(blocks * kCalibrationThreads * kChains * rounds) / times->best;
    return Done{};
  }

  Result<Done> launches(double& micros) const {
    request_.progress("launches");
    const auto function = cubin_.find("nothing", 0);
    if (!function) return function.diagnostics();
    if (auto done = launch(*function, 1, {}); !done) return done;  // loads the code
    if (auto done = stream_.wait(); !done) return done;
    const auto graph = LaunchGraph::record(gpu_, stream_, [&] {
      auto done = Result<Done>(Done{});
      for (int i = 0; done && i < kGraphLaunches; ++i) done = launch(*function, 1, {});
      return done;
    });
    if (!graph) return graph.diagnostics();
    const auto times = time([&] { return graph->launch(stream_); });
    if (!times) return times.diagnostics();
    micros = 1e6 * times->median / kGraphLaunches;
    return Done{};
  }

  Result<Done> products(std::vector<ProductRate>& rates) const {
    const std::int64_t n = request_.product;
    for (const ProductKind& kind : kProductKinds) {
      const auto largest = product_of(kind.dtype, n, n, n);
      const auto usual = product_of(kind.dtype, n / 2, n / 8, n / 2);
      const auto aligned = product_of(kind.dtype, n, n / 8, n);
      const auto odd = product_of(kind.dtype, n, n / 8, n + 1);
      if (!largest || !usual || !aligned || !odd) continue;
      request_.progress(std::string("matrix products of ") + kind.name);
      const auto best = time_of(*largest, kind);
      if (!best) return best.diagnostics();
      const auto median = time_of(*usual, kind);
      if (!median) return median.diagnostics();
      const auto even = time_of(*aligned, kind), uneven = time_of(*odd, kind);
      if (!even) return even.diagnostics();
      if (!uneven) return uneven.diagnostics();
      const double slowdown = uneven->median / odd->flops / (even->median / aligned->flops);
      rates.push_back({kind.name, largest->flops / best->best, usual->flops / median->median,
                       std::max(1.0, slowdown)});
    }
    return Done{};
  }

  // Factors are random numbers: zeros cost a GPU less power, and so less time.
  Result<Times> time_of(const MeasuredProduct& product, const ProductKind& kind) const {
    std::vector<DeviceMemory> memory;
    KernelArguments arguments;
    arguments.workspaces = {0};
    for (const loop::Buffer& buffer : product.kernel.buffers) {
      auto filled = random(buffer.dtype, buffer.elements);
      if (!filled) return filled.diagnostics();
      arguments.buffers.push_back(filled->address());
      memory.push_back(std::move(*filled));
    }
    const std::vector<Function> none;  // no kernels of Recut's own
    const auto calls = LibraryCalls::prepare(gpu_, stream_, std::span(&product.kernel, 1),
                                             std::span(&arguments, 1), std::span(&none, 1),
                                             {kind.precision, kDefaultWorkspaceBytes});
    if (!calls) return calls.diagnostics();
    return time([&] { return calls->run(0, arguments.buffers, {}); });
  }

  // The memory repeats one piece of random numbers.
  Result<DeviceMemory> random(DType dtype, std::int64_t elements) const {
    constexpr std::int64_t kPiece = std::int64_t{1} << 18;
    auto memory = DeviceMemory::reserve(gpu_, elements * item_bytes(dtype),
                                        "memory for matrices to calibrate by");
    if (!memory) return memory;
    const Tensor piece =
        random_tensor(make_type(dtype, {std::min(kPiece, elements)}), 1, "calibration");
    const auto bytes = static_cast<std::int64_t>(piece.storage->size());
    for (std::int64_t at = 0; at < memory->bytes(); at += bytes) {
      const std::span<const std::byte> part(
          piece.storage->data(), static_cast<std::size_t>(std::min(bytes, memory->bytes() - at)));
      if (auto done = memory->write(at, part); !done) return done.diagnostics();
    }
    return memory;
  }

  const SharedGpu& gpu_;
  const GpuCalibrationRequest& request_;
  Stream stream_;
  Cubin cubin_;
  Event from_, to_;
};

}  // namespace

const ProductRate* GpuCalibration::product(std::string_view name) const {
  for (const ProductRate& rate : products)
    if (rate.name == name) return &rate;
  return nullptr;
}

Result<std::string> calibration_code(const Gpu& gpu) {
  const auto compiler = Nvrtc::load(gpu.driver_major());
  if (!compiler) return compiler.diagnostics();
  return compiler->compile(kCalibrationKernels, gpu.capability());
}

Result<GpuCalibration> calibrate(const SharedGpu& gpu, const std::string& code,
                                 const GpuCalibrationRequest& request) {
  auto stream = Stream::create(gpu);
  if (!stream) return stream.diagnostics();
  auto cubin = Cubin::load(gpu, code);
  if (!cubin) return cubin.diagnostics();
  auto from = Event::create(gpu), to = Event::create(gpu);
  if (!from) return from.diagnostics();
  if (!to) return to.diagnostics();
  return GpuCalibrator(gpu, request, std::move(*stream), std::move(*cubin), std::move(*from),
                       std::move(*to))
      .run();
}

}  // namespace recut::cuda
