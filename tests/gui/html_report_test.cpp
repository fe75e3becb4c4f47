// The report as one HTML file: complete, escaped, and nothing in it that points elsewhere.
#include "gui/report/html_report.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/support/version.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "engine/workspace/sweep_document.h"
#include "gui/report/html.h"
#include "tests/gui/odd_names.h"

namespace recut::gui {
namespace {

std::string report_of(const std::vector<std::string>& budgets,
                      const std::string& command = "recut report 'a<b.recut'") {
  const auto document = open_document_bytes(kOddNames, "joint.recut", {});
  REQUIRE(document.ok());
  std::vector<Planned> plans;
  for (const std::string& budget : budgets) {
    PlanningRequest request;
    request.budget = budget;
    auto planned = plan_document(*document, request);
    REQUIRE(planned.ok());
    plans.push_back(std::move(*planned));
  }
  const auto curve = sweep_document(*document, {});
  REQUIRE(curve.ok());
  HtmlReport report{"joint<1>.recut", &document->passes,  {},
                    &curve->report,   "0123456789abcdef", command};
  for (const Planned& planned : plans) report.plans.push_back(&planned.report);
  return html_report(report);
}

bool holds(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

TEST_CASE("html report: figures, pictures and tables of a plan", "[gui]") {
  const std::string page = report_of({"none"});
  CHECK(holds(page, "<title>a&lt;b &amp; &quot;c&quot;: Recut</title>"));
  CHECK(holds(page, "joint&lt;1&gt;.recut"));
  CHECK_FALSE(holds(page, "joint<1>"));
  for (const char* id : {"memory", "trade-off", "peak", "saved", "passes"})
    CHECK(holds(page, std::string("<section id=\"") + id + "\">"));
  CHECK(holds(page, "on-light"));
  CHECK(holds(page, "<p id=\"finding\">At "));
}

TEST_CASE("html report: says how to write it again, and by whose times", "[gui]") {
  const std::string page = report_of({"none"});
  CHECK(holds(page, "<pre>recut report 'a&lt;b.recut'</pre>"));
  CHECK(holds(page, "<dt>Recut</dt><dd>" + std::string(version()) + "</dd>"));
  CHECK(holds(page, "<dd>0123456789abcdef</dd>"));
  CHECK(holds(page, "<dt>device</dt><dd>"));
  CHECK(holds(page, "(reference)"));
  CHECK(holds(page, "<dt>cost model</dt><dd>eager</dd>"));
  CHECK(holds(page, " · eager model"));
  CHECK(holds(report_of({"none"}, ""), "No single command writes this report"));
}

TEST_CASE("html report: PyTorch's plan at this peak has a row beside the plan", "[gui]") {
  const std::string page = report_of({"none"});
  const std::size_t plans = page.find("<section id=\"plans\">");
  REQUIRE(plans != std::string::npos);
  CHECK(page.find("strategy torch", plans) < page.find("</section>", plans));
}

TEST_CASE("html report: phones have pictures of their own, and boxes that scroll", "[gui]") {
  const std::string page = report_of({"none"});
  CHECK(holds(page, "<div class=\"narrow\"><svg"));
  CHECK(holds(page, "width=\"360\""));
  CHECK(holds(page, "@media (max-width:640px)"));
  CHECK(holds(page, "Scroll sideways for more"));
}

TEST_CASE("html report: needs nothing from elsewhere", "[gui]") {
  const std::string page = report_of({"none", "100%"});
  CHECK(holds(page, "<section id=\"plans\">"));
  for (const char* elsewhere : {"src=", "href=\"http", "@import", "url("})
    CHECK_FALSE(holds(page, elsewhere));
}

TEST_CASE("html: text is escaped, control characters are none", "[gui]") {
  CHECK(escape_html("<a href=\"x\">&\x01\n") == "&lt;a href=&quot;x&quot;&gt;&amp; \n");
}

TEST_CASE("html: a table says what it leaves out", "[gui]") {
  HtmlTable table;
  table.column("n", HtmlTable::Kind::number);
  for (int i = 0; i < 5; ++i) table.row({{std::to_string(i), static_cast<double>(i)}});
  CHECK(holds(table.format(3), "and 2 more"));
  CHECK_FALSE(holds(table.format(3), ">3</td>"));
  CHECK_FALSE(holds(table.format(5), "more"));
}

}  // namespace
}  // namespace recut::gui
