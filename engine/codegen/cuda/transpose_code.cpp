// The body of a tiled transpose.
#include <fmt/format.h>

#include "engine/codegen/cuda/index_code.h"
#include "engine/codegen/cuda/kernel_code.h"
#include "engine/codegen/cuda/scalar_code.h"

namespace recut::cuda {
namespace {

constexpr int kSide = Transpose::kSide, kLine = Transpose::kLine;
constexpr int kLines = Transpose::kThreads / kSide;  // rows that a block handles at a time

}  // namespace

void KernelCode::items_of_transpose(const loop::StageCode& stage, std::int64_t blocks) {
  block(stage.shared);
  if (mapping_.count == 0) return;
  text_.begin_note(stage.note);
  const Nest& nest = *mapping_.items;
  const std::int64_t squares = mapping_.transpose.squares;
  const bool again = blocks < squares, wide = whole_type(squares + blocks) != "int";
  const std::string square = names_.fresh("square");
  const std::string type = whole_type(squares + blocks);
  if (again)
    text_.open(fmt::format("for ({0} {1} = blockIdx.x; {1} < {2}; {1} += {3})", type, square,
                           squares, blocks));
  else
    text_.line(fmt::format("const {} {} = blockIdx.x;", type, square));
  std::vector<int> sizes(nest.loops.size(), 1);
  Corner corner{
      nest.loops[mapping_.transpose.across]->variable, nest.loops.back()->variable, {}, {}};
  sizes[mapping_.transpose.across] = sizes.back() = kSide;
  const std::string across = variable(corner.across), along = variable(corner.along);
  corner.first_across = loops_[corner.across.index] = names_.fresh("first_" + across);
  corner.first_along = loops_[corner.along.index] = names_.fresh("first_" + along);
  count_down(nest, square, wide, sizes);
  loops_[corner.across.index] = across;
  loops_[corner.along.index] = along;
  load_square(corner);
  text_.line("__syncthreads();");
  run_square(corner);
  if (!again) return;
  text_.line("__syncthreads();");
  text_.close();
}

// Loops over the rows of a tile; a warp runs along a row. `turned`: rows along the loop `across`.
void KernelCode::open_lines(const Corner& corner, bool turned, const std::string& turn) {
  const loop::LoopId inner = turned ? corner.across : corner.along;
  const loop::LoopId outer = turned ? corner.along : corner.across;
  const std::string& first_inner = turned ? corner.first_across : corner.first_along;
  const std::string& first_outer = turned ? corner.first_along : corner.first_across;
  text_.line("#pragma unroll");
  text_.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2})", turn, kSide, kLines));
  const auto declare = [&](loop::LoopId id, const std::string& place) {
    text_.line(fmt::format("const {} {} = {};", whole_type(kernel_[id].extent + kSide),
                           variable(id), place));
  };
  declare(inner, fmt::format("{} + int(threadIdx.x % {})", first_inner, kSide));
  declare(outer, fmt::format("{} + {} + int(threadIdx.x / {})", first_outer, turn, kSide));
  std::string inside;
  for (const loop::LoopId id : {corner.across, corner.along})
    if (kernel_[id].extent % kSide != 0)
      inside +=
          fmt::format("{}{} < {}", inside.empty() ? "" : " && ", variable(id), kernel_[id].extent);
  text_.open(inside.empty() ? "" : fmt::format("if ({})", inside));
}

void KernelCode::close_lines() {
  text_.close();
  text_.close();
}

// A row of shared memory holds the loads of one iteration of the last loop.
void KernelCode::load_square(const Corner& corner) {
  const Transpose& transpose = mapping_.transpose;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < transpose.loads.size(); ++i) {
    const loop::BufferId buffer = transpose.loads[i]->buffer;
    const std::string type = memory_type_name(kernel_[buffer].dtype);
    names.push_back(names_.fresh(names_.of(buffer) + "_square"));
    text_.line(fmt::format("{}* const {} = {};", type, names.back(),
                           shared_place(type, transpose.places[i])));
  }
  const std::string turn = names_.fresh("line");
  open_lines(corner, true, turn);
  for (std::size_t i = 0; i < transpose.loads.size(); ++i) {
    const loop::Load& load = *transpose.loads[i];
    text_.line(fmt::format("{}[({} + threadIdx.x / {}) * {} + threadIdx.x % {}] = {};", names[i],
                           turn, kSide, kLine, kSide, element(load.buffer, load.at)));
    placed_[&load] = names[i];
  }
  close_lines();
}

void KernelCode::run_square(const Corner& corner) {
  const std::string turn = names_.fresh("line");
  open_lines(corner, false, turn);
  for (auto& [load, name] : placed_)
    name = fmt::format("{}[threadIdx.x % {} * {} + {} + threadIdx.x / {}]", name, kSide, kLine,
                       turn, kSide);
  for (const loop::Statement* one : mapping_.items->before) statement(*one);
  block(*mapping_.items->body);
  placed_.clear();
  close_lines();
}

}  // namespace recut::cuda
