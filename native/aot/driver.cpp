#include "native/aot/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/codegen/llvm/emit.h"
#include "native/aot/copies.h"

// A compiled step is data plus one small interpreter loop. The IR has tables (@stages, @launches,
// @places, @inputs, @outputs, @faults) and fixed functions that walk them; only the tables depend
// on the step. A step begins with its pointers: inputs, outputs, the arena; behind them stand the
// seed, the parallel loop and its context, as the C header declares. A launch resolves each buffer
// to (pointer, offset), then runs its stages, whole or in parts by the caller's parallel loop.
// Copies of outputs are launches of their own, skipped where the caller's pointer is null. Code per
// launch would grow with the step; the loop does not.

namespace recut::aot {
namespace {

constexpr std::int64_t kAlways = -1;

// The functions over the tables. {{arena}} is the index of the arena among the step's pointers
// (inputs, outputs, arena); the seed, the parallel loop and its context follow it.
constexpr std::string_view kDriverFunctions = R"(
define internal void @part(ptr %state, i64 %first, i64 %last) {{
  %buffers_at = getelementptr i64, ptr %state, i64 1
  %seed_at = getelementptr i64, ptr %state, i64 2
  %fault_at = getelementptr i64, ptr %state, i64 3
  %code = load ptr, ptr %state
  %buffers = load ptr, ptr %buffers_at
  %seed = load i64, ptr %seed_at
  %fault = load ptr, ptr %fault_at
  call void %code(ptr %buffers, i64 %first, i64 %last, i64 %seed, ptr %fault)
  ret void
}}

define internal i32 @run(ptr %step, i64 %from, i64 %to) {{
start:
  %buffers = alloca [{most_buffers} x ptr]
  %state = alloca [4 x i64]
  %fault = alloca i64
  store i64 0, ptr %fault
  %seed_at = getelementptr i64, ptr %step, i64 {seed}
  %seed = load i64, ptr %seed_at
  %each_at = getelementptr i64, ptr %step, i64 {parallel_for}
  %each = load ptr, ptr %each_at
  %context_at = getelementptr i64, ptr %step, i64 {context}
  %context = load ptr, ptr %context_at
  %alone = icmp eq ptr %each, null
  %state_buffers = getelementptr i64, ptr %state, i64 1
  store ptr %buffers, ptr %state_buffers
  %state_seed = getelementptr i64, ptr %state, i64 2
  store i64 %seed, ptr %state_seed
  %state_fault = getelementptr i64, ptr %state, i64 3
  store ptr %fault, ptr %state_fault
  br label %launches

launches:
  %l = phi i64 [ %from, %start ], [ %next_l, %launched ]
  %all = icmp uge i64 %l, %to
  br i1 %all, label %good, label %launch

launch:
  %launch_row = getelementptr [5 x i64], ptr @launches, i64 %l
  %first_s = load i64, ptr %launch_row
  %last_s_at = getelementptr i64, ptr %launch_row, i64 1
  %last_s = load i64, ptr %last_s_at
  %first_p_at = getelementptr i64, ptr %launch_row, i64 2
  %first_p = load i64, ptr %first_p_at
  %last_p_at = getelementptr i64, ptr %launch_row, i64 3
  %last_p = load i64, ptr %last_p_at
  %wants_at = getelementptr i64, ptr %launch_row, i64 4
  %wants = load i64, ptr %wants_at
  %always = icmp slt i64 %wants, 0
  br i1 %always, label %places, label %asked

asked:
  %wanted_at = getelementptr ptr, ptr %step, i64 %wants
  %wanted = load ptr, ptr %wanted_at
  %unwanted = icmp eq ptr %wanted, null
  br i1 %unwanted, label %launched, label %places

places:
  %p = phi i64 [ %first_p, %launch ], [ %first_p, %asked ], [ %next_p, %place ]
  %placed = icmp uge i64 %p, %last_p
  br i1 %placed, label %stages, label %place

place:
  %base_at = getelementptr [2 x i64], ptr @places, i64 %p
  %base = load i64, ptr %base_at
  %offset_at = getelementptr i64, ptr %base_at, i64 1
  %offset = load i64, ptr %offset_at
  %pointer_at = getelementptr ptr, ptr %step, i64 %base
  %pointer = load ptr, ptr %pointer_at
  %address = getelementptr i8, ptr %pointer, i64 %offset
  %b = sub i64 %p, %first_p
  %buffer = getelementptr ptr, ptr %buffers, i64 %b
  store ptr %address, ptr %buffer
  %next_p = add i64 %p, 1
  br label %places

stages:
  %s = phi i64 [ %first_s, %places ], [ %next_s, %staged ]
  %staged_all = icmp uge i64 %s, %last_s
  br i1 %staged_all, label %check, label %stage

stage:
  %stage_row = getelementptr {{ ptr, i64, i64, i64 }}, ptr @stages, i64 %s
  %code = load ptr, ptr %stage_row
  %extent_at = getelementptr i64, ptr %stage_row, i64 1
  %extent = load i64, ptr %extent_at
  %grain_at = getelementptr i64, ptr %stage_row, i64 2
  %grain = load i64, ptr %grain_at
  %parallel_at = getelementptr i64, ptr %stage_row, i64 3
  %parallel = load i64, ptr %parallel_at
  %serial = icmp eq i64 %parallel, 0
  %whole = or i1 %serial, %alone
  br i1 %whole, label %at_once, label %in_parts

at_once:
  call void %code(ptr %buffers, i64 0, i64 %extent, i64 %seed, ptr %fault)
  br label %staged

in_parts:
  store ptr %code, ptr %state
  call void %each(ptr %context, i64 %extent, i64 %grain, ptr @part, ptr %state)
  br label %staged

staged:
  %next_s = add i64 %s, 1
  br label %stages

check:
  %found = load i64, ptr %fault
  %faulty = icmp ne i64 %found, 0
  br i1 %faulty, label %bad, label %launched

launched:
  %next_l = add i64 %l, 1
  br label %launches

bad:
  %number = trunc i64 %found to i32
  ret i32 %number

good:
  ret i32 0
}}

define i32 @{prefix}_forward(ptr %step) {{
  %fault = call i32 @run(ptr %step, i64 0, i64 {forward})
  ret i32 %fault
}}

define ptr @{prefix}_fault(i32 %number) {{
  %known = icmp ult i32 %number, {faults}
  %index = select i1 %known, i32 %number, i32 0
  %text_at = getelementptr ptr, ptr @faults, i32 %index
  %text = load ptr, ptr %text_at
  ret ptr %text
}}

define ptr @{prefix}_input(i32 %number) {{
  %known = icmp ult i32 %number, {inputs}
  %tensor = getelementptr [7 x i64], ptr @inputs, i32 %number
  %found = select i1 %known, ptr %tensor, ptr null
  ret ptr %found
}}

define ptr @{prefix}_output(i32 %number) {{
  %known = icmp ult i32 %number, {outputs}
  %tensor = getelementptr [7 x i64], ptr @outputs, i32 %number
  %found = select i1 %known, ptr %tensor, ptr null
  ret ptr %found
}}
)";

// Of a training step alone.
constexpr std::string_view kBackwardFunction = R"(
define i32 @{prefix}_backward(ptr %step) {{
  %fault = call i32 @run(ptr %step, i64 {forward}, i64 {launches})
  ret i32 %fault
}}
)";

