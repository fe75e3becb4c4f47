#include "gui/app/code_text.h"

#include <algorithm>

#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/printer.h"

namespace recut::gui {
namespace {

NodeId node_of(std::uint32_t note, const std::vector<NodeId>& calls) {
  return note < calls.size() ? calls[note] : NodeId();
}

std::vector<CodeLine> loop_lines(const loop::LoweredKernel& lowered,
                                 const std::vector<NodeId>& calls) {
  std::vector<CodeLine> lines;
  for (loop::PrintedLine& line : loop::print_lines(lowered.kernel)) {
    const NodeId node =
        line.buffer.valid() ? lowered.sources[line.buffer.index].node : node_of(line.note, calls);
    const bool declares = lines.size() <= calls.size() + lowered.kernel.buffers.size();
    lines.push_back({std::move(line.text), node, declares});
  }
  return lines;
}

std::vector<CodeLine> llvm_lines(const loop::LoweredKernel& lowered,
                                 const std::vector<NodeId>& calls) {
  const llvm_ir::Module module = llvm_ir::emit({&lowered.kernel, 1});
  std::vector<CodeLine> lines;
  std::string_view rest = module.text;
  for (const std::uint32_t note : module.notes) {
    const std::size_t end = rest.find('\n');
    lines.push_back(
        {std::string(rest.substr(0, end)), node_of(note, calls), lines.size() <= calls.size()});
    rest.remove_prefix(end + 1);
  }
  return lines;
}

constexpr CodeForm kForms[] = {
    {"loop", "Loop form", loop_lines},
    {"llvm", "LLVM IR", llvm_lines},
};

}  // namespace

std::span<const CodeForm> code_forms() { return kForms; }

const CodeForm* find_code_form(std::string_view id) {
  for (const CodeForm& form : kForms)
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

std::string CodeText::whole() const {
  std::string text;
  for (const CodeLine& line : lines) text += line.text + "\n";
  return text;
}

SharedCode code_text(SharedSchedule schedule, std::uint32_t kernel, const CodeForm& form) {
  auto text = std::make_shared<CodeText>();
  const std::vector<NodeId> calls = loop::computed_calls(schedule->graph(), schedule->kernel(kernel).calls);
  const auto lowered = loop::lower(schedule->graph(), schedule->storages, schedule->groups, calls);
  if (lowered)
    text->lines = form.lines(*lowered, calls);
  else
    text->faults = lowered.diagnostics();
  text->of = std::move(schedule);
  text->kernel = kernel;
  text->form = &form;
  return text;
}

}  // namespace recut::gui
