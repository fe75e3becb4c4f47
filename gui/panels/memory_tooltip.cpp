// The tooltip of a step in the timeline.
#include "engine/support/units.h"
#include "engine/workspace/plan_report.h"
#include "gui/panels/memory_curve.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxHolders = 6;
constexpr float kStepTooltipWidth = 300, kLine = 18;

class StepTooltip {
 public:
  StepTooltip(const Ui& ui, Rect rest) : ui_(ui), rest_(rest) {}

  void pair(std::string_view left, Face face, Colour ink, const std::string& right) {
    Rect row = rest_.cut_top(ui_.px(kLine));
    const float wide = ui_.width(right, Face::mono);
    ui_.text(row.cut_right(wide + 1), right, Face::mono, ui_.theme.text, Align::right);
    row.cut_right(ui_.px(10));
    ui_.text(row, left, face, ink);
  }
  void kind(MemoryKind kind, std::string_view name, std::int64_t bytes) {
    Rect row = rest_;
    const Rect swatch = row.cut_top(ui_.px(kLine)).cut_left(ui_.px(10));
    ui_.fill(rect_around(swatch.centre(), ui_.px(9), ui_.px(9)), colour_of(ui_.theme, kind),
             ui_.px(2));
    rest_.left += ui_.px(16);
    pair(name, Face::small, ui_.theme.dim, format_bytes(bytes));
    rest_.left -= ui_.px(16);
  }
  void line(std::string_view text, Face face, Colour ink) {
    ui_.text(rest_.cut_top(ui_.px(kLine)), text, face, ink);
  }
  void gap() { rest_.cut_top(ui_.px(5)); }

 private:
  const Ui& ui_;
  Rect rest_;
};

float height_of(const TimelineStep& step, std::size_t named, bool measured) {
  int lines = measured ? 4 : 3;
  for (const std::int64_t bytes : step.bytes) lines += bytes > 0 ? 1 : 0;
  return kLine * static_cast<float>(lines) + 5 +
         (named > 0 ? 5 + kLine * static_cast<float>(named) : 0.0f);
}

void fill_step_tooltip(const Ui& ui, const PlanView& plan, std::size_t step,
                       const std::vector<const StorageInstance*>& alive, std::size_t named,
                       const std::string& measured, StepTooltip tooltip) {
  const TimelineStep& it = plan.report().timeline[step];
  const Graph& graph = plan.graph();
  const NodeId node = plan.replay().steps[step].node;
  const std::string again = plan.replay().steps[step].again ? ", again" : "";
  tooltip.pair(step_label(plan.report(), step) + again, Face::strong, ui.theme.text,
               format_bytes(it.total()) + " alive");
  tooltip.pair(it.node, Face::mono, ui.theme.text, std::string(graph.op(node).packet));
  tooltip.line(it.module.empty() ? "no module" : short_module(it.module), Face::small,
               ui.theme.dim);
  if (!measured.empty())
    tooltip.pair("measured, above the start", Face::small, measured_colour(ui.theme), measured);
  tooltip.gap();
  for (std::size_t kind = 0; kind < kMemoryKinds; ++kind)
    if (it.bytes[kind] > 0) {
      const auto which = static_cast<MemoryKind>(kind);
      tooltip.kind(which, name_of(which, plan.report().inference), it.bytes[kind]);
    }
  tooltip.gap();
  for (std::size_t i = 0; i < named; ++i)
    tooltip.kind(kind_of(alive[i]->kind), graph.node_name(alive[i]->owner), alive[i]->bytes);
}

}  // namespace

void step_tooltip(const Ui& ui, const PlanView& plan, std::size_t step,
                  const std::vector<const StorageInstance*>& alive, const std::string& measured) {
  const TimelineStep& it = plan.report().timeline[step];
  const std::size_t named = std::min(kMaxHolders, alive.size());
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(11), ui.px(8)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(kRadius));
  ImGui::PushStyleVar(ImGuiStyleVar_PopupBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_PopupBg, Ui::paint(ui.theme.raised));
  ImGui::PushStyleColor(ImGuiCol_Border, Ui::paint(ui.theme.line));
  if (ImGui::BeginTooltip()) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 size{ui.px(kStepTooltipWidth), ui.px(height_of(it, named, !measured.empty()))};
    ImGui::Dummy(size);
    fill_step_tooltip(ui, plan, step, alive, named, measured,
                      StepTooltip(ui, rect_at(corner, size)));
    ImGui::EndTooltip();
  }
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar(3);
}

}  // namespace recut::gui