// Of a step with weights. {bytes}: the pointer to them, an argument or the library's own data.
constexpr std::string_view kWeightsFunction = R"(
define void @{prefix}_set_weights(ptr %step{argument}) {{
start:
  br label %weights

weights:
  %w = phi i64 [ 0, %start ], [ %next_w, %weight ]
  %all = icmp uge i64 %w, {weights}
  br i1 %all, label %done, label %weight

weight:
  %row = getelementptr [2 x i64], ptr @weights, i64 %w
  %input = load i64, ptr %row
  %offset_at = getelementptr i64, ptr %row, i64 1
  %offset = load i64, ptr %offset_at
  %address = getelementptr i8, ptr {bytes}, i64 %offset
  %input_at = getelementptr ptr, ptr %step, i64 %input
  store ptr %address, ptr %input_at
  %next_w = add i64 %w, 1
  br label %weights

done:
  ret void
}}
)";

// Weights inside: the assembler includes the file's bytes. {path}: a text of LLVM IR.
constexpr std::string_view kWeightsData = R"(
module asm ".section .rodata.weights,\22a\22,@progbits"
module asm ".p2align 6"
module asm ".globl weights_data"
module asm ".hidden weights_data"
module asm "weights_data:"
module asm ".incbin \22{path}\22"
module asm ".text"
@weights_data = external hidden constant i8
)";

