// Panel Check: the shown plan, run by the interpreter. Compares each output with the expected one,
// and the measured bytes with the planned ones.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/debug_view.h"
#include "gui/draw/table.h"
#include "gui/draw/widgets.h"
#include "gui/panels/run_bundle.h"

namespace recut::gui {
namespace {

constexpr float kCheckNumber = 92;  // units: a column of figures
constexpr float kCheckSign = 20, kCheckEdge = 10;
constexpr float kCheckWidest = 760;  // of the table of outputs

std::string exact_bytes(std::int64_t bytes) { return format_count(bytes) + " B"; }

class CheckPanel {
 public:
  CheckPanel(Ui& ui, const PanelInput& input, const DocumentView& document, const CheckView& view,
             Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        view_(view),
        intents_(intents),
        running_(input.app.jobs.is_alive(view.job)) {}

  void draw() {
    head();
    Rect area = input_.area;
    if (running_) progress(area);
    if (!running_ && !view_.faults.empty()) return faults(area);
    if (view_.report != nullptr) return report(area, *view_.report);
    if (!running_)
      wrapped(ui_, area, "Runs the plan call by call and compares its outputs and its peak.",
              ui_.theme.dim, Face::text);
  }

 private:
  void head() {
    Rect rect = input_.heading;
    const auto at = [&](float wide) {
      const Rect box = rect.cut_right(ui_.px(wide)).inset(0, ui_.px(8));
      rect.cut_right(ui_.px(6));
      return box;
    };
    if (running_) {
      if (button(ui_, "cancel", at(72), "Cancel")) intents_.push_back({"check.cancel", ""});
    } else if (button(ui_, "run", at(72), "Run", ButtonLook::primary)) {
      intents_.push_back({"check.run", ""});
    }
    if (button(ui_, "open", at(80), "Tensors …", ButtonLook::quiet, !running_))
      intents_.push_back({"check.open", ""});
    hint(ui_, "Values for the inputs, and the outputs to expect, from a .safetensors file");
    if (button(ui_, "seed", at(60), "Seed 1", ButtonLook::quiet, !running_))
      intents_.push_back({"check.run", "seed 1"});
    hint(ui_, "Inputs made from a seed; the outputs are compared with those of the graph as read");
    const bool old = view_.report != nullptr && view_.report->plan != document_.shown;
    if (old) ui_.items.add("of another plan", ItemKind::figure, rect, true, "another plan's");
    if (old)
      ui_.fitting(rect,
                  {"of another plan than the one that is shown", "of another plan", "another's"},
                  Face::small, ui_.theme.saved);
    else
      ui_.fitting(rect, {"outputs and peak"}, Face::small, ui_.theme.dim);
  }

  void progress(Rect& area) {
    for (const JobStatus& job : input_.app.jobs.status()) {
      if (job.id != view_.job) continue;
      const Rect row = area.cut_top(std::round(ui_.px(kRow)));
      ui_.items.add("progress", ItemKind::figure, row, true, job.text);
      ui_.text(row, job.text.empty() ? "waiting" : job.text, Face::small, ui_.theme.dim);
      Rect bar = area.cut_top(std::round(ui_.px(4)));
      ui_.fill(bar, ui_.theme.line, ui_.px(2));
      const double share = std::clamp(job.fraction, 0.0, 1.0);
      ui_.fill(bar.cut_left(bar.width() * static_cast<float>(share)), ui_.theme.selection,
               ui_.px(2));
      area.cut_top(ui_.px(8));
    }
  }

  void faults(Rect area) {
    ui_.text(area.cut_top(std::round(ui_.px(kRow))), "It couldn't be run.", Face::strong,
             ui_.theme.conflict);
    for (const Diagnostic& fault : view_.faults) {
      const Rect row = area.cut_top(ui_.target(kRow - 2));
      if (row.empty()) return;
      const std::string text = format(fault);
      interact(ui_, "fault", ItemKind::row, row, true, text);
      ui_.text(row, text, Face::text, ui_.theme.dim);
      hint(ui_, text.substr(0, 2000));
    }
  }

  void report(Rect area, const CheckReport& report) {
    verdict(area, report);
    peak(area, report);
    if (!running_ && failed(report) && report.plan == document_.shown)
      draw_bundle_offer(ui_, input_, area, "debug.check", intents_);
    area.cut_top(ui_.px(8));
    area.right = std::min(area.right, area.left + ui_.px(kCheckWidest));
    const Rect titles = area.cut_top(std::round(ui_.px(20)));
    const float right = outputs(area, report);
    columns({titles.left, titles.top, right, titles.bottom}, report.inputs);
  }

  // A tick or a cross before the text, as colour alone must not carry the result.
  void sign(Rect& row, bool good) const {
    const ImVec2 c{row.left + ui_.px(6), row.centre().y};
    const Colour colour = good ? ui_.theme.result : ui_.theme.conflict;
    row.cut_left(ui_.px(kCheckSign));
    if (!good) return ui_.cross(c, ui_.px(4), colour, ui_.px(2));
    const ImVec2 low{c.x - ui_.px(1), c.y + ui_.px(4)};
    ui_.line({c.x - ui_.px(5), c.y}, low, colour, ui_.px(2));
    ui_.line(low, {c.x + ui_.px(5), c.y - ui_.px(4)}, colour, ui_.px(2));
  }

  // Draws a remark behind the text of a row, or below it if it doesn't fit.
  void remark(Rect row, Rect& area, const std::string& text, Face face) const {
    if (ui_.width(text, face) > row.width()) {
      row = area.cut_top(std::round(ui_.px(18)));
      row.cut_left(ui_.px(kCheckSign));
    }
    ui_.text(row, text, face, ui_.theme.dim);
  }

  void verdict(Rect& area, const CheckReport& report) {
    Rect row = area.cut_top(std::round(ui_.px(kRow)));
    const std::size_t all = report.outputs.size(), wrong = report.differing();
    const std::string text = wrong == 0 ? fmt::format("all {} outputs agree", all)
                                        : fmt::format("{} of {} outputs differ", wrong, all);
    ui_.items.add("verdict", ItemKind::figure, row, true, text);
    sign(row, wrong == 0);
    row.cut_left(
        ui_.text(row, text, Face::strong, wrong == 0 ? ui_.theme.text : ui_.theme.conflict) +
        ui_.px(10));
    remark(row, area,
           fmt::format("with {} · ran {}", report.expected, format_micros(report.seconds * 1e6)),
           Face::small);
  }

  void peak(Rect& area, const CheckReport& report) {
    Rect row = area.cut_top(std::round(ui_.px(kRow)));
    const std::int64_t by = report.measured_peak_bytes - report.planned_peak_bytes();
    const std::string text = by == 0 ? "the peak is the planned one, to the byte"
                                     : fmt::format("the peak is {} off", signed_bytes(by));
    ui_.items.add("peak", ItemKind::figure, row, true, fmt::format("{}", by));
    sign(row, by == 0);
    row.cut_left(ui_.text(row, text, Face::strong, by == 0 ? ui_.theme.text : ui_.theme.conflict) +
                 ui_.px(10));
    std::string figures = exact_bytes(report.measured_peak_bytes) + " measured";
    if (by != 0) figures += ", " + exact_bytes(report.planned_peak_bytes()) + " planned";
    remark(row, area, figures, Face::mono);
  }

  void columns(Rect row, const std::string& inputs) const {
    row.cut_right(ui_.px(kCheckEdge));
    const char* titles[] = {"relative error", "error", "bound"};
    for (std::size_t i = numbers_; i-- > 0;)
      ui_.text(row.cut_right(ui_.px(kCheckNumber)), titles[i], Face::small, ui_.theme.faint,
               Align::right);
    row.cut_left(ui_.px(kCheckSign));
    ui_.text(row, "output, on " + inputs, Face::small, ui_.theme.faint);
  }

  // The number of columns of figures: one at least, the others if names leave them room.
  std::size_t numbers_in(float room, const CheckReport& report) const {
    float longest = 0;
    for (const OutputComparison& output : report.outputs)
      longest = std::max(longest, ui_.width(output.name, Face::mono));
    const float number = ui_.px(kCheckNumber);
    const float rest = room - ui_.px(kCheckSign + kCheckEdge) - number;
    return 1 + columns_beside(room_for_names(ui_, longest), rest, {number, number});
  }

  // Draws the outputs' rows; returns the y at which they end.
  float outputs(const Rect& area, const CheckReport& report) {
    const float high = ui_.target(kRow - 2);
    const Scrolled region =
        begin_scroll(ui_, "outputs", area, high * static_cast<float>(report.outputs.size()));
    numbers_ = numbers_in(region.content.width(), report);
    const float above = region.visible.top - region.content.top;
    const auto first = static_cast<std::size_t>(std::max(0.0f, above / high));
    const auto shown = static_cast<std::size_t>(region.visible.height() / high) + 2;
    for (std::size_t i = first; i < std::min(report.outputs.size(), first + shown); ++i)
      output(report.outputs[i],
             rect_at({region.content.left, region.content.top + high * static_cast<float>(i)},
                     {region.content.width(), high}));
    end_scroll();
    return region.content.right;
  }

  void output(const OutputComparison& output, const Rect& rect) {
    const recut::Comparison& c = output.comparison;
    const bool unchecked = !output.unchecked.empty();
    const std::string value = unchecked ? "unchecked" : c.ok ? "agrees" : c.problem;
    const WidgetResponse t =
        row(ui_, fmt::format("output {}", output.position), rect, false, value);
    if (t.pressed) intents_.push_back({"select.node", output.name});
    if (t.hovered)
      hint(ui_, unchecked ? output.unchecked
                          : fmt::format("{} elements\n{}", format_count(c.elements),
                                        c.ok ? "within the bound" : c.problem));
    Rect rest = rect;
    sign(rest, output.ok());
    rest.cut_right(ui_.px(kCheckEdge));
    const auto number = [&](double x) {
      ui_.text(rest.cut_right(ui_.px(kCheckNumber)),
               unchecked ? ""
               : x == 0  ? "0"
                         : fmt::format("{:.1e}", x),
               Face::mono, output.ok() ? ui_.theme.dim : ui_.theme.conflict, Align::right);
    };
    if (numbers_ > 2) number(c.bound);
    if (numbers_ > 1) number(c.error);
    number(c.relative_error);
    rest.cut_left(ui_.path(rest, output.name, Face::mono, ui_.theme.text) + ui_.px(8));
    ui_.fitting(rest, {output.gradient ? "gradient" : "result"}, Face::small, ui_.theme.faint);
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  const CheckView& view_;
  Intents& intents_;
  const bool running_;
  std::size_t numbers_ = 1;  // columns of figures beside each output
};

void draw_check(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  CheckPanel(ui, input, *document, input.memory<CheckView>(kCheckMemory), intents).draw();
}

}  // namespace

Panel check_panel() { return {"check", "Check", Dock::bottom_right, 3, 1, draw_check}; }

}  // namespace recut::gui
