// A kernel's code for the panel, in the form of any target, each line with the graph node that it
// comes from. Printers and emitters return source locations beside the text (kernel.locations), so
// a new target is one row in kCodeForms. If a library runs the kernel on this machine, its call
// stands above that code.
#include "gui/app/code_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "engine/codegen/cuda/attention.h"
#include "engine/codegen/cuda/emit.h"
#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/wasm/emit.h"
#include "engine/ir/aliases.h"
#include "engine/runtime/program.h"

namespace recut::gui {
namespace {

NodeId node_of(std::uint32_t location, const std::vector<NodeId>& calls) {
  return location < calls.size() ? calls[location] : NodeId();
}

// Splits text, whose last line ends in '\n', too, into lines.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// The lines of a library's call, with each operand in a line of its own.
std::vector<std::string> operand_lines(std::string_view line) {
  const std::size_t operands = line.find(" %", line.find(" = "));
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool next = i > operands && line.substr(i - 2, 3) == "], ";
    if (next || i == operands || line.substr(i, 8) == " stride ") lines.emplace_back(5, ' ');
    lines.back() += line[i];
  }
  return lines;
}

// The printer's lines: the head, notes, buffers, calls, the end.
std::vector<CodeLine> library_lines(const library::Kernel& kernel, NodeId call) {
  std::vector<CodeLine> lines;
  const std::size_t buffers = 1 + kernel.locations.size();
  const std::size_t calls = buffers + kernel.buffers.size();
  const std::vector<std::string> printed = lines_of(library::print(kernel));
  for (std::size_t i = 0; i < printed.size(); ++i) {
    if (i == 0 || i + 1 == printed.size())
      lines.push_back({printed[i], {}, true});
    else if (i < calls)
      lines.push_back({printed[i], i < buffers ? call : kernel.sources[i - buffers].node, true});
    else
      for (std::string& part : operand_lines(printed[i]))
        lines.push_back({std::move(part), call, false});
  }
  return lines;
}

// The library's call with remarks on it; nothing if the loop form itself runs. Attention's is
// Recut's own, and a form of its kernel.
std::vector<CodeLine> library_part(const ScheduleView& schedule, std::uint32_t kernel,
                                   const CodeForm& form, const KernelLibrary& library) {
  if (library.name.empty()) return {};
  const ScheduledKernel& scheduled = schedule.kernel(kernel);
  const auto called =
      library_kernel_of(schedule.graph(), schedule.kernels.storages, scheduled, library.takes);
  if (!called || std::holds_alternative<library::Attention>(called->calls.front())) return {};
  std::vector<CodeLine> lines = library_lines(*called, scheduled.calls.front());
  lines.insert(lines.begin(), {fmt::format("; {} runs this kernel here:", library.name), {}, true});
  lines.push_back({"", {}, true});
  lines.push_back(
      {fmt::format("; {}, for targets without {}:", form.title, library.name), {}, true});
  return lines;
}

// The node that defines the buffer; invalid for scratch.
NodeId defining_node(loop::BufferId buffer, const loop::LoweredKernel& lowered) {
  return buffer.index < lowered.sources.size() ? lowered.sources[buffer.index].node : NodeId();
}

std::vector<CodeLine> loop_lines(const loop::LoweredKernel& lowered,
                                 const std::vector<NodeId>& calls) {
  std::vector<CodeLine> lines;
  for (loop::PrintedLine& line : loop::print_lines(lowered.kernel)) {
    const NodeId node =
        line.buffer.valid() ? defining_node(line.buffer, lowered) : node_of(line.location, calls);
    const bool declares = lines.size() <= calls.size() + lowered.kernel.buffers.size();
    lines.push_back({std::move(line.text), node, declares});
  }
  return lines;
}

// `heading`: lines before the statements.
std::vector<CodeLine> located_lines(std::string_view text,
                                    const std::vector<std::uint32_t>& locations,
                                    std::size_t heading, const std::vector<NodeId>& calls) {
  std::vector<CodeLine> lines;
  for (const std::uint32_t location : locations) {
    const std::size_t end = text.find('\n');
    lines.push_back(
        {std::string(text.substr(0, end)), node_of(location, calls), lines.size() < heading});
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<CodeLine> llvm_lines(const loop::LoweredKernel& lowered,
                                 const std::vector<NodeId>& calls) {
  const llvm_ir::Module module = llvm_ir::emit({&lowered.kernel, 1});
  return located_lines(module.text, module.locations, calls.size() + 1, calls);
}

// The lines of a module in CUDA; the functions at its head come before the kernel's own lines.
std::vector<CodeLine> cuda_lines(const cuda::Module& module, const std::vector<NodeId>& calls) {
  const auto first =
      std::find_if(module.locations.begin(), module.locations.end(),
                   [](std::uint32_t location) { return location != loop::kUnknownLocation; });
  const auto before = static_cast<std::size_t>(first - module.locations.begin());
  return located_lines(module.text, module.locations, before + calls.size(), calls);
}

std::vector<CodeLine> cuda_lines(const loop::LoweredKernel& lowered,
                                 const std::vector<NodeId>& calls) {
  return cuda_lines(cuda::emit({&lowered.kernel, 1}), calls);
}

// The lines of a kernel in a form; attention has functions of its own there instead of loops.
std::vector<CodeLine> form_lines(const ScheduleView& schedule, std::uint32_t kernel,
                                 const CodeForm& form, const loop::LoweredKernel& lowered,
                                 const std::vector<NodeId>& calls) {
  if (form.id == "cuda") {
    const auto attention = library_kernel_of(schedule.graph(), schedule.kernels.storages,
                                             schedule.kernel(kernel), cuda::supports_attention);
    if (attention) return cuda_lines(cuda::emit({}, {&*attention, 1}), calls);
  }
  return form.lines(lowered, calls);
}

// WebAssembly has options of its own. CUDA's follow from the GPU that steps run on, if it is known.
loop::LowerOptions lower_options(const CodeForm& form, const KernelLibrary& library) {
  if (form.id == "wasm") return wasm::lower_options();
  if (form.id != "cuda") return {};
  return library.lower.group_lanes > 0 ? library.lower : cuda::lower_options({});
}

// The lines of a kernel in WebAssembly text; lines that aren't instructions (lists, comments) are
// remarks.
std::vector<CodeLine> wasm_lines(const loop::LoweredKernel& lowered,
                                 const std::vector<NodeId>& calls) {
  std::vector<CodeLine> lines;
  for (wasm::Line& line : wasm::emit_text({&lowered.kernel, 1})) {
    const std::size_t begin = line.text.find_first_not_of(' ');
    const bool remark = begin == std::string::npos || !std::isalpha(line.text[begin]);
    lines.push_back({std::move(line.text), node_of(line.location, calls), remark});
  }
  return lines;
}

constexpr CodeForm kCodeForms[] = {
    {"loop", "Loop form", loop_lines},
    {"llvm", "LLVM IR", llvm_lines},
    {"wasm", "WebAssembly", wasm_lines},
    {"cuda", "CUDA", cuda_lines},
};

}  // namespace

std::span<const CodeForm> code_forms() { return kCodeForms; }

const CodeForm* find_code_form(std::string_view id) {
  for (const CodeForm& form : kCodeForms)
    if (form.id == id) return &form;
  return nullptr;
}

std::size_t CodeText::line_of(NodeId node) const {
  std::size_t about = kNoLine;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!node.valid() || lines[i].node != node) continue;
    if (!lines[i].remark) return i;
    about = std::min(about, i);
  }
  return about;
}

std::size_t CodeText::line_of(NodeId node, std::string_view text) const {
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (node.valid() && lines[i].node == node && !lines[i].remark &&
        lines[i].text.find(text) != std::string::npos)
      return i;
  return kNoLine;
}

std::string CodeText::whole() const {
  std::string text;
  for (const CodeLine& line : lines) text += line.text + "\n";
  return text;
}

SharedCode code_text(SharedSchedule schedule, std::uint32_t kernel, const CodeForm& form,
                     const KernelLibrary& library) {
  auto text = std::make_shared<CodeText>();
  const std::vector<NodeId> calls =
      loop::computed_calls(schedule->graph(), schedule->kernel(kernel).calls);
  const auto lowered = loop::lower(schedule->graph(), schedule->kernels.storages,
                                   schedule->kernels.groups, calls, lower_options(form, library));
  if (lowered) {
    text->lines = library_part(*schedule, kernel, form, library);
    for (CodeLine& line : form_lines(*schedule, kernel, form, *lowered, calls))
      text->lines.push_back(std::move(line));
  } else {
    text->faults = lowered.diagnostics();
  }
  text->of = std::move(schedule);
  text->kernel = kernel;
  text->form = &form;
  text->library = library;
  return text;
}

}  // namespace recut::gui
