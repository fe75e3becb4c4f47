// Threads and items of a launch, and what groups of threads share out.
#include <fmt/format.h>

#include <algorithm>

#include "engine/codegen/cuda/index_code.h"
#include "engine/codegen/cuda/kernel_code.h"
#include "engine/codegen/cuda/scalar_code.h"

namespace recut::cuda {

std::string shared_place(const std::string& type, std::int64_t at) {
  return fmt::format("reinterpret_cast<{}*>({})", type,
                     at > 0 ? fmt::format("shared + {}", at) : "shared");
}

Text KernelCode::run(const loop::StageCode& stage, std::int64_t blocks) {
  text_.begin_note(loop::kNoNote);
  shared_memory();
  if (mapping_.tile.columns > 0)
    items_of_tile(stage, blocks);
  else if (mapping_.scatter)
    items_of_scatter(stage, blocks);
  else if (mapping_.items)
    items(stage, blocks);
  else
    block(mapping_.straight);
  return std::move(text_);
}

void KernelCode::shared_memory() {
  if (mapping_.scratch_bytes + mapping_.partials_bytes > 0)
    text_.line("extern __shared__ __align__(16) unsigned char shared[];");
  const std::vector<std::int64_t> places = scratch_places(kernel_, mapping_.scratch);
  for (std::size_t i = 0; i < mapping_.scratch.size(); ++i) {
    const loop::BufferId id = mapping_.scratch[i];
    text_.line(fmt::format("{0}* const {1} = {2};", memory_type_name(kernel_[id].dtype),
                           names_.of(id),
                           shared_place(memory_type_name(kernel_[id].dtype), places[i])));
  }
  if (mapping_.group == 1) return;
  const bool block = mapping_.group == mapping_.threads;
  text_.line(block ? "const int thread = threadIdx.x;"
                   : fmt::format("const int thread = threadIdx.x % {};", mapping_.group));
  if (mapping_.group < 32)
    text_.line(fmt::format("const unsigned mask = 0x{:x}u << (threadIdx.x & {});",
                           (1u << mapping_.group) - 1, 32 - mapping_.group));
}

std::string KernelCode::mask() const { return mapping_.group < 32 ? "mask" : "0xffffffffu"; }

void KernelCode::wait() {
  text_.line(mapping_.group > 32 ? "__syncthreads();" : fmt::format("__syncwarp({});", mask()));
}

// The number of the item that a thread begins with.
std::string KernelCode::first_item() const {
  const std::int64_t turns = mapping_.turns_of_block();
  if (turns == 1) return "blockIdx.x";
  const std::string inside =
      mapping_.group == 1 ? "threadIdx.x" : fmt::format("threadIdx.x / {}", mapping_.group);
  return fmt::format("blockIdx.x * {} + {}", turns, inside);
}

// Variables of loops from one number, the last of them quickest; that one counts packs.
void KernelCode::count_down(const Nest& nest, const std::string& number, bool wide, int pack) {
  std::int64_t below = 1;
  for (std::size_t i = nest.loops.size(); i-- > 0;) {
    const loop::LoopId id = nest.loops[i]->variable;
    const std::int64_t extent = kernel_[id].extent;
    const bool last = i + 1 == nest.loops.size();
    const std::int64_t turns = last ? (extent + pack - 1) / pack : extent;
    const std::string type = whole_type(extent);
    const bool alone = nest.loops.size() == 1, counts = last && pack > 1;
    std::string text = alone  ? number
                       : wide ? "(unsigned long long)" + number
                              : fmt::format("unsigned({})", number);
    if (below > 1) text += fmt::format(" / {}", below);
    if (i > 0) text += fmt::format(" % {}", turns);
    if (!alone) text = type == "int" ? fmt::format("int({})", text) : "(long long)(" + text + ")";
    if (counts) text = fmt::format("{} * {}", pack, text);
    text_.line(fmt::format("const {} {} = {};", type, variable(id), text));
    below *= turns;
  }
}

// What a thread does of one item or one shared iteration.
void KernelCode::in_nest(const Nest& nest, const std::string& number, bool wide, int pack) {
  if (number != variable(nest.loops.back()->variable)) count_down(nest, number, wide, pack);
  for (const loop::Statement* one : nest.before) statement(*one);
  if (pack > 1)
    this->pack();
  else
    block(*nest.body);
}

// What a nest's iterations are counted by: its own variable, where it is a single loop.
std::string KernelCode::counter(const Nest& nest, int pack) {
  return nest.loops.size() == 1 && pack == 1 ? variable(nest.loops.front()->variable)
                                             : names_.fresh("item");
}

void KernelCode::items(const loop::StageCode& stage, std::int64_t blocks) {
  block(stage.shared);
  if (mapping_.count == 0) return;
  text_.begin_note(stage.note);
  const Nest& nest = *mapping_.items;
  const std::int64_t turns = mapping_.turns(), in_all = blocks * mapping_.turns_of_block();
  const std::string item = counter(nest, mapping_.pack);
  const std::string type = whole_type(std::max(turns, in_all));
  const bool wide = type != "int", again = in_all < turns;
  const std::string first = (wide ? "(long long)" : "") + first_item();
  if (again)
    text_.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", type, item, first, turns,
                           in_all));
  else
    text_.line(fmt::format("const {} {} = {};", type, item, first));
  if (in_all > turns) text_.line(fmt::format("if ({} >= {}) return;", item, turns));
  in_nest(nest, item, wide, mapping_.pack);
  if (!again) return;
  if (alike()) wait();
  text_.close();
}

void KernelCode::share(const Shared& shared) {
  const std::int64_t count = shared.nest.iterations(kernel_);
  if (count == 0) return;
  const std::int64_t step = shared.lanes > 0 ? shared.lanes : mapping_.group;
  const std::string number = counter(shared.nest, 1), type = whole_type(count + step);
  const std::string around = iteration_;
  const std::string some = step < mapping_.group ? fmt::format("if (thread < {}) ", step) : "";
  text_.open(fmt::format("{0}for ({1} {2} = thread; {2} < {3}; {2} += {4})", some, type, number,
                         count, step));
  spread_ = true;
  in_nest(shared.nest, number, type != "int", 1);
  spread_ = false;
  text_.close();
  iteration_ = around;
}

}  // namespace recut::cuda
