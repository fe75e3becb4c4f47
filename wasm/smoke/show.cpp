// Reads a graph and writes to OUT the text that the native command prints for it. checks.mjs
// compares the two byte for byte.

#include <cstdio>
#include <string>
#include <string_view>

#include "engine/ir/printer.h"
#include "engine/workspace/document.h"
#include "engine/workspace/graph_export.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "gui/pictures/graph_picture.h"
#include "gui/pictures/memory_timeline.h"
#include "wasm/smoke/commands.h"

namespace recut::smoke {
namespace {

// The look of the command's default drawing.
gui::PictureLook look() {
  gui::PictureLook look(gui::kLight);
  look.fonts = true;
  return look;
}

// The output of `recut plan FILE --budget 60%` for --out, or with --strategy torch --budget 0.4 for
// --out or --svg.
Result<std::string> planned(const Document& document, std::string_view form) {
  PlanningRequest request{"torch", "0.4"};
  if (form == "peak") request = {"peak", "60%"};
  const auto plan = plan_document(document, request);
  if (!plan) return plan.diagnostics();
  if (form == "timeline") return gui::memory_timeline_svg(plan->report, look());
  return plan_file_json(document.graph(), *plan);
}

// The output of `recut show FILE --format FORM`.
std::string shown(const Document& document, std::string_view form) {
  if (form == "json") return graph_json(document.graph());
  if (form == "dot") return graph_dot(document.graph());
  if (form == "svg") return gui::graph_svg(document.graph(), look());
  return print(document.graph());
}

Result<std::string> output(std::string_view form, const std::string& path) {
  const auto document = open_document(path, OpenOptions{});
  if (!document) return document.diagnostics();
  if (form == "plan" || form == "peak" || form == "timeline") return planned(*document, form);
  return shown(*document, form);
}

}  // namespace

int show_command(CommandArguments given) {
  const auto text = output(given[0], given[1]);
  const auto done = text ? write_text(given[2], *text) : Result<Done>(text.diagnostics());
  if (!done) std::fputs(format(done.diagnostics()).c_str(), stderr);
  return done ? 0 : 2;
}

}  // namespace recut::smoke
