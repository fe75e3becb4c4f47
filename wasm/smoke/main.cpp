// The engine as node runs it, and so as a browser would: reads a graph and
// prints what the native command prints for it. compare.sh holds the two against
// each other, byte for byte.
//
// usage: node recut_smoke.js text|json|dot|svg|plan|peak|timeline FILE

#include <cstdio>
#include <string>
#include <string_view>

#include "engine/ir/printer.h"
#include "engine/workspace/document.h"
#include "engine/workspace/graph_export.h"
#include "engine/workspace/planning.h"
#include "gui/pictures/graph_picture.h"
#include "gui/pictures/memory_timeline.h"

namespace {

using recut::Document;
using recut::Result;

// What `recut plan FILE --budget 60%` writes to --out, or with --strategy torch --budget 0.4 to
// --out or to --svg.
Result<std::string> planned(const Document& document, std::string_view form) {
  recut::PlanningRequest request{"torch", "0.4"};
  if (form == "peak") request = {"peak", "60%"};
  const auto plan = recut::plan_document(document, request);
  if (!plan) return plan.diagnostics();
  if (form == "timeline") return recut::gui::memory_timeline_svg(plan->report, recut::gui::kDark);
  return recut::plan_file_json(document.graph(), *plan);
}

// What `recut show FILE --format FORM` writes.
std::string shown(const Document& document, std::string_view form) {
  if (form == "json") return recut::graph_json(document.graph());
  if (form == "dot") return recut::graph_dot(document.graph());
  if (form == "svg") return recut::gui::graph_svg(document.graph(), recut::gui::kDark);
  return recut::print(document.graph());
}

Result<std::string> output(std::string_view form, const std::string& path) {
  const auto document = recut::open_document(path, recut::OpenOptions{});
  if (!document) return document.diagnostics();
  if (form == "plan" || form == "peak" || form == "timeline") return planned(*document, form);
  return shown(*document, form);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: recut_smoke text|json|dot|svg|plan|peak|timeline FILE\n", stderr);
    return 2;
  }
  const auto text = output(argv[1], argv[2]);
  if (!text) {
    std::fputs(recut::format(text.diagnostics()).c_str(), stderr);
    return 2;
  }
  std::fwrite(text->data(), 1, text->size(), stdout);
  return 0;
}