// A path as a text of the assembler within a text of LLVM IR.
std::string assembler_text(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == '"' || c == '\\') text += "\\5C";  // the assembler's own escape
    text += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

// One launch in the tables.
struct TableLaunch {
  std::uint32_t kernel = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> places;  // index of the pointer, bytes from it
  std::int64_t wants = kAlways;  // runs where this pointer of the step isn't null
};

// An array as IR: "[3 x i64] [i64 1, i64 2, i64 3]", or an empty one.
std::string array(std::string_view type, const std::vector<std::string>& values) {
  if (values.empty()) return fmt::format("[0 x {}] zeroinitializer", type);
  return fmt::format("[{} x {}] [{}]", values.size(), type, fmt::join(values, ", "));
}

std::string numbers(const std::vector<std::int64_t>& values) {
  std::vector<std::string> texts;
  for (const std::int64_t value : values) texts.push_back(fmt::format("i64 {}", value));
  return array("i64", texts);
}

class Driver {
 public:
  Driver(const Program& program, const Schedule& schedule, const Interface& interface,
         const std::string& weights_file)
      : program_(program),
        schedule_(schedule),
        interface_(interface),
        weights_file_(weights_file),
        kernels_(program.kernels) {
    for (std::size_t i = 0; i < interface.inputs.size(); ++i)
      inputs_[interface.inputs[i].node] = static_cast<std::int64_t>(i);
  }

  std::string text() {
    add_launches(Phase::forward);
    add_copies(0, interface_.results);
    const std::size_t forward = launches_.size();
    add_launches(Phase::backward);
    add_copies(interface_.results, interface_.outputs.size());
    const llvm_ir::Module module = llvm_ir::emit(kernels_);
    text_ = module.text;
    add_tables(module);
    add_tensors("inputs", interface_.inputs);
    add_tensors("outputs", interface_.outputs);
    add_faults(module.faults);
    text_ += fmt::format(fmt::runtime(kDriverFunctions), fmt::arg("prefix", interface_.prefix),
                         fmt::arg("most_buffers", max_buffers_), fmt::arg("seed", arena() + 1),
                         fmt::arg("parallel_for", arena() + 2), fmt::arg("context", arena() + 3),
                         fmt::arg("forward", forward), fmt::arg("faults", module.faults.size() + 1),
                         fmt::arg("inputs", interface_.inputs.size()),
                         fmt::arg("outputs", interface_.outputs.size()));
    add_weights();
    if (!interface_.inference)
      text_ += fmt::format(fmt::runtime(kBackwardFunction), fmt::arg("prefix", interface_.prefix),
                           fmt::arg("forward", forward), fmt::arg("launches", launches_.size()));
    return std::move(text_);
  }

 private:
  // The index of a pointer of the step: inputs, outputs, the arena.
  std::int64_t output(std::size_t number) const {
    return static_cast<std::int64_t>(interface_.inputs.size() + number);
  }
  std::int64_t arena() const { return output(interface_.outputs.size()); }

  std::pair<std::int64_t, std::int64_t> base_and_offset(const BufferAddress& location) const {
    if (!location.input) return {arena(), location.offset};
    return {inputs_.at(program_.inputs[*location.input]), location.offset};
  }

  void add_launches(Phase phase) {
    for (const Launch& launch : program_.launches) {
      if (schedule_.kernels[launch.scheduled].phase != phase) continue;
      TableLaunch& added = launches_.emplace_back();
      added.kernel = launch.kernel;
      for (const BufferAddress& buffer : launch.buffers)
        added.places.push_back(base_and_offset(buffer));
    }
  }

