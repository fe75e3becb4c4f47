// Commands of the minimum cut behind strategy torch, which the graph shows path by path.
#include <fmt/core.h>

#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/flow_view.h"

namespace recut::gui {
namespace {

const FlowView* shown(const App& app) {
  return is_ready(app) ? shown_flow(*app.document()) : nullptr;
}
bool is_shown(const App& app) { return shown(app) != nullptr; }
bool has_next(const App& app) { return is_shown(app) && !shown(app)->at_cut(); }
bool flow_has_former(const App& app) { return is_shown(app) && shown(app)->step > 0; }

// Shows the network on the planned graph, so that graph is shown.
Result<Done> start(App& app, std::string_view) {
  DocumentView& document = *app.document();
  const std::size_t nodes = document.graph().order().size();
  if (nodes > kMaxFlowNodes)
    return error(
        fmt::format("expected a graph of at most {} nodes, whose cut can be followed by "
                    "eye; this one has {}",
                    kMaxFlowNodes, nodes));
  const auto options = read_torch_options(document.plan_settings.torch);
  if (!options) return options.diagnostics();
  auto flow = trace_torch_flow(document.graph(), *options);
  if (!flow) return flow.diagnostics();
  (void)app.run("pass.set", fmt::format("{}", document.document->passes.passes.size()));
  (void)app.run("panel.show", "graph");
  flow_view(document) = {std::make_shared<const TorchFlow>(std::move(*flow)), 0};
  return Done{};
}

template <int by>
Result<Done> step_flow(App& app, std::string_view) {
  flow_view(*app.document()).step += static_cast<std::size_t>(by);
  return Done{};
}

// Goes to a step by its number: 0 is the network.
Result<Done> go_flow(App& app, std::string_view number) {
  if (!is_shown(app)) {
    const Result<Done> done = start(app, {});
    if (!done) return done;
  }
  FlowView& view = flow_view(*app.document());
  const std::string digits(number);
  char* end = nullptr;
  const unsigned long step_flow = std::strtoul(digits.c_str(), &end, 10);
  if (end == digits.c_str() || *end != '\0' || step_flow > view.last())
    return error(fmt::format("expected a step, 0 to {}; found '{}'", view.last(), number));
  view.step = step_flow;
  return Done{};
}

Result<Done> stop_flow(App& app, std::string_view) {
  flow_view(*app.document()) = {};
  return Done{};
}

constexpr Command kFlowRows[] = {
    {"flow.start", "Minimum cut of strategy torch, step by step", "", "", is_ready, start},
    {"flow.next", "Minimum cut: next path", ".", "", has_next, step_flow<1>},
    {"flow.back", "Minimum cut: the path before", ",", "", flow_has_former, step_flow<-1>},
    {"flow.go", "", "", "a step", is_ready, go_flow},
    {"flow.stop", "Minimum cut: enough of it", "", "", is_shown, stop_flow},
};

}  // namespace

std::span<const Command> flow_commands() { return kFlowRows; }

}  // namespace recut::gui
