#include "native/commands/node_link.h"

#include "engine/workspace/node_link.h"
#include "native/commands/command.h"

namespace recut::native {

int plan_node_link_file(const NodeLinkCommand& command, const Console& console) {
  if (const std::string& strategy = command.plan.strategy; !strategy.empty() && strategy != "peak")
    return console.report_error(
        {{"a node-link graph is planned by strategy peak alone: it says "
          "nothing of forward and backward",
          command.path, 0, 0}});
  console.say("planning");
  const auto planned = plan_node_link(command.bytes, command.path, command.plan.request().budget,
                                      command.plan.limits());
  console.say("");
  if (!planned) return console.report_error(planned.diagnostics());
  const NodeLinkReport& report = planned->report;
  if (report.holds && !command.out.empty()) {
    const auto written = write_file(command.out, node_link_plan_json(*planned));
    if (!written) return console.report_error(written.diagnostics());
  }
  if (command.json)
    console.out << node_link_report_json(report);
  else if (report.holds)
    console.out << highlighted(console, node_link_text(report));
  if (report.holds) return kDone;
  console.err << "error: " << node_link_infeasible_text(report) << "\n";
  return kCheckFailed;
}

}  // namespace recut::native
