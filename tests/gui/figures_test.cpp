// One plan, asked at every place that tells of it: window, text, JSON, pictures and report say the
// same, to the byte and to the storage.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/ir/aliases.h"
#include "engine/support/units.h"
#include "engine/workspace/curve_export.h"
#include "engine/workspace/plan_text.h"
#include "engine/workspace/planning.h"
#include "gui/app/first_view.h"
#include "gui/app/lesson_figure.h"
#include "gui/canvas/canvas.h"
#include "gui/canvas/plan_marks.h"
#include "gui/model/plan_difference.h"
#include "gui/model/schedule_view.h"
#include "gui/model/value_details.h"
#include "gui/model/value_table.h"
#include "gui/pictures/memory_timeline.h"
#include "tests/effort.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A window with a sample under a model and a budget, at rest.
struct Asked : Window {
  Asked(const std::string& sample, const std::string& model, const std::string& budget)
      : Window(bare_options()) {
    app.open(RECUT_SOURCE_DIR "/samples/" + sample);
    settle();
    REQUIRE(app.has_ready());
    if (!app.document()->has_backward()) REQUIRE(app.run("pass.differentiate").ok());
    settle();
    // The graph that is planned for: of one before it the graph panel knows less.
    const std::size_t passes = document().document->passes.passes.size();
    REQUIRE(app.run("pass.set", std::to_string(passes)).ok());
    REQUIRE(app.run("model.set", model).ok());
    settle();
    REQUIRE(app.run("budget.set", budget).ok());
    settle();
  }

  DocumentView& document() { return *app.document(); }
  const PlanView& plan() { return *document().shown; }
  const PlanReport& report() { return plan().report(); }
  const std::string& item(const std::string& label) {
    const Item* found = app.items.find(label);
    INFO(label);
    REQUIRE(found != nullptr);
    return found->value;
  }
  std::string written(const std::string& command, const std::string& file) {
    REQUIRE(app.run(command, file).ok());
    return backend.files.at(file);
  }
  // Counted here from the plan itself: storages behind a value that backward is given.
  std::set<std::uint32_t> saved_storages() {
    const StorageModel storages(document().graph());
    std::set<std::uint32_t> found;
    for (const NodeId id : plan().planned.plan.saved)
      for (const StorageId storage : storages.storages_of(id)) found.insert(storage.index);
    return found;
  }
};

// Everything that is told of what is saved.
void ask_saved(Asked& window) {
  const PlanReport& report = window.report();
  const std::set<std::uint32_t> saved = window.saved_storages();
  const auto count = static_cast<std::int64_t>(saved.size());
  const std::int64_t bytes = report.saved_bytes;
  const std::string storages = fmt::format("{} storage{}", count, count == 1 ? "" : "s");
  const std::string in_bytes = format_bytes(bytes);

  CHECK(report.saved_storages() == count);
  std::int64_t sum = 0;
  for (const StorageRow& row : report.saved) sum += row.bytes;
  CHECK(sum == bytes);

  const auto json = nlohmann::json::parse(plan_report_json(report));
  CHECK(json["saved_storages"] == count);
  CHECK(json["saved"].size() == saved.size());
  CHECK(json["saved_bytes"] == bytes);
  CHECK(json["saved_values"] == window.plan().planned.plan.saved.size());
  CHECK(has(plan_text(report), fmt::format("{} storages, {} values", count, report.saved_values)));
  CHECK(has(memory_timeline_svg(report, kDark),
            fmt::format("saved {} in {} storages", in_bytes, count)));
  CHECK(has(window.written("file.report", "report.html"),
            fmt::format("{} storages, {} values", count, report.saved_values)));
  CHECK(has(window.written("export.svg", "graph.svg"),
            fmt::format("saved, {} in {}", in_bytes, storages)));

  CHECK(window.item("transforms/legend saved") == storages + ", " + in_bytes);
  CHECK(window.item("transforms/legend recomputed")
            .find(fmt::format("{} run", format_count(report.recomputed_runs))) == 0);
  CHECK(has(window.item("values/counts"), fmt::format("saved {}, {}", storages, in_bytes)));
  CHECK(window.state("saved") == fmt::format("{}", bytes));
  CHECK(lesson_figure(window.app, "saved")->text == in_bytes);
  CHECK(lesson_figure(window.app, "saved_values")->text == format_count(report.saved_values));
}

// Rows of the table, and what each of them adds.
void ask_values(Asked& window) {
  const auto rows = make_value_rows(window.document().shown, window.document().reasons);
  std::int64_t storages = 0, bytes = 0;
  for (const ValueRow& row : rows->rows) {
    const SavedStorages kept = window.plan().kept_of(row.node);
    if (kept.storages == 0) continue;
    storages += kept.storages;
    bytes += row.bytes;
    CHECK(row.bytes == kept.bytes);
    CHECK((rows->role(row) == Role::saved || rows->role(row) == Role::result));
  }
  CHECK(storages == window.report().saved_storages());
  CHECK(bytes == window.report().saved_bytes);
}