  void add_copies(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const ProgramOutput& from = program_.outputs[interface_.positions[i]];
      if (element_count(from.type.shape) == 0) continue;
      const auto kernel = static_cast<std::uint32_t>(kernels_.size());
      kernels_.push_back(copy_kernel(from, interface_.outputs[i].name));
      launches_.push_back({kernel, {base_and_offset(from.address), {output(i), 0}}, output(i)});
    }
  }

  void add_tables(const llvm_ir::Module& module) {
    std::vector<std::string> stages, launches, places;
    std::vector<std::size_t> first_stage;  // by kernel
    for (const auto& kernel : module.kernels) {
      first_stage.push_back(stages.size());
      for (const loop::Stage& stage : kernel)
        stages.push_back(
            fmt::format("{{ ptr, i64, i64, i64 }} {{ ptr @{}, i64 {}, i64 {}, i64 {} }}",
                        stage.symbol, stage.extent, stage.grain, int{stage.parallel}));
    }
    for (const TableLaunch& launch : launches_) {
      const std::size_t stage = first_stage[launch.kernel];
      launches.push_back(
          numbers({static_cast<std::int64_t>(stage),
                   static_cast<std::int64_t>(stage + module.kernels[launch.kernel].size()),
                   static_cast<std::int64_t>(places.size()),
                   static_cast<std::int64_t>(places.size() + launch.places.size()), launch.wants}));
      for (const auto& [base, offset] : launch.places) places.push_back(numbers({base, offset}));
      max_buffers_ = std::max(max_buffers_, launch.places.size());
    }
    text_ += "@stages = internal constant " + array("{ ptr, i64, i64, i64 }", stages) + "\n";
    text_ += "@launches = internal constant " + array("[5 x i64]", launches) + "\n";
    text_ += "@places = internal constant " + array("[2 x i64]", places) + "\n";
  }

  // Adds a zero-terminated text and returns its name.
  std::string constant_text(std::string_view text) {
    const std::string name = fmt::format("@text_{}", constants_++);
    std::string bytes;
    for (const char c : text) bytes += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    text_ +=
        fmt::format("{} = internal constant [{} x i8] c\"{}\\00\"\n", name, text.size() + 1, bytes);
    return name;
  }

  std::string constant_numbers(const std::vector<std::int64_t>& values) {
    if (values.empty()) return "null";
    const std::string name = fmt::format("@numbers_{}", constants_++);
    text_ += fmt::format("{} = internal constant {}\n", name, numbers(values));
    return name;
  }

  void add_tensors(std::string_view name, const std::vector<InterfaceTensor>& tensors) {
    constexpr std::string_view kTensor = "{ ptr, ptr, ptr, i64, ptr, ptr, i64 }";
    std::vector<std::string> rows;
    for (const InterfaceTensor& tensor : tensors) {
      const TensorType& type = tensor.type;
      const std::string texts[] = {constant_text(tensor.name), constant_text(tensor.kind),
                                   constant_text(short_name(type.dtype))};
      rows.push_back(fmt::format("{} {{ ptr {}, ptr {}, ptr {}, i64 {}, ptr {}, ptr {}, i64 {} }}",
                                 kTensor, texts[0], texts[1], texts[2], type.rank(),
                                 constant_numbers(type.shape), constant_numbers(type.strides),
                                 byte_size(type)));
    }
    text_ += fmt::format("@{} = internal constant {}\n", name, array(kTensor, rows));
  }

  void add_weights() {
    if (interface_.weights.empty()) return;
    std::vector<std::string> rows;
    for (const WeightPlace& weight : interface_.weights)
      rows.push_back(numbers({static_cast<std::int64_t>(weight.input), weight.offset}));
    text_ += "@weights = internal constant " + array("[2 x i64]", rows) + "\n";
    const bool inside = interface_.weights_inside;
    if (inside)
      text_ +=
          fmt::format(fmt::runtime(kWeightsData), fmt::arg("path", assembler_text(weights_file_)));
    text_ += fmt::format(fmt::runtime(kWeightsFunction), fmt::arg("prefix", interface_.prefix),
                         fmt::arg("argument", inside ? "" : ", ptr %bytes"),
                         fmt::arg("bytes", inside ? "@weights_data" : "%bytes"),
                         fmt::arg("weights", rows.size()));
  }

  void add_faults(const std::vector<std::string>& faults) {
    std::vector<std::string> texts{"ptr " + constant_text("")};
    for (const std::string& fault : faults) texts.push_back("ptr " + constant_text(fault));
    text_ += "@faults = internal constant " + array("ptr", texts) + "\n";
  }

  const Program& program_;
  const Schedule& schedule_;
  const Interface& interface_;
  const std::string& weights_file_;
  std::vector<loop::Kernel> kernels_;
  std::map<NodeId, std::int64_t> inputs_;
  std::vector<TableLaunch> launches_;
  std::size_t max_buffers_ = 1;
  int constants_ = 0;
  std::string text_;
};

}  // namespace

std::string step_text(const Program& program, const Schedule& schedule, const Interface& interface,
                      const std::string& weights_file) {
  return Driver(program, schedule, interface, weights_file).text();
}

}  // namespace recut::aot
