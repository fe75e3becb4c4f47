#include "native/cuda/step.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "engine/runtime/kernel_order.h"
#include "engine/schedule/schedule.h"
#include "engine/support/check.h"

// A step on the GPU. Memory: the arena is one allocation of exactly the planned bytes; inputs,
// a fault word and library scratch lie beside it. Execution: the first run launches kernel by
// kernel, which loads code; the second is captured as a CUDA graph, and later runs replay it
// with one launch. Random kernels get their seed as an argument, which the graph holds by
// value, so a new seed patches those nodes. Steps that can't be captured stay unrecorded and
// report why.

namespace recut::cuda {
namespace {

constexpr std::int64_t kInputAlignment = 256;

bool asks_seed(const loop::Block& block);

bool asks_seed(const loop::Statement& statement) {
  if (const auto* define = std::get_if<loop::Define>(&statement.value)) {
    const auto* apply = std::get_if<loop::Apply>(&define->expression);
    return apply != nullptr && apply->op == loop::ScalarOp::seed;
  }
  if (const auto* loop = std::get_if<loop::Loop>(&statement.value)) return asks_seed(loop->body);
  const auto* condition = std::get_if<loop::If>(&statement.value);
  return condition != nullptr && asks_seed(condition->body);
}

bool asks_seed(const loop::Block& block) {
  return std::any_of(block.begin(), block.end(),
                     [](const loop::Statement& statement) { return asks_seed(statement); });
}

// Bytes of storage up to the last element that the innermost view shows.
std::int64_t visible_bytes(const ProgramOutput& output) {
  const Layout& layout = output.layouts.front();
  std::int64_t last = layout.offset;
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    if (layout.shape[d] == 0) return 0;
    last += (layout.shape[d] - 1) * layout.strides[d];
  }
  return (last + 1) * item_bytes(output.type.dtype);
}

// Bytes of the budget beside the arena. A plan that doesn't hold its budget bounds nothing.
std::optional<std::int64_t> budget_beside_arena(const Program& program) {
  const std::int64_t left = program.budget_bytes - program.arena_bytes;
  return program.budget_bytes > 0 && left >= 0 ? std::optional(left) : std::nullopt;
}

}  // namespace

Module emit_step(Program& program, MatmulPrecision matmul_precision) {
  order_kernels(program);
  Options options;
  options.matmul_precision = matmul_precision;
  return emit(strip_names(program.kernels), strip_names(program.library), options);
}

Result<Step> Step::load(SharedGpu gpu, Program program, const StepCode& code) {
  const std::int64_t free = gpu->memory().free;
  auto cubin = Cubin::load(gpu, code.cubin);
  if (!cubin) return cubin.diagnostics();
  Step step(std::move(gpu), std::move(program), std::move(*cubin), code);
  step.free_before_ = free;
  if (auto done = step.find_kernels(code); !done) return done.diagnostics();
  return step;
}

Step::Step(SharedGpu gpu, Program program, Cubin cubin, const StepCode& code)
    : gpu_(std::move(gpu)),
      program_(std::move(program)),
      cubin_(std::move(cubin)),
      faults_(code.faults) {}

Result<std::vector<Function>> Step::find(const std::vector<Launch>& launches) const {
  std::vector<Function> functions;
  for (const Launch& launch : launches) {
    const auto function = cubin_.find(launch.symbol, launch.shared_bytes);
    if (!function) return function.diagnostics();
    functions.push_back({*function, static_cast<unsigned>(launch.blocks),
                         static_cast<unsigned>(launch.threads),
                         static_cast<unsigned>(launch.shared_bytes), launch.cooperative});
  }
  return functions;
}

Result<Done> Step::find_kernels(const StepCode& code) {
  for (std::size_t k = 0; k < code.kernels.size(); ++k) {
    auto functions = find(code.kernels[k]);
    if (!functions) return functions.diagnostics();
    const loop::Kernel& kernel = program_.kernels[k];
    if (asks_seed(kernel.body))
      for (const Function& function : *functions)
        random_kernels_.push_back({function.handle, loop::parameter_count(kernel)});
    kernels_.push_back(std::move(*functions));
  }
  for (const std::vector<Launch>& launches : code.library) {
    auto functions = find(launches);
    if (!functions) return functions.diagnostics();
    library_.push_back(std::move(*functions));
  }
  return Done{};
}

const std::string& Step::fault(std::int64_t number) const {
  return faults_[static_cast<std::size_t>(number - 1)];
}

std::optional<std::size_t> Step::buffer_count_of_random_kernel(
    driver::FunctionHandle function) const {
  for (const RandomKernel& random_kernel : random_kernels_)
    if (random_kernel.function == function) return random_kernel.buffers;
  return std::nullopt;
}

Result<Run> Run::prepare(const Step& step, const std::vector<Tensor>& inputs,
                         const CallOptions& options) {
  auto stream = Stream::create(step.gpu());
  if (!stream) return stream.diagnostics();
  Run run(step, std::move(*stream));
  if (auto done = run.reserve(inputs); !done) return done.diagnostics();
  if (auto done = run.prepare_library(options); !done) return done.diagnostics();
  return run;
}