// Boxes of the graph add up to it, however far its groups are open; on a rung stands what goes
// along it.
void ask_graph(Asked& window) {
  const std::set<std::uint32_t> saved = window.saved_storages();
  const StorageModel storages(window.document().graph());
  for (const char* command : {"graph.collapse_all", "graph.expand_some", "graph.expand_all"}) {
    CAPTURE(command);
    REQUIRE(window.app.run(command).ok());
    window.settle();
    const SharedPicture picture = canvas_of(window.document().memories).picture;
    REQUIRE(picture);
    REQUIRE(&picture->graph() == &window.document().graph());
    const PlanMarks marks = marks_of(*picture, &window.plan());
    std::int64_t count = 0, bytes = 0;
    for (std::size_t b = 0; b < marks.boxes.size(); ++b) {
      const NodeId node = picture->layout.boxes[b].node;
      const SavedStorages kept = node.valid()
                                     ? window.plan().kept_of(node)
                                     : SavedStorages{marks.boxes[b].saved, marks.boxes[b].bytes};
      count += kept.storages;
      bytes += kept.bytes;
    }
    CHECK(count == window.report().saved_storages());
    CHECK(bytes == window.report().saved_bytes);

    std::vector<std::set<std::uint32_t>> along(marks.rungs.size());
    for (const Crossing& crossing : picture->crossings)
      for (const StorageId storage :
           storages.storages_of(picture->scene->nodes[crossing.value].node))
        if (saved.count(storage.index) > 0) along[crossing.edge].insert(storage.index);
    for (std::size_t edge = 0; edge < along.size(); ++edge) {
      std::int64_t carried = 0;
      for (const std::uint32_t storage : along[edge]) carried += storages[StorageId(storage)].bytes;
      CHECK(marks.rungs[edge].saved == along[edge].size());
      CHECK(marks.rungs[edge].bytes == carried);
    }
  }
}

void ask_difference(Asked& window) {
  const PlanView& start = *window.document().start;
  const PlanDifference d =
      difference_of(window.plan(), start, match_same(window.document().graph()));
  CHECK(d.saved_here.storages - d.saved_there.storages ==
        window.report().saved_storages() - start.report().saved_storages());
  CHECK(d.saved_here.bytes - d.saved_there.bytes ==
        window.report().saved_bytes - start.report().saved_bytes);
  REQUIRE(window.app.run("panel.show", "compare").ok());
  REQUIRE(window.app.run("compare.with", "unplanned").ok());
  window.settle();
  const std::int64_t by = window.report().saved_storages() - start.report().saved_storages();
  CHECK(window.item("compare/figure storages saved") == (by > 0   ? "+" + format_count(by)
                                                         : by < 0 ? "-" + format_count(-by)
                                                                  : "0"));
  CHECK(window.item("compare/figure saved for backward") ==
        signed_bytes(window.report().saved_bytes - start.report().saved_bytes));
  REQUIRE(window.app.run("panel.show", "trade-off").ok());
  window.settle();
}

// The peak, and beside it the arena wherever that has other bytes.
void ask_peak(Asked& window) {
  const PlanReport& report = window.report();
  const std::int64_t planned = report.arena_bytes;  // where a schedule was made to plan
  for (const char* view : {"arena", "curve"}) {
    REQUIRE(window.app.run("memory.view", view).ok());
    window.settle();
  }
  const SharedSchedule schedule = shown_schedule(window.document());
  REQUIRE(schedule);
  const std::int64_t arena = schedule->schedule.arena_bytes;
  if (planned > 0) CHECK(planned == arena);
  CHECK(window.state("arena") == fmt::format("{}", arena));
  const std::string peak = format_bytes(report.peak_bytes);
  CHECK(window.state("peak") == fmt::format("{}", report.peak_bytes));
  CHECK(window.item("bar/peak") == peak);
  CHECK(window.item("memory/plan") == peak);
  CHECK(window.item("memory/peak words").find("peak " + peak) == 0);
  CHECK(window.item("trade-off/plan").find(peak + ", ") == 0);
  CHECK(has(plan_text(report), peak));
  const std::string page = window.written("file.report", "report.html");
  CHECK(has(page, ">" + peak + "</b>"));

  const bool differs = arena != report.peak_bytes;
  const std::int64_t budget = window.document().plan_settings.budget_bytes;
  const bool beyond = budget > 0 && report.peak_bytes <= budget && arena > budget;
  std::string text = format_bytes(arena);
  if (beyond) text += ", " + format_bytes(arena - budget) + " above the budget";
  CHECK((window.app.items.find("bar/arena") != nullptr) == differs);
  CHECK(has(window.item("memory/peak words"), "arena " + text) == differs);
  CHECK(has(window.item("trade-off/plan"), "arena " + text) == differs);
  CHECK(has(window.written("export.svg", "graph.svg"), "arena " + text) == differs);
  CHECK(has(page, "<dt>arena</dt><b>" + format_bytes(arena) + "</b>") == differs);
  if (differs) CHECK(window.item("bar/arena") == text);

  PlanReport told = report;
  told.arena_bytes = arena;
  CHECK(nlohmann::json::parse(plan_report_json(told))["arena_bytes"] == arena);
  CHECK(has(plan_text(told), "\n  arena ") == differs);
  if (beyond) CHECK(has(plan_text(told), format_bytes(arena - budget) + " above the budget"));
  CHECK(has(memory_timeline_svg(told, kDark), " · arena " + format_bytes(arena)) == differs);
}

