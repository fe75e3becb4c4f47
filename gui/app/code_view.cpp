#include "gui/app/code_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/aliases.h"
#include "gui/app/app.h"
#include "gui/app/run_target.h"

// The view keeps selection, kernel and line in step:
//   selection relu_3  ⇒  a kernel that computes it  ⇒  the first line of relu_3 in its text
// The kernel stays if it computes the selected value, too. `followed` is the last selection, so
// lines chosen by hand stay until plan or selection change. A job makes the text, because lowering
// is too slow for a frame; a requested line waits for it. The *_at_work fields describe the running
// job. wants_code compares them, so the panel starts no job twice; prepare_code cancels an outdated
// one.

namespace recut::gui {
namespace {

constexpr std::size_t kStopAtGraph = 0, kStopAtKernel = 1, kStopAtForms = 2;  // stops

bool is_in_front(const App& app, std::string_view panel) {
  return app.settings.text("turn.centre") == panel;
}

// The requested line, or else the first of the node that is followed.
void go_to_line(CodeView& view) {
  const CodeText& text = *view.text;
  view.line = view.requested.empty() ? text.line_of(view.followed)
                                     : text.line_of(view.followed, view.requested);
  view.requested.clear();
  view.bring_line = true;
}

void show(CodeView& view, SharedCode text) {
  view.text = std::move(text);
  go_to_line(view);
}

}  // namespace

CodeView& code_view(DocumentView& document) {
  return memory_of<CodeView>(document.memories, kCodeMemory);
}

const Target& shown_target(const App& app) {
  const Target* target = find_target(app.settings.text("code.form"));
  return target != nullptr ? *target : targets().front();
}

NodeId marked_node(const DocumentView& document) {
  const NodeId node = document.planned_selection();
  return node.valid() && document.graph().contains(node) ? defining_node(document.graph(), node)
                                                         : node;
}

void follow_selection(const DocumentView& document, CodeView& view) {
  const SharedSchedule schedule = shown_schedule(document);
  if (schedule == nullptr || schedule->launches.empty()) return;
  const NodeId marked = marked_node(document);
  if (view.of == schedule && view.followed == marked) return;
  NodeId requested = marked;
  if (view.of != schedule) {
    // In another plan the same kernel has another number.
    if (!requested.valid() && view.of != nullptr) requested = view.of->node(view.kernel);
    view.of = schedule;
    view.kernel = schedule->launches.front();
  }
  view.followed = marked;
  const std::vector<std::uint32_t> kernels = schedule->kernels_of(requested);
  if (!kernels.empty() && std::find(kernels.begin(), kernels.end(), view.kernel) == kernels.end())
    view.kernel = kernels.front();
  view.bring_kernel = true;
  if (view.text == nullptr || view.text->of != schedule || view.text->kernel != view.kernel) return;
  view.line = view.text->line_of(marked);
  view.bring_line = view.line != CodeText::kNoLine;
}

bool is_current(const CodeView& view, const Target& target, const KernelLibrary& library) {
  return view.text != nullptr && view.text->of == view.of && view.text->kernel == view.kernel &&
         view.text->target == &target && view.text->library == library;
}

bool wants_code(const App& app, const DocumentView& document, const CodeView& view) {
  if (app.planner.wants_schedule(document)) return true;
  const Target& target = shown_target(app);
  const KernelLibrary library = chosen_library(app);
  if (view.of == nullptr || view.of != shown_schedule(document) ||
      is_current(view, target, library))
    return false;
  const bool at_work = view.of_at_work == view.of && view.kernel_at_work == view.kernel &&
                       view.target_at_work == &target && view.library_at_work == library;
  return !at_work || !app.jobs.is_alive(view.job);
}

void prepare_code(App& app, DocumentView& document) {
  app.planner.schedule(document);
  CodeView& view = code_view(document);
  follow_selection(document, view);
  const Target& target = shown_target(app);
  const KernelLibrary library = chosen_library(app);
  if (view.of == nullptr || view.of != shown_schedule(document) ||
      is_current(view, target, library))
    return;
  app.jobs.cancel(view.job);
  view.of_at_work = view.of;
  view.kernel_at_work = view.kernel;
  view.target_at_work = &target;
  view.library_at_work = library;
  Job job{"Text of a kernel", document.serial, true, true, {}};
  job.part = [&app, serial = document.serial, of = view.of, kernel = view.kernel, &target,
              library](JobControl& control) {
    SharedCode text = code_text(of, kernel, target, library);
    control.post([&app, serial, text] {
      if (DocumentView* document = app.documents.find(serial)) show(code_view(*document), text);
    });
    return false;
  };
  view.job = app.jobs.start(std::move(job));
}

Result<Done> find_line(App& app, std::string_view text) {
  DocumentView& document = *app.document();
  CodeView& view = code_view(document);
  follow_selection(document, view);
  view.on_kernel = false;
  view.requested = text;
  if (!is_current(view, shown_target(app), chosen_library(app))) return Done{};
  go_to_line(view);
  if (view.line != CodeText::kNoLine) return Done{};
  return error(fmt::format("no line of the selected node has '{}'", text));
}

std::size_t follow_stops() { return kStopAtForms + targets().size(); }

std::size_t follow_stop(const App& app) {
  const DocumentView* document = app.document();
  if (document == nullptr || !is_in_front(app, "code")) return kStopAtGraph;
  const auto* view = find_memory<CodeView>(document->memories, kCodeMemory);
  if (view == nullptr || view->on_kernel) return kStopAtKernel;
  return kStopAtForms + static_cast<std::size_t>(&shown_target(app) - targets().data());
}

std::string_view name_of_stop(std::size_t stop) {
  if (stop < kStopAtForms) return stop == kStopAtGraph ? "graph" : "kernel";
  return targets()[stop - kStopAtForms].id;
}

Result<Done> go_to_stop(App& app, std::size_t stop) {
  const Result<Done> shown = app.run("panel.show", stop == kStopAtGraph ? "graph" : "code");
  if (!shown || stop == kStopAtGraph) return shown;
  CodeView& view = code_view(*app.document());
  view.bring_kernel = true;
  view.on_kernel = stop == kStopAtKernel;
  if (view.on_kernel) return shown;
  const Target& target = targets()[stop - kStopAtForms];
  app.settings.set("code.form", std::string(target.id));
  // If the text isn't made yet, the scroll to the line waits for it.
  if (is_current(view, target, chosen_library(app)))
    view.line = view.text->line_of(marked_node(*app.document()));
  view.bring_line = true;
  return Done{};
}

}  // namespace recut::gui
