// Index arithmetic of threads: blockIdx and threadIdx give an item number, and the item number
// gives the loop variables by division, the innermost loop fastest, so that neighbouring threads
// access neighbouring elements. Worksharing loops run as whole rounds of the group plus a guarded
// remainder; short ones are fully unrolled, which keeps a row in registers between two loops over
// it (persistent reductions, as in Inductor).
#include <fmt/format.h>

#include <algorithm>

#include "engine/codegen/cuda/index_code.h"
#include "engine/codegen/cuda/kernel_code.h"
#include "engine/codegen/cuda/scalar_code.h"
#include "engine/codegen/cuda/vectorized_access.h"

namespace recut::cuda {
namespace {

constexpr std::int64_t kMaxLoadedValues = 64;  // values in registers, of fully unrolled loops
constexpr std::int64_t kFewTurns = 8, kUnrolledOfMany = 4;
constexpr std::size_t kMaxStatements = 48;

// The unroll factor of a worksharing loop; 1: not unrolled.
int unrolled_turns(const loop::Block& body, loop::LoopId loop, std::int64_t turns,
                   int vector_width) {
  const bool straight_line =
      body.size() <= kMaxStatements &&
      std::none_of(body.begin(), body.end(), [](const loop::Statement& statement) {
        return std::holds_alternative<loop::Loop>(statement.value) ||
               std::holds_alternative<loop::If>(statement.value);
      });
  if (!straight_line) return 1;
  const std::int64_t loads = std::max(count_contiguous_loads(body, loop), 1);
  const bool few = turns <= kFewTurns || turns * vector_width * loads <= kMaxLoadedValues;
  return static_cast<int>(few ? turns : kUnrolledOfMany);
}

}  // namespace

std::string shared_pointer(const std::string& type, std::int64_t at) {
  return fmt::format("reinterpret_cast<{}*>({})", type,
                     at > 0 ? fmt::format("shared + {}", at) : "shared");
}

Text KernelCode::run(const loop::StageCode& stage, std::int64_t blocks) {
  text_.set_location(loop::kUnknownLocation);
  shared_memory();
  if (mapping_.sum_tile.columns > 0)
    items_of_sum_tile(stage, blocks);
  else if (mapping_.scatter)
    items_of_scatter(stage, blocks);
  else if (mapping_.transpose)
    items_of_transpose(stage, blocks);
  else if (mapping_.items)
    items(stage, blocks);
  else
    block(mapping_.serial);
  return std::move(text_);
}

void KernelCode::shared_memory() {
  if (mapping_.scratch_bytes + mapping_.partials_bytes > 0)
    text_.line("extern __shared__ __align__(16) unsigned char shared[];");
  const std::vector<std::int64_t> offsets = scratch_offsets(kernel_, mapping_.scratch);
  for (std::size_t i = 0; i < mapping_.scratch.size(); ++i) {
    const loop::BufferId id = mapping_.scratch[i];
    text_.line(fmt::format("{0}* const {1} = {2};", memory_type_name(kernel_[id].dtype),
                           names_.of(id),
                           shared_pointer(memory_type_name(kernel_[id].dtype), offsets[i])));
  }
  if (mapping_.group == 1) return;
  text_.line(fmt::format("const int thread = {};", number_of_thread()));
  if (mapping_.in_warp() && mapping_.group < 32)
    text_.line(fmt::format("const unsigned mask = 0x{:x}u << (threadIdx.x & {});",
                           (1u << mapping_.group) - 1, 32 - mapping_.group));
}

// The thread's number within its group.
std::string KernelCode::number_of_thread() const {
  std::string number =
      mapping_.interleaved > 1            ? fmt::format("threadIdx.x / {}", mapping_.interleaved)
      : mapping_.group < mapping_.threads ? fmt::format("threadIdx.x % {}", mapping_.group)
                                          : "threadIdx.x";
  if (mapping_.cooperative)  // partials that are combined first belong to one block
    return fmt::format("{} * {} + blockIdx.x % {}", number, mapping_.cluster, mapping_.cluster);
  if (mapping_.cluster > 1)
    number = fmt::format("blockIdx.x % {} * {} + {}", mapping_.cluster,
                         mapping_.threads / mapping_.interleaved, number);
  return number;
}

std::string KernelCode::mask() const { return mapping_.group < 32 ? "mask" : "0xffffffffu"; }

void KernelCode::wait() {
  if (mapping_.cooperative)
    return text_.line(fmt::format("{}(cooperative.arrived, {});",
                                  context_.helpers.use("cooperative_sync"), mapping_.cluster));
  if (mapping_.cluster > 1) return text_.line(context_.helpers.use("cluster_sync") + "();");
  text_.line(!mapping_.in_warp() ? "__syncthreads();" : fmt::format("__syncwarp({});", mask()));
}

// The first item of a thread.
std::string KernelCode::first_item() const {
  const std::int64_t turns = mapping_.turns_of_block();
  if (mapping_.interleaved > 1)
    return fmt::format("int(blockIdx.x / {}) * {}", mapping_.cluster, mapping_.interleaved);
  if (mapping_.cluster > 1) return fmt::format("int(blockIdx.x / {})", mapping_.cluster);
  if (turns == 1) return "blockIdx.x";
  const std::string inside =
      mapping_.group == 1 ? "threadIdx.x" : fmt::format("threadIdx.x / {}", mapping_.group);
  return fmt::format("blockIdx.x * {} + {}", turns, inside);
}

// Delinearization: loop variables from one number, the last loop fastest. `sizes`: by loop, the
// number of iterations that are counted as one.
void KernelCode::delinearize(const Nest& nest, const std::string& number, bool wide,
                             const std::vector<int>& sizes) {
  std::int64_t below = 1;
  for (std::size_t i = nest.loops.size(); i-- > 0;) {
    const loop::LoopId id = nest.loops[i]->variable;
    const std::int64_t extent = kernel_[id].extent;
    const std::int64_t turns = (extent + sizes[i] - 1) / sizes[i];
    const std::string type = int_type_name(extent);
    const bool alone = nest.loops.size() == 1;
    std::string text = alone  ? number
                       : wide ? "(unsigned long long)" + number
                              : fmt::format("unsigned({})", number);
    if (below > 1) text += fmt::format(" / {}", below);
    if (i > 0) text += fmt::format(" % {}", turns);
    if (!alone) text = type == "int" ? fmt::format("int({})", text) : "(long long)(" + text + ")";
    if (sizes[i] > 1) text = fmt::format("{} * {}", sizes[i], text);
    text_.line(fmt::format("const {} {} = {};", type, variable(id), text));
    below *= turns;
  }
}

// The code of one item, or of one iteration of a worksharing loop.
void KernelCode::nest_body(const Nest& nest, const std::string& number, bool wide,
                           int vector_width) {
  if (number != variable(nest.loops.back()->variable)) {
    std::vector<int> sizes(nest.loops.size(), 1);
    sizes.back() = vector_width;
    delinearize(nest, number, wide, sizes);
  }
  for (const loop::Statement* one : nest.before) statement(*one);
  if (vector_width > 1)
    this->vectorized_body(nest, vector_width);
  else
    block(*nest.body);
}

// The name of a nest's linear number: the loop's own variable if it is a single loop.
std::string KernelCode::counter(const Nest& nest, int vector_width) {
  return nest.loops.size() == 1 && vector_width == 1 ? variable(nest.loops.front()->variable)
                                                     : names_.fresh("item");
}

void KernelCode::items(const loop::StageCode& stage, std::int64_t blocks) {
  block(stage.shared);
  if (mapping_.count == 0) return;
  text_.set_location(stage.location);
  const Nest& nest = *mapping_.items;
  const std::int64_t turns = mapping_.turns(),
                     in_all = blocks / mapping_.cluster * mapping_.turns_of_block();
  const std::string own = counter(nest, mapping_.vector_width);
  const std::string item = mapping_.interleaved > 1 ? names_.fresh("items") : own;
  const std::string type = int_type_name(std::max(turns, in_all));
  const bool wide = type != "int", again = in_all < turns;
  const std::string first = (wide ? "(long long)" : "") + first_item();
  if (again)
    text_.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", type, item, first, turns,
                           in_all));
  else
    text_.line(fmt::format("const {} {} = {};", type, item, first));
  if (mapping_.interleaved > 1)
    own_item(own, item, type);
  else if (in_all > turns)
    text_.line(fmt::format("if ({} >= {}) return;", item, turns));
  nest_body(nest, own, wide, mapping_.vector_width);
  if (!again) return;
  if (replicated()) wait();
  text_.close();
}

