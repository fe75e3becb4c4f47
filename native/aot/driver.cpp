#include "native/aot/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/codegen/llvm/emit.h"
#include "native/aot/copies.h"
#include "native/aot/driver_functions.h"

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
    const std::size_t backward = launches_.size();
    add_write_backs();
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
                           fmt::arg("forward", forward), fmt::arg("launches", backward));
    if (interface_.mutates_inputs())
      text_ += fmt::format(fmt::runtime(kWriteBackFunction), fmt::arg("prefix", interface_.prefix),
                           fmt::arg("backward", backward), fmt::arg("launches", launches_.size()));
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
      kernels_.push_back(copy_kernel(from, interface_.outputs[i].type, interface_.outputs[i].name));
      launches_.push_back({kernel, {base_and_offset(from.address), {output(i), 0}}, output(i)});
    }
  }

  // From the caller's outputs over the caller's inputs.
  void add_write_backs() {
    for (std::size_t i = 0; i < interface_.outputs.size(); ++i) {
      const InterfaceTensor& from = interface_.outputs[i];
      if (!from.mutates || element_count(from.type.shape) == 0) continue;
      const auto kernel = static_cast<std::uint32_t>(kernels_.size());
      kernels_.push_back(write_back_kernel(from.type, from.name));
      const auto to = static_cast<std::int64_t>(*from.mutates);
      launches_.push_back({kernel, {{output(i), 0}, {to, 0}}, output(i)});
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
    constexpr std::string_view kTensor = "{ ptr, ptr, ptr, i64, ptr, ptr, i64, i64, i64 }";
    const auto number = [](const std::optional<std::size_t>& input) {
      return input ? static_cast<std::int64_t>(*input) : -1;
    };
    std::vector<std::string> rows;
    for (const InterfaceTensor& tensor : tensors) {
      const TensorType& type = tensor.type;
      const std::string texts[] = {constant_text(tensor.name), constant_text(tensor.kind),
                                   constant_text(short_name(type.dtype))};
      rows.push_back(
          fmt::format("{} {{ ptr {}, ptr {}, ptr {}, i64 {}, ptr {}, ptr {}, i64 {}, "
                      "i64 {}, i64 {} }}",
                      kTensor, texts[0], texts[1], texts[2], type.rank(),
                      constant_numbers(type.shape), constant_numbers(type.strides), byte_size(type),
                      number(tensor.mutates), number(tensor.storage)));
    }
    text_ += fmt::format("@{} = internal constant {}\n", name, array(kTensor, rows));
  }

  void add_weights_data() {
    const bool written = interface_.mutates_weights();
    text_ +=
        fmt::format(fmt::runtime(kWeightsData), fmt::arg("path", assembler_text(weights_file_)),
                    fmt::arg("section", written ? ".data.weights" : ".rodata.weights"),
                    fmt::arg("flags", written ? "aw" : "a"),
                    fmt::arg("storage", written ? "global" : "constant"));
  }

  void add_weights() {
    if (interface_.weights.empty()) return;
    std::vector<std::string> rows;
    for (const WeightPlace& weight : interface_.weights)
      rows.push_back(numbers({static_cast<std::int64_t>(weight.input), weight.offset}));
    text_ += "@weights = internal constant " + array("[2 x i64]", rows) + "\n";
    const bool inside = interface_.weights_inside;
    if (inside) add_weights_data();
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
