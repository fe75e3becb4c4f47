// Commands of the table of values, and of the selected value.
#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/aliases.h"
#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/memory_view.h"
#include "gui/jobs/worker_requests.h"
#include "gui/model/memory_stack.h"
#include "gui/model/value_details.h"
#include "gui/model/value_table.h"

// Prices and flips take too long for a frame, so jobs make them, and an answer may come too late.
// Each job keeps its plan and reasons; an answer is dropped if those are no longer requested. Jobs
// find the document by its serial, since the user may have closed it. Rows come twice:
//   new plan ⇒ rows without prices, at once;  its reasons ⇒ rows with prices, in parts
// Parts keep a page without threads responsive. The answer to a flip is kept until value or reasons
// change.

namespace recut::gui {
namespace {

constexpr std::size_t kLooksAPart = 16'384;  // at values: some milliseconds in a page

bool choices_has_selection(const App& app) {
  return has_plan(app) && app.document()->graph().contains(app.document()->selection.node);
}
bool has_rows(const App& app) { return has_plan(app) && app.overlay.empty(); }
bool can_follow(const App& app) { return choices_has_selection(app) && app.overlay.empty(); }
bool can_flip(const App& app) { return can_follow(app) && app.document()->reasons != nullptr; }

void take_rows(App& app, int serial, const SharedPlanView& plan,
               const std::shared_ptr<const ValueRows>& rows) {
  DocumentView* document = app.documents.find(serial);
  if (document == nullptr) return;
  ValueTable& table = value_table(*document);
  if (table.requested_plan == plan && table.requested_reasons == rows->reasons) table.rows = rows;
}

Job job_for_rows(App& app, const DocumentView& document) {
  Job job{"Making the table of values", document.serial, true, true, {}};
  auto maker = std::make_shared<std::unique_ptr<ValueRowsMaker>>();  // by the first part
  job.part = [&app, maker, serial = document.serial, shown = document.shown,
              reasons = document.reasons](JobControl& control) {
    if (!*maker) {
      *maker = std::make_unique<ValueRowsMaker>(shown, reasons);
      return true;
    }
    const bool more = (*maker)->some(kLooksAPart);
    control.progress((*maker)->share(), {});
    if (more) return true;
    control.post(
        [&app, serial, shown, rows = (*maker)->finish()] { take_rows(app, serial, shown, rows); });
    return false;
  };
  return job;
}

Job job_for_rows_without_prices(App& app, const DocumentView& document) {
  Job job{"Listing values", document.serial, true, true, {}};
  job.first = true;
  job.part = [&app, serial = document.serial, shown = document.shown](JobControl& control) {
    control.post([&app, serial, shown, rows = rows_without_prices(shown)] {
      take_rows(app, serial, shown, rows);
    });
    return false;
  };
  return job;
}

// Rows for the shown plan, at once without prices, and with them as soon as its reasons are there;
// jobs. The panel asks when either changes.
Result<Done> prepare_choices(App& app, std::string_view) {
  DocumentView& document = *app.document();
  ValueTable& table = value_table(document);
  const bool requested =
      table.requested_reasons == document.reasons && table.requested_plan == document.shown;
  if (requested && app.jobs.is_alive(table.making)) return Done{};
  table.requested_reasons = document.reasons;
  table.requested_plan = document.shown;
  app.jobs.cancel(table.making);
  table.making = app.jobs.start(document.reasons ? job_for_rows(app, document)
                                                 : job_for_rows_without_prices(app, document));
  return Done{};
}

Result<Done> filter(App& app, std::string_view text) {
  value_table(*app.document()).filter = std::string(text);
  return Done{};
}

// Sorts by a column; the same column again reverses the order.
Result<Done> sort(App& app, std::string_view by) {
  ValueTable& table = value_table(*app.document());
  ValueColumn column = table.sort;
  if (!read_column(by, column))
    return error("values are sorted by name, module, bytes, peak, time or order");
  const bool is_text =
      column == ValueColumn::name || column == ValueColumn::module || column == ValueColumn::order;
  table.falling = column == table.sort ? !table.falling : !is_text;
  table.sort = column;
  return Done{};
}

Result<Done> select_row(App& app, std::string_view name) {
  DocumentView& document = *app.document();
  const NodeId id = document.find(std::string(name));
  if (!id.valid()) return error(fmt::format("no node '{}'", name));
  document.selection.node = id;
  return Done{};
}

template <int by>
Result<Done> step_choices(App& app, std::string_view) {
  DocumentView& document = *app.document();
  ValueTable& table = value_table(document);
  table.arrange(document);
  if (table.order.empty()) return Done{};
  const auto last = static_cast<std::ptrdiff_t>(table.order.size()) - 1;
  const auto now = static_cast<std::ptrdiff_t>(table.row_index(document.selection.node));
  const auto next = std::clamp<std::ptrdiff_t>(now > last ? 0 : now + by, 0, last);
  const NodeId id = table.rows->rows[table.order[static_cast<std::size_t>(next)]].node;
  document.selection.node = id;
  return Done{};
}

// Shows the value wherever there is something of it: the graph its node, the timeline its
// lifetimes.
Result<Done> follow_choices(App& app, std::string_view) {
  DocumentView& document = *app.document();
  const PlanView& plan = *document.shown;
  (void)app.run("graph.fit_selection");  // as far as the graph is shown
  const auto lives = instances_behind(plan, document.selection.node);
  const std::size_t steps = plan.replay().steps.size();
  if (lives.empty() || steps == 0) return Done{};
  std::size_t from = steps, to = 0;
  for (const StorageInstance* life : lives) {
    from = std::min(from, life->birth);
    to = std::max(to, std::min(life->last_use, steps));
  }
  const double all = static_cast<double>(steps);
  const double room = std::max(4.0, static_cast<double>(to - from) * 0.08);
  memory_view(document).show((static_cast<double>(from) - room) / all,
                             (static_cast<double>(to) + 1 + room) / all, steps);
  return Done{};
}

// Starts the job that plans with the opposite choice.
Result<Done> flip(App& app, std::string_view) {
  DocumentView& document = *app.document();
  FlipAnswer& answer = flip_answer(document);
  const NodeId node = defining_node(document.graph(), document.selection.node);
  if (answer.node == node && answer.of == document.reasons &&
      (answer.done || app.jobs.is_alive(answer.making)))
    return Done{};
  app.jobs.cancel(answer.making);
  answer = {node, document.reasons, 0, false, std::nullopt};
  const auto request = document.reasons->flip_request(node);
  if (!request) {
    answer.done = true;
    return Done{};
  }
  const auto take = [&app, serial = document.serial, node, reasons = document.reasons](
                        JobControl& control, Result<SharedPlanView> plan) {
    control.post([&app, serial, node, reasons, plan = std::move(plan)] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      FlipAnswer& answer = flip_answer(*document);
      if (answer.node != node || answer.of != reasons) return;
      answer.done = true;
      if (plan) answer.flip = flip_of((*plan)->report());
    });
  };
  Job job = planning_job("Planning with " + document.graph().node_name(node) + " flipped",
                         helper_file(document), document.basis, *request, take);
  answer.making = app.jobs.start(std::move(job));
  return Done{};
}

Result<Done> copy_csv_choices(App& app, std::string_view) {
  ValueTable& table = value_table(*app.document());
  table.arrange(*app.document());
  app.backend.set_clipboard(values_csv(table));
  app.say(fmt::format("Copied {} values as CSV", table.order.size()));
  return Done{};
}

Result<Done> copy_rows(App& app, std::string_view) {
  ValueTable& table = value_table(*app.document());
  table.arrange(*app.document());
  app.backend.set_clipboard(values_text(table));
  app.say(fmt::format("Copied {} values", table.order.size()));
  return Done{};
}

Result<Done> copy_details(App& app, std::string_view) {
  const DocumentView& document = *app.document();
  app.backend.set_clipboard(text_of(details_of(document, document.selection.node)));
  app.say("Copied what is known of " + document.selected_name());
  return Done{};
}

Result<Done> find_choices(App& app, std::string_view) {
  app.items.keyboard_for = "values/filter";
  return Done{};
}

constexpr Command kChoicesRows[] = {
    {"values.prepare", "", "", "", has_plan, prepare_choices},
    {"values.select", "", "", "a name", has_plan, select_row},
    {"values.filter", "Filter the table of values", "", "as the search reads it", has_plan, filter},
    {"values.find", "Type a filter for the table of values", "Ctrl+Shift+F", "", has_plan,
     find_choices},
    {"values.sort", "Sort the table of values", "", "name, module, bytes, peak, time or order",
     has_plan, sort},
    {"values.next", "Next value in the table", "DownArrow", "", has_rows, step_choices<1>,
     "values"},
    {"values.previous", "Previous value in the table", "UpArrow", "", has_rows, step_choices<-1>,
     "values"},
    {"values.page_down", "", "PageDown", "", has_rows, step_choices<16>, "values"},
    {"values.page_up", "", "PageUp", "", has_rows, step_choices<-16>, "values"},
    {"values.copy_csv", "Copy the table of values as CSV", "", "", has_plan, copy_csv_choices},
    {"values.copy_text", "Copy the table of values as text", "", "", has_plan, copy_rows},
    {"value.follow", "Go to the selected value in graph and timeline", "Enter", "", can_follow,
     follow_choices},
    {"value.flip", "Plan with the opposite choice for the selected value", "x", "", can_flip, flip},
    {"value.copy", "Copy what is known of the selected value", "", "", choices_has_selection,
     copy_details},
};

}  // namespace

std::span<const Command> choices_commands() { return kChoicesRows; }

}  // namespace recut::gui
