// State of the code panel for a document: the kernel that it shows, that kernel's text, which a job
// makes, and the current line. Kernel and line follow the selection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gui/app/code_text.h"

namespace recut::gui {

class App;

struct CodeView {
  SharedSchedule of;         // whose kernels are counted
  std::uint32_t kernel = 0;  // that is shown
  SharedCode text;           // made last; of this kernel, once the job is done
  JobId job = 0;
  std::uint32_t kernel_at_work = 0;
  SharedSchedule of_at_work;
  const Target* target_at_work = nullptr;
  KernelLibrary library_at_work;

  NodeId followed;                                // the selection that was followed last
  std::size_t line = CodeText::kNoLine;           // where one is
  std::string requested;                          // text of a line to go to, once it is there
  bool on_kernel = false;                         // one is at the kernel, at none of its lines
  bool bring_line = false, bring_kernel = false;  // into view
};

inline constexpr std::string_view kCodeMemory = "code";
CodeView& code_view(DocumentView& document);

const Target& shown_target(const App& app);

// The node whose lines are marked: the selection, or the call behind a selected view.
NodeId marked_node(const DocumentView& document);

// Goes to the kernel of the selection and its first line, where the selection is another one.
void follow_selection(const DocumentView& document, CodeView& view);
// True if the text is of the kernel in this form, with this library.
bool is_current(const CodeView& view, const Target& target, const KernelLibrary& library);
// True if schedule or text are missing and must be requested.
bool wants_code(const App& app, const DocumentView& document, const CodeView& view);
// Starts the jobs that make the schedule and the kernel's text.
void prepare_code(App& app, DocumentView& document);

// Goes to the first line of the marked node that contains this text, now or once the kernel's text
// is there.
Result<Done> find_line(App& app, std::string_view text);

// The stops on the way of a node from the graph to the instruction that runs it: the graph, its
// kernel, and the kernel's lines in one target after another.
std::size_t follow_stops();
std::size_t follow_stop(const App& app);          // where one is
std::string_view name_of_stop(std::size_t stop);  // "graph", "kernel", "loop", "llvm"
Result<Done> go_to_stop(App& app, std::size_t stop);

}  // namespace recut::gui
