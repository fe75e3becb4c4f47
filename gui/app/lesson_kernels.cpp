// Figures of lessons about kernels, in two tables: counts, which need only the plan's kernels
// (plan_kernels.h), and addresses, which need a schedule. A figure is unknown until a job has made
// them, and the popup waits: count_for_lesson() starts the job when a step's text or conditions
// name one.
#include "gui/app/lesson_kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "engine/support/text.h"
#include "gui/app/app.h"
#include "gui/app/code_view.h"
#include "gui/model/plan_kernels.h"

namespace recut::gui {
namespace {

using Found = std::optional<LessonFigure>;

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    names.emplace_back(text.substr(0, blank));
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return names;
}

Found count(const PlanKernels& kernels, std::string_view) {
  return count_figure(static_cast<std::int64_t>(kernels.all.size()));
}
Found moved(const PlanKernels& kernels, std::string_view) { return bytes_figure(kernels.moved()); }

// The bytes that the kernels of the values move; a kernel of several values counts once.
Found moves(const PlanKernels& kernels, std::string_view values) {
  std::set<const PlanKernel*> makers;
  for (const std::string& name : names_in(values))
    makers.insert(kernels.of(kernels.plan->graph().find(name)));
  if (makers.count(nullptr) > 0) return std::nullopt;
  std::int64_t bytes = 0;
  for (const PlanKernel* kernel : makers) bytes += kernel->moved;
  return bytes_figure(bytes);
}

Found holds_calls(const PlanKernels& kernels, std::string_view value) {
  const PlanKernel* kernel = kernels.of(kernels.plan->graph().find(value));
  if (kernel == nullptr) return std::nullopt;
  return count_figure(static_cast<std::int64_t>(kernel->calls.size()));
}

struct CountRow {
  std::string_view name;
  Found (*figure)(const PlanKernels& kernels, std::string_view about);
};
constexpr CountRow kCounts[] = {
    {"kernels", count}, {"moved", moved}, {"moves", moves}, {"holds", holds_calls}};

Found arena(const ScheduleView& schedule, std::string_view) {
  return bytes_figure(schedule.schedule.arena_bytes);
}
Found kernel(const ScheduleView& schedule, std::string_view value) {
  const auto kernels = schedule.kernels_of(schedule.graph().find(value));
  if (kernels.empty()) return std::nullopt;
  return LessonFigure{fmt::format("{}", kernels.front()), std::nullopt};
}

// The value's buffer; the first one if the value is made more than once.
const Buffer* buffer_of(const ScheduleView& schedule, std::string_view value) {
  const NodeId id = schedule.graph().find(value);
  for (const Buffer& buffer : schedule.schedule.buffers)
    if (!buffer.workspace && buffer.owner == id) return &buffer;
  return nullptr;
}
Found address(const ScheduleView& schedule, std::string_view value) {
  const Buffer* buffer = buffer_of(schedule, value);
  return buffer == nullptr ? Found() : count_figure(buffer->offset);
}
Found end(const ScheduleView& schedule, std::string_view value) {
  const Buffer* buffer = buffer_of(schedule, value);
  return buffer == nullptr ? Found() : count_figure(buffer->offset + buffer->bytes);
}

struct ScheduleRow {
  std::string_view name;
  Found (*figure)(const ScheduleView& schedule, std::string_view about);
};
constexpr ScheduleRow kOfSchedule[] = {
    {"arena", arena}, {"kernel", kernel}, {"address", address}, {"end", end}};

constexpr std::string_view kLessonKernelsLine = "line";

// The line of code at the cursor, without its leading blanks.
Found line(const DocumentView& document) {
  const auto* view = find_memory<CodeView>(document.memories, kCodeMemory);
  if (view == nullptr || !view->text || view->line >= view->text->lines.size()) return {};
  const std::string& text = view->text->lines[view->line].text;
  return LessonFigure{text.substr(std::min(text.find_first_not_of(' '), text.size())),
                      std::nullopt};
}

struct Name {
  bool before = false;
  std::string_view first, about;
};
Name lesson_kernels_parts_of(std::string_view name) {
  Name parts;
  parts.before = name.substr(0, kBefore.size()) == kBefore;
  if (parts.before) name.remove_prefix(kBefore.size());
  const std::size_t blank = std::min(name.find(' '), name.size());
  parts.first = name.substr(0, blank);
  parts.about = name.substr(std::min(blank + 1, name.size()));
  return parts;
}

template <class Row, std::size_t count>
const Row* find_row(const Row (&rows)[count], std::string_view name) {
  const auto at = std::find_if(std::begin(rows), std::end(rows),
                               [&](const Row& row) { return row.name == name; });
  return at == std::end(rows) ? nullptr : at;
}

}  // namespace

bool is_kernel_figure(std::string_view name) {
  const Name parts = lesson_kernels_parts_of(name);
  if (find_row(kCounts, parts.first) != nullptr) return true;
  return !parts.before &&
         (find_row(kOfSchedule, parts.first) != nullptr || parts.first == kLessonKernelsLine);
}

std::optional<LessonFigure> kernel_figure(const DocumentView& document, std::string_view name) {
  const Name parts = lesson_kernels_parts_of(name);
  if (const CountRow* row = find_row(kCounts, parts.first)) {
    const SharedPlanView& plan = parts.before ? document.baseline.plan : document.shown;
    const PlanKernels* kernels = counted_kernels(document, plan);
    return kernels == nullptr ? Found() : row->figure(*kernels, parts.about);
  }
  if (parts.first == kLessonKernelsLine) return line(document);
  const SharedSchedule schedule = shown_schedule(document);
  const ScheduleRow* row = find_row(kOfSchedule, parts.first);
  return schedule == nullptr || row == nullptr ? Found() : row->figure(*schedule, parts.about);
}

bool wants_counting(const App& app, const LessonStep& step) {
  if (!app.has_ready() || !app.document()->shown) return false;
  std::vector<std::string> names;
  for (const std::string& text : all_texts(step))
    for (std::string& name : figures_in(text)) names.push_back(std::move(name));
  if (std::none_of(names.begin(), names.end(), is_kernel_figure)) return false;
  const DocumentView& document = *app.document();
  const SharedPlanView& baseline_plan = document.baseline.plan;
  if (counted_kernels(document, document.shown) == nullptr) return true;
  if (baseline_plan && counted_kernels(document, baseline_plan) == nullptr) return true;
  return app.planner.wants_schedule(document);
}

void count_for_lesson(App& app, DocumentView& document) {
  count_kernels(document);
  app.planner.schedule(document);
}

}  // namespace recut::gui