// The arena is exactly as large as planned; inputs and the fault word stand beside it.
Result<Done> Run::reserve(const std::vector<Tensor>& inputs) {
  std::int64_t input_bytes = 0;
  for (const Tensor& input : inputs) {
    input_offsets_.push_back(input_bytes);
    input_bytes += aligned(input.storage->size(), kInputAlignment);
  }
  const auto take = [&](DeviceMemory& memory, std::int64_t bytes, const char* what) {
    auto reserved = DeviceMemory::reserve(step_.gpu(), bytes, what);
    if (!reserved) return Result<Done>(reserved.diagnostics());
    memory = std::move(*reserved);
    return memory.fill(std::byte{0});
  };
  auto done = take(inputs_, input_bytes, "memory for the step's inputs");
  if (done) done = take(arena_, program().arena_bytes, "the step's arena");
  if (done) done = take(fault_, sizeof(long long), "a word of GPU memory");
  if (done) done = write_inputs(inputs);
  if (!done) return done;
  fault_address_ = fault_.address();
  std::size_t max_buffers = 0;
  for (const recut::Launch& launch : program().launches) {
    buffers_.emplace_back();
    for (const BufferAddress& location : launch.buffers)
      buffers_.back().push_back(address(location));
    max_buffers = std::max(max_buffers, launch.buffers.size());
  }
  arguments_.resize(max_buffers + 2);
  return Done{};
}

Result<Done> Run::write_inputs(const std::vector<Tensor>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& storage = *inputs[i].storage;
    auto done = inputs_.write(input_offsets_[i],
                              {storage.data(), static_cast<std::size_t>(storage.size())});
    if (!done) return done;
  }
  return Done{};
}

Result<Done> Run::prepare_library(CallOptions options) {
  const std::optional<std::int64_t> left = budget_beside_arena(program());
  bounded_by_budget_ = left && *left < options.max_workspace_bytes;
  if (bounded_by_budget_) options.max_workspace_bytes = *left;
  scratch_limit_bytes_ = options.max_workspace_bytes;
  std::vector<KernelArguments> arguments(program().library.size());
  for (std::size_t i = 0; i < program().launches.size(); ++i) {
    const recut::Launch& launch = program().launches[i];
    if (!launch.library) continue;
    const Workspace given = workspace(launch);
    KernelArguments& known = arguments[launch.kernel];
    if (known.workspaces.empty() || given.bytes > known.workspace.bytes) {
      known.buffers = buffers_[i];
      known.workspace = given;
    }
    known.workspaces.push_back(given.bytes);
  }
  auto library = LibraryCalls::prepare(step_.gpu(), stream_, program().library, arguments,
                                       step_.library(), options, step_.algorithm_cache());
  if (!library) return with_budget_note(library.diagnostics());
  library_ = std::move(*library);
  return Done{};
}

// The library might compute the call with more scratch, so the message names the bound.
Diagnostics Run::with_budget_note(Diagnostics diagnostics) const {
  if (bounded_by_budget_)
    diagnostics.front().message += fmt::format(
        "; the budget leaves libraries {} bytes beside the arena", scratch_limit_bytes_);
  return diagnostics;
}

// The schedule aligns to less than libraries want, so the workspace begins at their alignment.
Workspace Run::workspace(const recut::Launch& launch) const {
  const std::int64_t begin = aligned(launch.free.offset, kWorkspaceAlignment);
  const std::int64_t bytes = launch.free.offset + launch.free.bytes - begin;
  if (bytes <= 0) return {};
  return {arena_.address() + static_cast<driver::Address>(begin), bytes};
}

std::int64_t Run::workspace_bytes(const recut::Launch& launch) const {
  return launch.library ? library_->workspace_bytes(launch.kernel, workspace(launch).bytes) : 0;
}

// Bytes that a library may write to count as written.
std::int64_t Run::end_of_workspaces() const {
  std::int64_t end = 0;
  for (const recut::Launch& launch : program().launches) {
    if (!launch.library) continue;
    const Workspace given = workspace(launch);
    const std::int64_t bytes = library_->bytes_within(launch.kernel, given.bytes);
    if (bytes > 0)
      end = std::max(end, static_cast<std::int64_t>(given.address - arena_.address()) + bytes);
  }
  return end;
}

driver::Address Run::address(const BufferAddress& location) const {
  const driver::Address base =
      location.input
          ? inputs_.address() + static_cast<driver::Address>(input_offsets_[*location.input])
          : arena_.address();
  return base + static_cast<driver::Address>(location.offset);
}

void Run::paint(std::byte with) {
  const auto done = arena_.fill(with);
  RECUT_CHECK(done.ok(), "memory that was reserved can be filled");
}

