// The table of values and the words on one value, without a window.
#include "gui/model/value_table.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "gui/model/value_details.h"
#include "tests/gui/big_plan.h"

namespace recut::gui {
namespace {

// A document as the window has it, with rows.
struct Fixture {
  explicit Fixture(const std::string& budget = "40%", const OverrideRequest& pins = {}) {
    auto [made_basis, start] = plan_of(blocks_text(12));
    view.basis = made_basis;
    view.document = start->document;
    view.start = start;
    view.plan_settings.overrides = pins;
    view.plan_settings.budget_bytes = *read_budget(budget, view);
    const auto plan = make_plan_view(*view.basis, request_of(view.plan_settings));
    REQUIRE(plan.ok());
    view.shown = *plan;
    view.known.add(*plan);
    view.state = DocumentState::ready;
    if (!view.shown->report().holds()) view.refused = view.shown;
    view.reasons =
        std::make_shared<const Reasons>(*view.document, view.shown->request, view.shown->planned);
    table().rows = make_value_rows(view.shown, view.reasons);
    table().arrange(view);
  }
  ValueTable& table() { return value_table(view); }
  const ValueRow& row(std::size_t i) { return table().rows->rows[table().order[i]]; }

  DocumentView view;
};

TEST_CASE("values: every value there is to choose among has a row", "[gui]") {
  Fixture f;
  CHECK(f.table().rows->rows.size() == f.view.reasons->values().size());
  CHECK(f.table().order.size() == f.table().rows->rows.size());
  for (const ValueRow& row : f.table().rows->rows) {
    const Role role = f.table().rows->role(row);
    if (!row.has_choice) continue;
    CHECK((role == Role::saved ? row.flip_us >= 0 : row.flip_us <= 0));
    CHECK((role == Role::saved ? row.flip_bytes <= 0 : row.flip_bytes >= 0));
  }
}

TEST_CASE("values: every column sorts both ways, equal ones in the order of the graph", "[gui]") {
  Fixture f;
  const Graph& graph = f.view.graph();
  for (const char* name : {"name", "module", "bytes", "peak", "time", "order"}) {
    REQUIRE(read_column(name, f.table().sort));
    for (const bool falling : {false, true}) {
      f.table().falling = falling;
      f.table().arrange(f.view);
      for (std::size_t i = 1; i < f.table().order.size(); ++i) {
        const ValueRow &a = f.row(i - 1), &b = f.row(i);
        if (f.table().sort == ValueColumn::bytes)
          REQUIRE((falling ? a.bytes >= b.bytes : a.bytes <= b.bytes));
        if (f.table().sort == ValueColumn::flip_us)
          REQUIRE((falling ? a.flip_us >= b.flip_us : a.flip_us <= b.flip_us));
        if (f.table().sort == ValueColumn::bytes && a.bytes == b.bytes)
          REQUIRE(graph.position(a.node) < graph.position(b.node));
      }
    }
  }
  ValueColumn column = ValueColumn::bytes;
  CHECK_FALSE(read_column("nonsense", column));
}

TEST_CASE("values: the filter is the search's", "[gui]") {
  Fixture f;
  f.table().filter = "saved";
  f.table().arrange(f.view);
  const auto& rows = f.table().rows->rows;
  CHECK(static_cast<std::ptrdiff_t>(f.table().order.size()) ==
        std::count_if(rows.begin(), rows.end(), [&](const ValueRow& row) {
          return f.table().rows->role(row) == Role::saved;
        }));
  f.table().filter = "layers.3.act";
  f.table().arrange(f.view);
  CHECK(f.table().order.size() == 4);
  f.table().filter = "bytes>nonsense";
  f.table().arrange(f.view);
  CHECK_FALSE(f.table().filter_fault.empty());
  CHECK(f.table().order.size() == f.table().rows->rows.size());
  f.table().filter = "no such thing";
  f.table().arrange(f.view);
  CHECK(f.table().order.empty());
}

TEST_CASE("values: copies have a line a row, fields in quotes where they need them", "[gui]") {
  Fixture f;
  const std::string csv = values_csv(f.table());
  CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) ==
        f.table().order.size() + 1);
  CHECK(csv.rfind("role,name,bytes,flip_peak_bytes,flip_us,module\n", 0) == 0);
  CHECK(csv_field("a,\"b\"") == "\"a,\"\"b\"\"\"");
  CHECK(values_text(f.table()).find("flip: peak") != std::string::npos);
  const std::string steps = timeline_csv(*f.view.shown);
  CHECK(static_cast<std::size_t>(std::count(steps.begin(), steps.end(), '\n')) ==
        f.view.shown->replay().steps.size() + 1);
  CHECK(peak_text(*f.view.shown).find("peak") != std::string::npos);
}

TEST_CASE("details: every node of the graph has words, with the reasons of both choices", "[gui]") {
  Fixture f;
  for (const NodeId id : f.view.graph().order()) {
    const ValueDetails details = details_of(f.view, id);
    REQUIRE_FALSE(details.empty());
    CHECK(details.title == f.view.graph().node_name(id));
    CHECK(text_of(details).find("operator") != std::string::npos);
    const bool choice = details.why_not_saved.empty() && details.why_not_recomputed.empty();
    if (details.role == Role::saved && choice && details.can_flip)
      CHECK(text_of(details).find("recomputing it takes") != std::string::npos);
  }
  CHECK(details_of(f.view, NodeId()).empty());
}

TEST_CASE("details: a flip is planned anew and said beside the plan", "[gui]") {
  Fixture f;
  for (const ValueRow& row : f.table().rows->rows) {
    if (!row.has_choice) continue;
    const auto flip = f.view.reasons->flip(row.node);
    REQUIRE(flip.has_value());
    const std::string text = flip_text(*flip, *f.view.shown);
    CHECK(text.rfind(flip->holds ? "holds: peak" : "can't be held", 0) == 0);
    break;
  }
}

TEST_CASE("values: choices that stand in a budget's way are named", "[gui]") {
  CHECK(conflict_text(Fixture().view).empty());
  OverrideRequest pins;
  const Fixture free("none");
  for (const NodeId id : free.view.reasons->values()) {
    const Reason reason = free.view.reasons->of(id);
    if (reason.why_not.empty() && reason.decision == RematDecision::saved)
      pins.save.push_back(reason.node);
  }
  REQUIRE(pins.save.size() > 4);
  Fixture f("36%", pins);
  REQUIRE_FALSE(f.view.holds());
  const std::string text = conflict_text(f.view);
  CHECK(text.find("can't be held with these overrides") != std::string::npos);
  CHECK(text.find("Without") != std::string::npos);
  ValueOverrides lookup;
  lookup.read(f.view);
  CHECK(lookup.of(f.view.find(pins.save.front())) == OverrideKind::save);
}

}  // namespace
}  // namespace recut::gui
