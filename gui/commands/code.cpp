// Commands of the plan's kernels as code, and of a value's way from the graph to the instructions.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/code_view.h"
#include "gui/app/conditions.h"

// Kernels and lines are positions of one selection. A command that moves to one selects its value
// by select.node, so that all panels follow:
//   code.kernel 12  ⇒  the last call of kernel 12 is selected
// A selected value that the kernel computes stays selected. code.line marks its new selection as
// followed: an input's line would otherwise lead to the kernel that makes the input. App::run asks
// each row's condition first, so has_kernel and has_text guarantee the pointers that actions use.

namespace recut::gui {
namespace {

bool code_has_selection(const App& app) {
  return has_plan(app) && app.overlay.empty() && app.document()->planned_selection().valid();
}
const CodeView* code_view_of(const App& app) {
  return has_plan(app) ? find_memory<CodeView>(app.document()->memories, kCodeMemory) : nullptr;
}
bool has_kernel(const App& app) {
  const CodeView* view = code_view_of(app);
  return view != nullptr && view->of != nullptr;
}
bool has_text(const App& app) {
  const CodeView* view = code_view_of(app);
  return view != nullptr && view->text != nullptr && app.overlay.empty();
}

Result<Done> prepare_code(App& app, std::string_view) {
  prepare_code(app, *app.document());
  return Done{};
}

Result<Done> set_form(App& app, std::string_view id) {
  const Target* target = find_target(id);
  if (id.empty()) {
    const auto forms = targets();
    const auto at = static_cast<std::size_t>(&shown_target(app) - forms.data());
    target = &forms[(at + 1) % forms.size()];
  }
  if (target == nullptr) {
    std::string known;
    for (const Target& one : targets()) known += (known.empty() ? "" : ", ") + std::string(one.id);
    return error(fmt::format("a form of code is one of {}", known));
  }
  app.settings.set("code.form", std::string(target->id));
  return Done{};
}

bool is_form(const App& app, std::string_view id) { return shown_target(app).id == id; }

// Selects its last call, so that all panels speak of it, unless another of its calls is selected.
Result<Done> show_kernel(App& app, std::uint32_t kernel) {
  CodeView& view = code_view(*app.document());
  view.kernel = kernel;
  view.bring_kernel = true;
  const SharedSchedule of = view.of;
  if (of->computes(kernel, marked_node(*app.document()))) {
    view.followed = {};
    follow_selection(*app.document(), view);
    return Done{};
  }
  return app.run("select.node", of->graph().node_name(of->node(kernel)));
}

Result<Done> go_to_kernel(App& app, std::string_view number) {
  const CodeView& view = code_view(*app.document());
  char* end = nullptr;
  const std::string text(number);
  const unsigned long requested = std::strtoul(text.c_str(), &end, 10);
  const auto& launches = view.of->launches;
  const bool known = end != text.c_str() && *end == '\0' &&
                     std::binary_search(launches.begin(), launches.end(), requested);
  if (!known) return error(fmt::format("no kernel '{}'", number));
  return show_kernel(app, static_cast<std::uint32_t>(requested));
}

template <int by>
Result<Done> step_kernel(App& app, std::string_view) {
  const CodeView& view = code_view(*app.document());
  const auto& launches = view.of->launches;
  const auto at = std::find(launches.begin(), launches.end(), view.kernel) - launches.begin();
  const auto last = static_cast<std::ptrdiff_t>(launches.size()) - 1;
  const std::ptrdiff_t next = std::clamp<std::ptrdiff_t>(at + by, 0, last);
  return show_kernel(app, launches[static_cast<std::size_t>(next)]);
}

// Selects the line's source node; a line without one only gets the cursor.
Result<Done> go_to_line(App& app, std::string_view number) {
  CodeView& view = code_view(*app.document());
  const std::string text(number);
  const unsigned long line = std::strtoul(text.c_str(), nullptr, 10);
  if (line < 1 || line > view.text->lines.size())
    return error(fmt::format("lines are 1 to {}", view.text->lines.size()));
  const NodeId node = view.text->lines[line - 1].node;
  if (node.valid() && node != marked_node(*app.document())) {
    const Result<Done> done = app.run("select.node", view.text->of->graph().node_name(node));
    if (!done) return done;
    // The kernel stays: an input of it is made by another one.
    view.followed = marked_node(*app.document());
  }
  view.line = line - 1;
  view.on_kernel = false;
  view.bring_line = true;
  return Done{};
}

// Goes along the lines of the selected value, around the ends.
template <int by>
Result<Done> step_line(App& app, std::string_view) {
  CodeView& view = code_view(*app.document());
  const NodeId marked = marked_node(*app.document());
  std::vector<std::size_t> lines;
  for (std::size_t i = 0; i < view.text->lines.size(); ++i)
    if (view.text->lines[i].node == marked) lines.push_back(i);
  if (lines.empty()) return error("no line here is from what is selected");
  const auto next = by > 0 ? std::upper_bound(lines.begin(), lines.end(), view.line)
                           : std::lower_bound(lines.begin(), lines.end(), view.line);
  if (by > 0)
    view.line = next == lines.end() ? lines.front() : *next;
  else
    view.line = next == lines.begin() ? lines.back() : *(next - 1);
  view.on_kernel = false;
  view.bring_line = true;
  return Done{};
}

Result<Done> find_code(App& app, std::string_view argument) {
  if (!argument.empty()) return find_line(app, argument);
  return error("expected words that a line of the selected value has");
}

Result<Done> copy_code(App& app, std::string_view) {
  const CodeText& text = *code_view(*app.document()).text;
  app.backend.set_clipboard(text.faults.empty() ? text.whole() : format(text.faults));
  app.say(fmt::format("Copied kernel {} as {}", text.kernel, text.target->title));
  return Done{};
}

// Goes on, or to a stop by its name.
template <int by>
Result<Done> follow_code(App& app, std::string_view name) {
  const std::size_t stops = follow_stops();
  for (std::size_t stop = 0; stop < stops; ++stop)
    if (name == name_of_stop(stop)) return go_to_stop(app, stop);
  if (!name.empty()) return error(fmt::format("nothing is followed to '{}'", name));
  return go_to_stop(app, (follow_stop(app) + stops + static_cast<std::size_t>(by)) % stops);
}

constexpr std::string_view kCodePanel = "code";
constexpr Command kCodeRows[] = {
    {"code.prepare", "", "", "", has_plan, prepare_code},
    {"code.follow", "Follow the selected value: its kernel, its loops, its code", "k",
     "nothing, or graph, kernel, loop, llvm, wasm, cuda", code_has_selection, follow_code<1>},
    {"code.follow_back", "Follow the selected value back", "Shift+K", "", code_has_selection,
     follow_code<-1>},
    {"code.form", "Kernels in another form", "", "a target of code, such as llvm", has_plan,
     set_form, "", is_form},
    {"code.kernel", "To a kernel", "", "its number in the schedule", has_kernel, go_to_kernel},
    {"code.next", "Next kernel", "DownArrow", "", has_kernel, step_kernel<1>, kCodePanel},
    {"code.previous", "Previous kernel", "UpArrow", "", has_kernel, step_kernel<-1>, kCodePanel},
    {"code.line", "To a line of the kernel", "", "its number, from 1", has_text, go_to_line},
    {"code.next_line", "Next line of the selected value", "RightArrow", "", has_text, step_line<1>,
     kCodePanel},
    {"code.previous_line", "Previous line of the selected value", "LeftArrow", "", has_text,
     step_line<-1>, kCodePanel},
    {"code.find", "To a line of the selected value with these words", "", "such as f32x4.mul",
     code_has_selection, find_code},
    {"code.other_form", "The next form", "Space", "", has_plan, set_form, kCodePanel},
    {"code.copy", "Copy the kernel's text", "", "", has_text, copy_code},
};

}  // namespace

std::span<const Command> code_commands() { return kCodeRows; }

}  // namespace recut::gui