// The first screen's two sentences, beside the trade-off's plan.
void ask_first(Asked& window) {
  const PlanReport& report = window.report();
  CHECK(has(first_sentence(window.document()),
            " peaks at " + format_bytes(report.baseline_peak_bytes) + "."));
  const std::string cost = first_cost(window.document());
  CAPTURE(cost);
  if (window.document().budget_answer() == BudgetAnswer::refused) {
    CHECK(has(cost, "the least peak is " + format_bytes(window.document().least_peak())));
    return;
  }
  CHECK(cost.find(format_bytes(report.peak_bytes) + ": ") == 0);
  const std::string extra = signed_micros(report.recompute_us);
  CHECK(has(cost, report.recompute_us > 0 ? ": " + extra : ": nothing is recomputed"));
  CHECK(has(window.item("trade-off/plan"), ", " + extra));
}

// A moment has one number, and what nothing recomputed comes to says in which order.
// Returns how many runs stood in the history, of which the list has those in sight.
int ask_moments(Asked& window) {
  int seen = 0;
  const PlanView& plan = window.plan();
  const auto& steps = plan.replay().steps;
  REQUIRE_FALSE(steps.empty());
  for (const std::size_t step : {std::size_t{0}, window.report().peak_step, steps.size() - 1}) {
    const NodeId node = steps[step].node;
    REQUIRE(window.app.run("select.node", window.document().graph().node_name(node)).ok());
    window.settle();
    const std::string text = step_label(window.report(), step);
    CAPTURE(text);
    std::set<std::string> runs;
    for (std::size_t at = 0; at < steps.size(); ++at)
      if (steps[at].node == node) runs.insert(step_label(window.report(), at));
    for (const Item& item : window.app.items.all()) {
      if (item.label.rfind("transforms/run ", 0) != 0) continue;
      ++seen;
      CHECK(runs.count(item.value.substr(0, item.value.find(", "))) == 1);
    }
    const bool has_own =
        defining_node(plan.graph(), node) == node && plan.role(node) != Role::inside;
    if (has_own && !steps[step].inlined)
      CHECK(has(text_of(details_of(window.document(), node)), text));
  }
  const std::string order = "in program order";
  const PlanReport& report = window.report();
  CHECK(has(plan_text(report), order));
  CHECK(has(window.written("file.report", "report.html"), "without recomputation, " + order));
  if (report.baseline_peak_bytes > report.peak_bytes) {
    CHECK(has(memory_timeline_svg(report, kDark), "nothing recomputed, " + order));
    if (const Item* item = window.app.items.find("memory/nothing recomputed"))
      CHECK(item->value == fmt::format("nothing recomputed, {} {}", order,
                                       format_bytes(report.baseline_peak_bytes)));
  }
  REQUIRE(window.document().curve);
  CHECK(has(curve_text(window.document().curve->report), "in the best order"));
  return seen;
}

TEST_CASE("figures: one plan, one number at every place", "[gui]") {
  int moments = 0;
  struct Case {
    const char *sample, *model, *budget;
  };
  for (const Case& c : test::tried<Case>({{"joint/tiny_conv.json.gz", "eager", "none"},
                                          {"joint/tiny_conv.json.gz", "fused", "70%"},
                                          {"joint/tiny_lm.json.gz", "eager", "60%"},
                                          {"joint/tiny_lm.json.gz", "fused", "80%"},
                                          {"joint/mlp.json.gz", "eager", "70%"},
                                          {"joint/tiny_lstm.json.gz", "eager", "none"},
                                          {"blocks/residual_block.recut", "eager", "none"},
                                          {"blocks/residual_block.recut", "fused", "80%"}})) {
    CAPTURE(c.sample, c.model, c.budget);
    Asked window(c.sample, c.model, c.budget);
    ask_saved(window);
    ask_values(window);
    ask_graph(window);
    ask_difference(window);
    ask_peak(window);
    ask_first(window);
    moments += ask_moments(window);
  }
  CHECK(moments > 0);
}

}  // namespace
}  // namespace recut::gui
