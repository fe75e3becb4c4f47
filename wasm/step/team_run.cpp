#include "wasm/step/team_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "engine/support/clock.h"
#include "engine/support/units.h"
#include "wasm/step/c_functions.h"
#include "wasm/step/instance.h"

// team.js
extern "C" {
int team_threads();
// Returns the step's number, or 0 and the reason in `problem`.
int team_open(const char* bytes, std::size_t count, void* const* functions, std::uint32_t pages,
              char* problem);
void team_close(int step);
void team_prepare(int step, std::uint32_t fault, std::uint32_t scratch, std::uint32_t stride);
void team_copy_in(int step, std::uint32_t at, const void* from, std::uint32_t count);
void team_copy_out(int step, std::uint32_t at, void* to, std::uint32_t count);
void team_fill(int step, std::uint32_t at, std::uint32_t count, int paint);
std::uint32_t team_end_of_written(int step, std::uint32_t at, std::uint32_t count, int paint);
void team_run(int step, std::uint32_t stage, std::uint32_t buffers, double extent, double grain,
              const std::int64_t* seed);
}

namespace recut::step {
namespace {

constexpr std::int64_t kTeamRunAlignment = 64, kPage = 65536;
// The memory begins with the control words (thread_pool.js), then the fault word.
constexpr std::int64_t kFaultPlace = 64, kListsPlace = 128;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;

// Bytes of a storage up to the last one that the output shows.
std::int64_t shown_bytes(const ProgramOutput& output) {
  const Layout& layout = output.layouts.front();
  std::int64_t last = layout.offset;
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    if (layout.shape[d] == 0) return 0;
    last += (layout.shape[d] - 1) * layout.strides[d];
  }
  return (last + 1) * item_bytes(output.type.dtype);
}

}  // namespace

int team_size() { return team_threads(); }

Result<TeamRun> TeamRun::prepare(Program program, std::span<const Tensor> inputs) {
  wasm::Module module = wasm::emit(program.kernels, {has_relaxed_simd(), true});
  Places places;
  std::int64_t end = kListsPlace;
  const auto reserve = [&](std::int64_t bytes) {
    const std::int64_t begin = end;
    end = aligned(end + bytes, kTeamRunAlignment);
    return begin;
  };
  std::size_t addresses = 0;
  for (const Launch& launch : program.launches) addresses += launch.buffers.size();
  places.lists = reserve(static_cast<std::int64_t>(addresses * sizeof(std::uint32_t)));
  places.scratch_stride = aligned(module.scratch_bytes, kTeamRunAlignment);
  places.scratch = reserve(team_size() * places.scratch_stride);
  for (const Tensor& input : inputs) places.inputs.push_back(reserve(input.storage->size()));
  places.arena = reserve(program.arena_bytes);
  if (end >= kMostBytes)
    return error("a step's memory of " + format_bytes(end) +
                 " can't be had: a page can give it 2 GiB");
  std::vector<void*> functions;
  for (const std::string& name : module.imports) functions.push_back(c_function(name));
  std::array<char, 256> problem{};
  const auto pages = static_cast<std::uint32_t>((end + kPage - 1) / kPage);
  const int step =
      team_open(module.bytes.data(), module.bytes.size(), functions.data(), pages, problem.data());
  if (step == 0) return error(std::string("the step can't be prepared here: ") + problem.data());
  return TeamRun(step, std::move(program), std::move(module), std::move(places));
}

TeamRun::TeamRun(int step, Program program, wasm::Module module, Places places)
    : step_(step),
      program_(std::move(program)),
      module_(std::move(module)),
      places_(std::move(places)) {
  for (std::uint32_t first = 0; const auto& stages : module_.kernels) {
    first_stage_.push_back(first);
    first += static_cast<std::uint32_t>(stages.size());
  }
  team_prepare(step_, kFaultPlace, static_cast<std::uint32_t>(places_.scratch),
               static_cast<std::uint32_t>(places_.scratch_stride));
  write_lists();
}