// Threads beyond the last item repeat it, and store the same values.
void KernelCode::own_item(const std::string& own, const std::string& first,
                          const std::string& type) {
  const std::string position =
      fmt::format("{} + int(threadIdx.x % {})", first, mapping_.interleaved);
  text_.line(mapping_.count % mapping_.interleaved == 0
                 ? fmt::format("const {} {} = {};", type, own, position)
                 : fmt::format("const {0} {1} = {2}({3}, ({0}){4});", type, own,
                               context_.helpers.use("smaller"), position, mapping_.count - 1));
}

// Full rounds of all threads, and a guarded remainder. Short loops are fully unrolled: all loads
// are in flight at once, and values loaded by one loop over a row stay in registers for the next.
void KernelCode::worksharing_loop(const WorksharingLoop& shared) {
  const std::int64_t vectors = shared.nest.iterations(kernel_) / shared.vector_width;
  if (vectors == 0) return;
  const std::int64_t threads =
      shared.lanes > 0 ? shared.lanes / shared.vector_width : mapping_.group;
  const std::int64_t whole = vectors / threads, rest = vectors % threads;
  const std::string number = counter(shared.nest, shared.vector_width), around = iteration_;
  const std::string type = int_type_name(vectors + threads), each = names_.fresh("turn");
  const bool some = threads < mapping_.group;
  in_worksharing_ = true;
  if (whole > 0) {
    if (some) text_.open(fmt::format("if (thread < {})", threads));
    if (whole > 1) {
      if (const int unrolled = unrolled_turns(*shared.nest.body, shared.nest.loops.back()->variable,
                                              whole, shared.vector_width);
          unrolled > 1)
        text_.line(fmt::format("#pragma unroll {}", unrolled));
      text_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", each, whole));
    } else if (!some) {
      text_.open("");
    }
    turn(shared, number,
         fmt::format("const {} {} = thread{}", type, number,
                     whole > 1 ? fmt::format(" + {} * {}", threads, each) : ""));
    if (whole > 1 || !some) text_.close();
    if (some) text_.close();
  }
  if (rest > 0) {
    text_.open(fmt::format("if (thread < {})", rest));
    turn(shared, number,
         fmt::format("const {} {} = thread{}", type, number,
                     whole > 0 ? fmt::format(" + {}", threads * whole) : ""));
    text_.close();
  }
  in_worksharing_ = false;
  iteration_ = around;
}

void KernelCode::turn(const WorksharingLoop& shared, const std::string& number,
                      const std::string& text) {
  text_.line(text + ";");
  nest_body(shared.nest, number, int_type_name(shared.nest.iterations(kernel_)) != "int",
            shared.vector_width);
}

}  // namespace recut::cuda
