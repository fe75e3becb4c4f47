// Code generation for the body of one __global__ function.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/codegen/cuda/barriers.h"
#include "engine/codegen/cuda/helpers.h"
#include "engine/codegen/cuda/identifiers.h"
#include "engine/codegen/cuda/mapping.h"
#include "engine/codegen/cuda/text.h"

namespace recut::cuda {

// State shared by the functions of one text.
struct Context {
  Helpers& helpers;
  std::vector<std::string>& faults;  // messages are added
};

// A pointer into the block's shared memory.
std::string shared_pointer(const std::string& type, std::int64_t at);

class KernelCode {
 public:
  KernelCode(const loop::Kernel& kernel, const Mapping& mapping, const loop::Ranges& ranges,
             Context context);

  // The function's body; `blocks` is the size of the grid.
  Text run(const loop::StageCode& stage, std::int64_t blocks);

  const Identifiers& names() const { return names_; }

 private:
  void block(const loop::Block& block);
  void statement(const loop::Statement& statement);
  void execute(const loop::Define& define);
  void execute(const loop::Store& store);
  void execute(const loop::Declare& declare);
  void execute(const loop::Update& update);
  void accumulate(const loop::Update& update, const std::string& value, const std::string& times);
  void execute(const loop::Loop& loop);
  void execute(const loop::If& branch);

  std::string code(const loop::Constant& constant, loop::ValueId value);
  std::string code(const loop::IndexNumber& number, loop::ValueId value);
  std::string code(const loop::Load& load, loop::ValueId value);
  std::string code(const loop::Apply& apply, loop::ValueId value);
  std::string code(const loop::Checked& checked, loop::ValueId value);
  std::string code(const loop::ReadAccumulator& read, loop::ValueId value);

  // mapping_code.cpp: threads, items and worksharing loops.
  void shared_memory();
  void items(const loop::StageCode& stage, std::int64_t blocks);
  std::string first_item() const;
  std::string number_of_thread() const;
  void own_item(const std::string& own, const std::string& first, const std::string& type);
  void delinearize(const Nest& nest, const std::string& number, bool wide,
                   const std::vector<int>& sizes);
  void nest_body(const Nest& nest, const std::string& number, bool wide, int vector_width);
  std::string counter(const Nest& nest, int vector_width);
  void worksharing_loop(const WorksharingLoop& shared);
  void turn(const WorksharingLoop& shared, const std::string& number, const std::string& text);
  void wait();
  std::string mask() const;

  // ordered_sum_code.cpp: ordered sums, by producer threads and a consumer warp.
  void items_of_sum_tile(const loop::StageCode& stage, std::int64_t blocks);
  void sum_in_order(const OrderedSum& sum);
  std::vector<std::string> name_summands(const OrderedSum& sum);
  void produce_summands(const OrderedSum& sum, const std::vector<std::string>& summands,
                        const std::string& first, const std::string& half_at);
  void consume_summands(const OrderedSum& sum, const std::vector<std::string>& summands,
                        const std::string& first, const std::string& half_at);
  void broadcast_totals(const OrderedSum& sum);

  // scatter_add_code.cpp: scatter-add, with rows distributed over blocks.
  void items_of_scatter(const loop::StageCode& stage, std::int64_t blocks);
  void name_lists();
  void add_named_rows();
  void collect_numbers(const std::string& first, const std::string& all);
  void add_collected(const std::string& all);
  void begin_sums(const std::string& all);
  std::string element_of_row(const std::string& row);
  void add_to_row(const std::string& row, const std::string& value);
  void store_rows(const std::string& inside);

  // tiled_transpose_code.cpp: tiles of items, whose loads are transposed in shared memory.
  struct TileOrigin {
    loop::LoopId across, along;  // the loops of a tile
    std::string first_across, first_along;
  };
  void items_of_transpose(const loop::StageCode& stage, std::int64_t blocks);
  void open_tile_rows(const TileOrigin& origin, bool transposed, const std::string& turn);
  void close_tile_rows();
  void load_transpose_tile(const TileOrigin& origin);
  void run_transpose_tile(const TileOrigin& origin);

  // access_code.cpp: memory accesses.
  std::string index(const loop::Index& index);
  std::string element(loop::BufferId buffer, const loop::Index& at);
  std::string combined_store(const loop::Store& store);
  std::string atomic_store(const loop::Store& store);
  void vectorized_body(const Nest& nest, int size);
  void vector_accesses(const Nest& nest, int size, const std::string& one);
  std::string combining(const loop::Accumulator& accumulator);

  const std::string& value(loop::ValueId id) const { return values_[id.index]; }
  const std::string& variable(loop::LoopId id) const { return loops_[id.index]; }
  bool replicated() const { return mapping_.group > 1 && !in_worksharing_; }

  const loop::Kernel& kernel_;
  const Mapping& mapping_;
  const loop::Ranges& ranges_;
  Context context_;
  Identifiers names_;
  Barriers barriers_;
  Text text_{1};
  std::vector<std::string> loops_, values_;
  bool in_worksharing_ = false;                  // inside of a worksharing loop
  std::string iteration_ = "0";                  // of the innermost loop that has lanes
  std::map<const void*, std::string> replaced_;  // by access: its text in vectors and tiles
  // In ordered sums: the names of a thread's column, of the flags for consumers and storing
  // threads, and of the slots for the summands of updates.
  std::string column_, consumer_, storer_;
  std::map<const loop::Update*, std::vector<std::string>> summands_;
  // In scatter-adds: the names of the lists of collected numbers and rows and of the counts by
  // warp; of a thread's sums and a bit set of the rows in use; and of the block's first row.
  struct Lists {
    std::string numbers, rows, of_warps, sums, named, first_row;
  };
  Lists lists_;
};

}  // namespace recut::cuda