TeamRun::TeamRun(TeamRun&& other) noexcept
    : StepRun(std::move(other)),
      step_(std::exchange(other.step_, 0)),
      program_(std::move(other.program_)),
      module_(std::move(other.module_)),
      places_(std::move(other.places_)),
      first_stage_(std::move(other.first_stage_)) {}

TeamRun::~TeamRun() {
  if (step_ != 0) team_close(step_);
}

void TeamRun::read(std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto count = static_cast<std::size_t>(inputs[i].storage->size());
    copy_in(places_.inputs[i], {inputs[i].storage->data(), count});
  }
}

void TeamRun::copy_in(std::int64_t at, std::span<const std::byte> bytes) {
  team_copy_in(step_, static_cast<std::uint32_t>(at), bytes.data(),
               static_cast<std::uint32_t>(bytes.size()));
}

std::int64_t TeamRun::place_of(const Place& place) const {
  return (place.input ? places_.inputs[*place.input] : places_.arena) + place.offset;
}

void TeamRun::write_lists() {
  std::vector<std::uint32_t> addresses;
  for (const Launch& launch : program_.launches)
    for (const Place& place : launch.buffers)
      addresses.push_back(static_cast<std::uint32_t>(place_of(place)));
  copy_in(places_.lists, std::as_bytes(std::span(addresses)));
}

Result<Done> TeamRun::run(std::uint64_t seed, std::span<double> launch_seconds) {
  const auto with = static_cast<std::int64_t>(seed);
  std::int64_t fault = 0;
  copy_in(kFaultPlace, std::as_bytes(std::span(&fault, 1)));
  auto list = static_cast<std::uint32_t>(places_.lists);
  for (std::size_t i = 0; i < program_.launches.size(); ++i) {
    const Launch& launch = program_.launches[i];
    const Clock::time_point began = Clock::now();
    std::uint32_t number = first_stage_[launch.kernel];
    for (const loop::Stage& stage : module_.kernels[launch.kernel]) {
      const bool shared = stage.parallel && stage.work >= loop::kLeastSharedWork;
      team_run(step_, number++, list, static_cast<double>(stage.extent),
               shared ? static_cast<double>(stage.grain) : 0, &with);
    }
    if (!launch_seconds.empty())
      launch_seconds[i] = std::chrono::duration<double>(Clock::now() - began).count();
    list += static_cast<std::uint32_t>(launch.buffers.size() * sizeof(std::uint32_t));
  }
  team_copy_out(step_, kFaultPlace, &fault, sizeof fault);
  if (fault != 0) return error(module_.faults[static_cast<std::size_t>(fault - 1)]);
  return Done{};
}

void TeamRun::paint(std::byte with) {
  team_fill(step_, static_cast<std::uint32_t>(places_.arena),
            static_cast<std::uint32_t>(program_.arena_bytes), std::to_integer<int>(with));
}

std::int64_t TeamRun::end_of_written(std::byte paint) const {
  return team_end_of_written(step_, static_cast<std::uint32_t>(places_.arena),
                             static_cast<std::uint32_t>(program_.arena_bytes),
                             std::to_integer<int>(paint));
}

Tensor TeamRun::output(std::size_t number) const {
  const ProgramOutput& output = program_.outputs[number];
  if (!output.node.valid()) return Tensor();
  std::vector<std::byte> storage(static_cast<std::size_t>(output_bytes(number)));
  read_output(number, storage);
  return output_value(output, storage.data());
}

std::int64_t TeamRun::output_bytes(std::size_t number) const {
  const ProgramOutput& output = program_.outputs[number];
  return output.node.valid() ? shown_bytes(output) : 0;
}

void TeamRun::read_output(std::size_t number, std::span<std::byte> to) const {
  team_copy_out(step_, static_cast<std::uint32_t>(place_of(program_.outputs[number].place)),
                to.data(), static_cast<std::uint32_t>(to.size()));
}

}  // namespace recut::step
