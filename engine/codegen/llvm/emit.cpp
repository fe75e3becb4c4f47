#include "engine/codegen/llvm/emit.h"

#include <fmt/format.h>

#include "engine/codegen/llvm/kernel_code.h"

namespace recut::llvm_ir {
namespace {

using loop::Block;
using loop::Kernel;
using loop::Loop;
using loop::Statement;

// Whether a definition gives the same wherever it stands: stages repeat those that they share.
bool is_repeatable(const Kernel& kernel, const loop::Define& define) {
  if (std::holds_alternative<loop::ReadAccumulator>(define.expression)) return false;
  const auto* load = std::get_if<loop::Load>(&define.expression);
  return load == nullptr || kernel[load->buffer].access == loop::Access::read;
}

// Loops between definitions that can be repeated: then every loop is a stage.
bool divides(const Kernel& kernel) {
  for (const Statement& statement : kernel.body) {
    const auto* define = std::get_if<loop::Define>(&statement.value);
    const bool loop = std::holds_alternative<Loop>(statement.value);
    if (!loop && (define == nullptr || !is_repeatable(kernel, *define))) return false;
  }
  return true;
}

// Several threads may not combine into one place at once.
bool combines_in_memory(const Block& block) {
  for (const Statement& statement : block) {
    const auto* store = std::get_if<loop::Store>(&statement.value);
    if (store != nullptr && store->combine) return true;
    const auto* loop = std::get_if<Loop>(&statement.value);
    if (loop != nullptr && combines_in_memory(loop->body)) return true;
    const auto* branch = std::get_if<loop::If>(&statement.value);
    if (branch != nullptr && combines_in_memory(branch->body)) return true;
  }
  return false;
}

class Emitter {
 public:
  Module run(std::span<const Kernel> kernels) {
    for (const Kernel& kernel : kernels) add(kernel);
    text_.add_lines(declarations_.text());
    module_.text = std::move(text_.text);
    module_.notes = std::move(text_.notes);
    return std::move(module_);
  }

 private:
  void add(const Kernel& kernel) {
    module_.kernels.emplace_back();
    text_.add(fmt::format("; kernel {}", kernel.name));
    for (std::uint32_t n = 0; n < kernel.notes.size(); ++n) text_.add("; " + kernel.notes[n], n);
    if (!divides(kernel)) {
      Writer writer(declarations_);
      KernelCode(kernel, writer, module_.faults).block(kernel.body);
      return finish(kernel, writer, {});
    }
    Block shared;
    for (const Statement& statement : kernel.body) {
      if (const auto* loop = std::get_if<Loop>(&statement.value))
        add_stage(kernel, shared, *loop, statement.note);
      else
        shared.push_back(statement);
    }
  }

  void add_stage(const Kernel& kernel, const Block& shared, const Loop& loop, std::uint32_t note) {
    Writer writer(declarations_);
    KernelCode code(kernel, writer, module_.faults);
    code.block(shared);
    Stage stage;
    stage.parallel = loop.parallel && !combines_in_memory(loop.body);
    stage.extent = kernel[loop.variable].extent;
    stage.grain = loop.lanes;
    writer.begin_note(note);
    code.part(loop);
    finish(kernel, writer, stage);
  }

  // A function that takes each buffer by itself, as none overlaps with another, and the one that
  // finds them in a list.
  void finish(const Kernel& kernel, const Writer& writer, Stage stage) {
    auto& stages = module_.kernels.back();
    stage.symbol = fmt::format("kernel_{}_{}", module_.kernels.size() - 1, stages.size());
    std::string parameters, found, given;
    for (std::uint32_t b = 0; b < brought_buffers(kernel); ++b) {
      const std::string name = buffer_name(loop::BufferId(b));
      parameters += fmt::format("ptr noalias {}, ", name);
      found += fmt::format(
          "  %p{} = getelementptr ptr, ptr %buffers, i64 {}\n  {} = load ptr, ptr %p{}\n", b, b,
          name, b);
      given += fmt::format("ptr {}, ", name);
    }
    constexpr std::string_view kRest = "i64 %first, i64 %last, i64 %seed, ptr %fault";
    text_.add(
        fmt::format("define internal void @{}_code({}{}) {{", stage.symbol, parameters, kRest));
    text_.add(writer.text());
    text_.add_lines(
        fmt::format("  ret void\n}}\n\n"
                    "define void @{0}(ptr %buffers, {1}) {{\n{2}  call void @{0}_code({3}{1})\n"
                    "  ret void\n}}\n\n",
                    stage.symbol, kRest, found, given));
    stages.push_back(std::move(stage));
  }

  Module module_;
  NotedText text_;
  Declarations declarations_;
};

}  // namespace

Module emit(std::span<const Kernel> kernels) { return Emitter().run(kernels); }

}  // namespace recut::llvm_ir