std::int64_t Run::end_of_written(std::byte paint) const {
  constexpr std::int64_t kPiece = std::int64_t{16} << 20;
  const std::int64_t given = end_of_workspaces();
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(kPiece, arena_.bytes())));
  for (std::int64_t end = arena_.bytes(); end > given;) {
    const std::int64_t begin = std::max(end - kPiece, std::int64_t{0});
    const std::span<std::byte> part(piece.data(), static_cast<std::size_t>(end - begin));
    const auto done = arena_.read(begin, part);
    RECUT_CHECK(done.ok(), "memory that was reserved can be read");
    if (const std::int64_t written = recut::end_of_written(part, paint); written > 0)
      return std::max(given, begin + written);
    end = begin;
  }
  return given;
}

std::int64_t Run::output_bytes(std::size_t number) const {
  const ProgramOutput& output = program().outputs[number];
  return output.node.valid() ? visible_bytes(output) : 0;
}

Result<Done> Run::read_output(std::size_t number, std::span<std::byte> to) const {
  const BufferAddress& location = program().outputs[number].address;
  const DeviceMemory& memory = location.input ? inputs_ : arena_;
  return memory.read(static_cast<std::int64_t>(address(location) - memory.address()), to);
}

Tensor Run::output(std::size_t number) const {
  if (!program().outputs[number].node.valid()) return Tensor();
  std::vector<std::byte> storage(static_cast<std::size_t>(output_bytes(number)));
  const auto done = read_output(number, storage);
  RECUT_CHECK(done.ok(), "what the step wrote can be read");
  return output_value(program().outputs[number], storage.data());
}

std::int64_t Run::taken_bytes() const { return step_.free_before() - step_.gpu()->memory().free; }

Result<Done> Run::run(std::uint64_t seed, std::span<double> launch_seconds) {
  seed_ = static_cast<long long>(seed);
  auto done = Result<Done>(Done{});
  if (!launch_seconds.empty())
    done = run_timed(launch_seconds);
  else if (ran_)  // a capture may load no code, which a first launch does
    done = run_recorded();
  else
    done = launch_all();
  ran_ = true;
  return done ? finish() : done;
}

Result<Done> Run::launch(std::size_t number) {
  const recut::Launch& launch = program().launches[number];
  std::vector<driver::Address>& buffers = buffers_[number];
  if (launch.library) {
    auto done = library_->run(launch.kernel, buffers, workspace(launch));
    return done ? done : with_budget_note(done.diagnostics());
  }
  for (std::size_t b = 0; b < buffers.size(); ++b) arguments_[b] = &buffers[b];
  arguments_[buffers.size()] = &seed_;
  arguments_[buffers.size() + 1] = &fault_address_;
  return cuda::launch(*step_.gpu(), stream_.handle(), step_.kernel(launch.kernel),
                      arguments_.data(), program().name_of(launch));
}

Result<Done> Run::launch_all() {
  for (std::size_t i = 0; i < program().launches.size(); ++i)
    if (auto done = launch(i); !done) return done;
  return Done{};
}

Result<Done> Run::run_timed(std::span<double> launch_seconds) {
  while (events_.size() <= launch_seconds.size()) {
    auto event = Event::create(step_.gpu());
    if (!event) return event.diagnostics();
    events_.push_back(std::move(*event));
  }
  auto done = stream_.record(events_[0]);
  for (std::size_t i = 0; done && i < launch_seconds.size(); ++i) {
    done = launch(i);
    if (done) done = stream_.record(events_[i + 1]);
  }
  if (done) done = stream_.wait();
  for (std::size_t i = 0; done && i < launch_seconds.size(); ++i)
    launch_seconds[i] = events_[i + 1].seconds_since(events_[i]);
  return done;
}

Result<Done> Run::run_recorded() {
  if (!not_recorded_.empty()) return launch_all();
  if (!graph_) {
    auto recorded = LaunchGraph::record(step_.gpu(), stream_, [this]() { return launch_all(); });
    if (!recorded) {
      not_recorded_ = recorded.diagnostics().front().message;
      return launch_all();
    }
    graph_.emplace(std::move(*recorded));
    graph_seed_ = seed_;
  }
  if (auto done = seed_graph(); !done) return done;
  return graph_->launch(stream_);
}

// The seed is an argument, which the graph keeps by value.
Result<Done> Run::seed_graph() {
  if (seed_ == graph_seed_ || !step_.draws()) return Done{};
  std::vector<void*> arguments;
  graph_seed_ = seed_;
  return graph_->change_kernels([&](driver::KernelNode& node) {
    const auto buffers = step_.buffer_count_of_random_kernel(node.function);
    if (!buffers) return false;
    arguments.assign(node.arguments, node.arguments + *buffers + 2);
    arguments[*buffers] = &seed_;
    node.arguments = arguments.data();
    return true;
  });
}

Result<Done> Run::finish() {
  if (auto done = stream_.wait(); !done) return done;
  long long fault = 0;
  if (auto done = fault_.read(0, std::as_writable_bytes(std::span(&fault, 1))); !done) return done;
  if (fault == 0) return Done{};
  if (auto done = fault_.fill(std::byte{0}); !done) return done;
  return error(step_.fault(fault));
}

}  // namespace recut::cuda
