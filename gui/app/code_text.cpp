// A kernel's code for the panel, each line with the graph node that it comes from. Targets return
// source locations beside the text. If a library runs the kernel on this machine, its call stands
// above that code.
#include "gui/app/code_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/aliases.h"
#include "engine/runtime/program.h"

namespace recut::gui {
namespace {

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
                                   const Target& target, const KernelLibrary& library) {
  if (library.name.empty()) return {};
  const ScheduledKernel& scheduled = schedule.kernel(kernel);
  const auto called =
      library_kernel_of(schedule.graph(), schedule.kernels.storages, scheduled, library.takes);
  if (!called || std::holds_alternative<library::Attention>(called->calls.front())) return {};
  std::vector<CodeLine> lines = library_lines(*called, scheduled.calls.front());
  lines.insert(lines.begin(), {fmt::format("; {} runs this kernel here:", library.name), {}, true});
  lines.push_back({"", {}, true});
  lines.push_back(
      {fmt::format("; {}, for targets without {}:", target.title, library.name), {}, true});
  return lines;
}

// The node of a line: of the buffer that it declares, invalid for scratch, or of its location.
NodeId node_of(const TargetLine& line, const loop::LoweredKernel& lowered,
               const std::vector<NodeId>& calls) {
  if (line.buffer.valid())
    return line.buffer.index < lowered.sources.size() ? lowered.sources[line.buffer.index].node
                                                      : NodeId();
  return line.location < calls.size() ? calls[line.location] : NodeId();
}

// The lines of a kernel in a target's code, which has functions of its own for some calls.
std::vector<CodeLine> target_lines(const ScheduleView& schedule, std::uint32_t kernel,
                                   const Target& target, const loop::LoweredKernel& lowered,
                                   const std::vector<NodeId>& calls) {
  std::vector<TargetLine> printed;
  if (target.functions != nullptr)
    if (const auto called = library_kernel_of(schedule.graph(), schedule.kernels.storages,
                                              schedule.kernel(kernel), target.functions))
      printed = target.lines({}, {&*called, 1}, {});
  if (printed.empty()) printed = target.lines({&lowered.kernel, 1}, {}, {});
  std::vector<CodeLine> lines;
  for (TargetLine& line : printed)
    lines.push_back({std::move(line.text), node_of(line, lowered, calls), line.remark});
  return lines;
}

// A GPU's limits follow from the GPU that steps run on, if it is known.
loop::LowerOptions lower_options(const Target& target, const KernelLibrary& library) {
  const bool known = target.takes(TargetOption::sm_limits) && library.lower.group_lanes > 0;
  return known ? library.lower : target.lower({});
}

}  // namespace

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

SharedCode code_text(SharedSchedule schedule, std::uint32_t kernel, const Target& target,
                     const KernelLibrary& library) {
  auto text = std::make_shared<CodeText>();
  const std::vector<NodeId> calls =
      loop::computed_calls(schedule->graph(), schedule->kernel(kernel).calls);
  const auto lowered = loop::lower(schedule->graph(), schedule->kernels.storages,
                                   schedule->kernels.groups, calls, lower_options(target, library));
  if (lowered) {
    text->lines = library_part(*schedule, kernel, target, library);
    for (CodeLine& line : target_lines(*schedule, kernel, target, *lowered, calls))
      text->lines.push_back(std::move(line));
  } else {
    text->faults = lowered.diagnostics();
  }
  text->of = std::move(schedule);
  text->kernel = kernel;
  text->target = &target;
  text->library = library;
  return text;
}

}  // namespace recut::gui
