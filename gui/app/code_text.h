// A kernel's text in the code of a target (engine/codegen/target.h), each line with the node of the
// graph that it is from.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/target.h"
#include "engine/workspace/executor.h"
#include "gui/model/schedule_view.h"

namespace recut::gui {

struct CodeLine {
  std::string text;
  NodeId node;  // the call that it computes, or a buffer's value; invalid: all of the kernel's
  bool remark = false;  // a declaration or comment, which computes nothing
};

// A kernel's text. If a library runs it on this machine, the library's call stands before the loop
// form, which runs it elsewhere.
struct CodeText {
  static constexpr std::size_t kNoLine = static_cast<std::size_t>(-1);

  SharedSchedule of;
  std::uint32_t kernel = 0;  // of the schedule
  const Target* target = nullptr;
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
SharedCode code_text(SharedSchedule schedule, std::uint32_t kernel, const Target& target,
                     const KernelLibrary& library = {});

}  // namespace recut::gui
