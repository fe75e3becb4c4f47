// A kernel's text in one of the forms that are written from it, each line with the node of the
// graph that it is from. A new target is a row of the table.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/lower/lower.h"
#include "engine/workspace/executor.h"
#include "gui/model/schedule_view.h"

namespace recut::gui {

struct CodeLine {
  std::string text;
  NodeId node;  // the call that it computes, or a buffer's value; invalid: all of the kernel's
  bool remark = false;  // a declaration or comment, which computes nothing
};

struct CodeForm {
  std::string_view id, title;  // "llvm", "LLVM IR"
  // `calls`: by the kernel's source locations.
  std::vector<CodeLine> (*lines)(const loop::LoweredKernel& lowered,
                                 const std::vector<NodeId>& calls);
};
std::span<const CodeForm> code_forms();
const CodeForm* find_code_form(std::string_view id);  // null where there is none

// A kernel's text. If a library runs it on this machine, the library's call stands before the loop
// form, which runs it elsewhere.
struct CodeText {
  static constexpr std::size_t kNoLine = static_cast<std::size_t>(-1);

  SharedSchedule of;
  std::uint32_t kernel = 0;  // of the schedule
  const CodeForm* form = nullptr;
  KernelLibrary library;
  std::vector<CodeLine> lines;
  Diagnostics faults;  // why the kernel has no loops

  // The first line that computes something for the node, else the first that names it; kNoLine if
  // there is none.
  std::size_t line_of(NodeId node) const;
  // The first line that computes something for it and contains this text; kNoLine if there is none.
  std::size_t line_of(NodeId node, std::string_view text) const;
  std::string whole() const;
};
using SharedCode = std::shared_ptr<const CodeText>;

// Makes the text, in the time of lowering one kernel. `library`: of the executor that steps run on.
SharedCode code_text(SharedSchedule schedule, std::uint32_t kernel, const CodeForm& form,
                     const KernelLibrary& library = {});

}  // namespace recut::gui
