// A plan, or several of one graph side by side, as one HTML file that needs nothing else: figures,
// pictures and tables, to attach to an issue or to keep from a run of CI.
#pragma once

#include <string>
#include <vector>

#include "engine/workspace/curve.h"
#include "engine/workspace/document.h"
#include "engine/workspace/plan_report.h"

namespace recut::gui {

struct HtmlReport {
  std::string file;                        // name of the input file
  const PipelineReport* passes = nullptr;  // null: no table of passes
  std::vector<const PlanReport*> plans;    // at least one; the report describes the first
  const CurveReport* curve = nullptr;      // null: no trade-off
  std::string digest;                      // of the file's graph (measured_kernels.h)
  std::string command;                     // that writes this report; "": there is none
};

std::string html_report(const HtmlReport& report);

}  // namespace recut::gui
