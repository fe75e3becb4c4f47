// Panel Run: the shown plan as machine code. Planned figures beside measured ones, and the slowest
// kernels.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/app/debug_view.h"
#include "gui/app/run_target.h"
#include "gui/app/run_view.h"
#include "gui/draw/table.h"
#include "gui/draw/widgets.h"
#include "gui/panels/run_bundle.h"

namespace recut::gui {
namespace {

// The widths in units of the columns, and of the number and the gaps beside a kernel's name.
constexpr float kWhat = 52, kRunFigure = 108, kRunTime = 72, kBesideKernel = 72;
constexpr std::size_t kSlowest = 10;

class RunPanel {
 public:
  RunPanel(Ui& ui, const PanelInput& input, const DocumentView& document, const RunView& view,
           Intents& intents)
      : ui_(ui),
        input_(input),
        document_(document),
        view_(view),
        intents_(intents),
        running_(input.app.jobs.is_alive(view.job)),
        run_(shown_run(document)) {}

  void draw() {
    head();
    Rect area = input_.area;
    targets(area);
    if (running_) progress(area);
    figures(area);
    if (!running_ && run_ != nullptr && failed(*run_))
      draw_bundle_offer(ui_, input_, area, "debug.save", intents_);
    if (!running_ && !view_.faults.empty()) return faults(area);
    if (run_ != nullptr) return slowest(area);
    if (running_) return;
    area.cut_top(ui_.px(6));
    wrapped(ui_, area, text_before(), ui_.theme.dim, Face::text);
  }

 private:
  bool can_run() const { return chosen_executor(input_.app) != nullptr; }

  std::string_view text_before() const {
    if (!can_run()) return "This program shows the code and can't run it: recut-gui and recut can.";
    return view_.report != nullptr ? "What ran was another plan." : "It hasn't run yet.";
  }

  void head() {
    Rect rect = input_.heading;
    const auto at = [&](float wide) {
      const Rect box = rect.cut_right(ui_.px(wide)).inset(0, ui_.px(8));
      rect.cut_right(ui_.px(6));
      return box;
    };
    if (running_) {
      if (button(ui_, "cancel", at(72), "Cancel")) intents_.push_back({"run.cancel", ""});
    } else {
      if (button(ui_, "run", at(72), "Run", ButtonLook::primary, can_run()))
        intents_.push_back({"run.step", ""});
      hint(ui_, can_run() ? "Runs the step and measures it (Ctrl Enter)" : text_before());
      if (button(ui_, "check", at(108), "Run and check", ButtonLook::plain, can_run()))
        intents_.push_back({"run.check", ""});
      hint(ui_, can_run() ? "The same, and compares it with the interpreter" : text_before());
    }
    const bool on = input_.app.settings.flag("graph.times", false);
    const auto wide = [&](std::string_view text) {
      return ui_.width(text, Face::text) / ui_.scale + 26;
    };
    std::string_view text;  // none where there is no room: its hint says it
    for (const std::string_view shorter : {"Colour", "Colour graph"})
      if (ui_.px(wide(shorter)) <= rect.width()) text = shorter;
    if (toggle(ui_, "times", at(wide(text)), text, on)) intents_.push_back({"run.times", ""});
    hint(ui_, "Measured times as colours of the graph (h)");
    ui_.fitting(rect, {run_ != nullptr ? "on " + run_->where : "as machine code"}, Face::small,
                ui_.theme.dim);
  }

  // Draws the choice of executor, if there are several.
  void targets(Rect& area) {
    const std::vector<Executor*> executors = input_.app.backend.executors();
    if (executors.size() < 2) return;
    Rect row = area.cut_top(ui_.target(kRow));
    ui_.text(row.cut_left(ui_.px(kWhat)), "on", Face::text, ui_.theme.dim);
    for (const Executor* executor : executors) {
      const std::string title = executor->title();
      const float title_width = std::ceil(ui_.width(title, Face::text)) + ui_.px(4);
      const float wide = std::max(title_width, ui_.target(0));
      const bool chosen = executor == chosen_executor(input_.app);
      if (tab(ui_, "on " + executor->id(), row.cut_left(std::min(wide, row.width())), title,
              chosen))
        intents_.push_back({"run.on", executor->id()});
      hint(ui_, executor->remark());
      row.cut_left(ui_.px(12));
    }
    area.cut_top(ui_.px(4));
  }

  void progress(Rect& area) const {
    for (const JobStatus& job : input_.app.jobs.status()) {
      if (job.id != view_.job) continue;
      const Rect row = area.cut_top(std::round(ui_.px(kRow)));
      ui_.items.add("progress", ItemKind::figure, row, true, job.text);
      ui_.text(row, job.text.empty() ? "scheduling" : job.text, Face::small, ui_.theme.dim);
      Rect bar = area.cut_top(std::round(ui_.px(4)));
      ui_.fill(bar, ui_.theme.line, ui_.px(2));
      const double share = std::clamp(job.fraction, 0.0, 1.0);
      ui_.fill(bar.cut_left(bar.width() * static_cast<float>(share)), ui_.theme.selection,
               ui_.px(2));
      area.cut_top(ui_.px(8));
    }
  }

  // A row of figures: `what` is the label, then planned, measured, and a remark, the longest that
  // fits.
  void line(Rect& area, std::string_view what, const std::string& planned,
            const std::string& measured, const std::vector<std::string>& text) const {
    Rect row = area.cut_top(std::round(ui_.px(kRow)));
    std::string value = planned.empty() ? "" : planned + " planned";
    if (!measured.empty()) value += (value.empty() ? "" : ", ") + measured + " measured";
    ui_.items.add(what, ItemKind::figure, row, true, value);
    ui_.text(row.cut_left(ui_.px(kWhat)), what, Face::text, ui_.theme.dim);
    ui_.text(row.cut_left(ui_.px(kRunFigure)), planned.empty() ? "–" : planned, Face::mono,
             ui_.theme.text, Align::right);
    ui_.text(row.cut_left(ui_.px(kRunFigure)), measured.empty() ? "–" : measured,
             measured.empty() ? Face::mono : Face::mono_strong, ui_.theme.text, Align::right);
    row.cut_left(ui_.px(14));
    ui_.fitting(row, text, Face::small, ui_.theme.dim);
  }

  // Draws the profile beside the titles of the columns, or on lines of their own above them.
  void prices(Rect& area) const {
    const std::string text = prices_text();
    const float columns = ui_.px(kWhat + 2 * kRunFigure + 14);
    Rect rect{area.left + columns, area.top, area.right, area.top + std::round(ui_.px(18))};
    const bool beside = ui_.width(text, Face::small) <= rect.width();
    if (!beside) rect = area.cut_top(wrapped_height(ui_, text, area.width()) + ui_.px(4));
    ui_.items.add("prices", ItemKind::figure, rect, true, text);
    if (beside)
      ui_.text(rect, text, Face::small, ui_.theme.faint);
    else
      wrapped(ui_, rect, text, ui_.theme.faint);
  }

  void figures(Rect& area) const {
    prices(area);
    Rect titles = area.cut_top(std::round(ui_.px(18)));
    titles.cut_left(ui_.px(kWhat));
    for (const char* title : {"planned", "measured"})
      ui_.text(titles.cut_left(ui_.px(kRunFigure)), title, Face::small, ui_.theme.faint,
               Align::right);
    const PlanReport& report = document_.shown->report();
    if (run_ == nullptr) {
      line(area, "step", format_micros(report.step_us), "", {});
      return line(area, "peak", format_bytes(report.peak_bytes), "", {});
    }
    line(
        area, "step", run_->planned ? format_micros(run_->planned->step_us) : "",
        format_micros(1e3 * run_->step_ms_median),
        {fmt::format("median of {}, least {}", run_->steps, format_micros(1e3 * run_->step_ms_min)),
         "median"});
    measured_memory(area);
  }

  // The device whose predicted times stand beside the measured ones, or why none do.
  std::string prices_text() const {
    const PlanReport& report = document_.shown->report();
    if (run_ == nullptr) return "planned for " + report.device_title;
    if (run_->planned) return "planned for " + run_->planned->device;
    return fmt::format("no times planned: prices are of {}", report.device_title);
  }

  void measured_memory(Rect& area) const {
    const std::int64_t by = run_->measured_peak_bytes - run_->planned_peak_bytes;
    const std::int64_t peak = run_->of->plan->peak(), arena = run_->planned_peak_bytes;
    line(area, "peak", format_bytes(peak), "",
         {"of the values; the arena is measured", "of the values"});
    const std::string beside =
        arena == peak ? "" : ", " + arena_note(arena, peak, document_.plan_settings.budget_bytes);
    line(area, "arena", format_bytes(arena), format_bytes(run_->measured_peak_bytes),
         by != 0 ? std::vector{signed_bytes(by) + beside, signed_bytes(by)}
                 : std::vector{fmt::format("the same to the byte: {} B{}",
                                           format_count(run_->measured_peak_bytes), beside),
                               std::string("the same to the byte"), std::string("the same")});
    if (run_->scratch_bytes != 0)
      line(area, "scratch", "", format_bytes(run_->scratch_bytes),
           {fmt::format("{}'s own, beside the peak", run_->library), "beside the peak"});
    if (run_->packed_bytes != 0)
      line(area, "packed", "", format_bytes(run_->packed_bytes),
           {fmt::format("weights in {}'s layout, beside the peak", run_->library),
            "beside the peak"});
    if (run_->taken_bytes != 0)
      line(area, "GPU", "", format_bytes(run_->taken_bytes),
           {"taken in all: inputs, code and libraries, too", "taken in all"});
    if (run_->agreement) agreement(area, *run_->agreement);
  }

  void agreement(Rect& area, const OutputAgreement& found) const {
    Rect row = area.cut_top(ui_.target(kRow));
    std::string text = found.problem;
    if (found.agrees())
      text = fmt::format("{} outputs are the interpreter's; relative error at most {:.1e}",
                         found.outputs, found.max_relative_error);
    if (found.agrees() && found.by_rounding > 0)
      text += fmt::format(", {} within rounding", found.by_rounding);
    if (found.agrees() && !found.ill_conditioned.empty())
      text += fmt::format(", {} ill-conditioned", found.ill_conditioned.size());
    interact(ui_, "agreement", ItemKind::row, row, true, text);
    hint(ui_, details(found));
    ui_.text(row.cut_left(ui_.px(kWhat)), "check", Face::text, ui_.theme.dim);
    row.cut_left(ui_.px(14));
    ui_.text(row, text, Face::text, found.agrees() ? ui_.theme.text : ui_.theme.conflict);
  }

  // The reference, and each output in which rounding leaves a large error.
  static std::string details(const OutputAgreement& found) {
    std::string text = found.no_f64.empty()
                           ? "compared with the same graph in f64"
                           : "compared with the graph in its own dtypes: " + found.no_f64;
    for (const std::string& line : found.ill_conditioned) text += "\nill-conditioned: " + line;
    return text.substr(0, 2000);
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

  void slowest(Rect area) {
    area.cut_top(ui_.px(4));
    const std::size_t shown = std::min(kSlowest, run_->slowest.size());
    const Rect titles = area.cut_top(std::round(ui_.px(20)));
    const float high = ui_.target(kRow - 2);
    const Scrolled region = begin_scroll(ui_, "slowest", area, high * static_cast<float>(shown));
    shows_planned_ = run_->planned && has_room_for_planned(region.content.width(), shown);
    for (std::size_t i = 0; i < shown; ++i)
      kernel(i, rect_at({region.content.left, region.content.top + high * static_cast<float>(i)},
                        {region.content.width(), high}));
    end_scroll();
    slowest_titles({titles.left, titles.top, region.content.right, titles.bottom});
  }

  // True if the planned times have room beside the names; the planned time of the whole step is
  // above the table.
  bool has_room_for_planned(float room, std::size_t shown) const {
    float longest = 0;
    for (std::size_t i = 0; i < shown; ++i)
      longest = std::max(longest, ui_.width(run_->of->name(run_->slowest[i]), Face::mono));
    const float rest = room - ui_.px(kRunTime + kBesideKernel);
    return columns_beside(room_for_names(ui_, longest), rest, {ui_.px(kRunTime)}) == 1;
  }

  void slowest_titles(const Rect& row) const {
    Rect columns = row.inset(ui_.px(6), 0);
    ui_.text(columns.cut_right(ui_.px(kRunTime)), "measured", Face::small, ui_.theme.faint,
             Align::right);
    columns.cut_right(ui_.px(10));
    if (shows_planned_)
      ui_.text(columns.cut_right(ui_.px(kRunTime)), "planned", Face::small, ui_.theme.faint,
               Align::right);
    const std::string compiled = format_micros(1e3 * run_->compile_ms);
    ui_.fitting(columns, {"slowest kernels, compiled in " + compiled, "slowest kernels", "slowest"},
                Face::small, ui_.theme.faint);
  }

  void kernel(std::size_t i, const Rect& rect) {
    const std::uint32_t k = run_->slowest[i];
    const ScheduleView& schedule = *run_->of;
    const std::string name = schedule.name(k);
    const NodeId selected = document_.planned_selection();
    const WidgetResponse t = row(ui_, fmt::format("slow {}", i), rect,
                                 selected.valid() && schedule.computes(k, selected), name);
    if (t.pressed)
      intents_.push_back({"select.node", schedule.graph().node_name(schedule.node(k))});
    Rect rest = rect.inset(ui_.px(6), 0);
    const double share = run_->kernel_ms[k] / std::max(1e-12, run_->kernel_ms[run_->slowest[0]]);
    const Rect cell = rest.cut_right(ui_.px(kRunTime));
    rest.cut_right(ui_.px(10));
    Rect bar = cell.inset(ui_.px(-4), ui_.px(3));
    bar.left = bar.right - bar.width() * static_cast<float>(share);
    ui_.fill(bar, heat_colour(ui_.theme, share), ui_.px(2));
    ui_.text(cell, format_micros(1e3 * run_->kernel_ms[k]), Face::mono, ui_.theme.text,
             Align::right);
    if (shows_planned_)
      ui_.text(rest.cut_right(ui_.px(kRunTime)), format_micros(run_->planned->kernel_us[k]),
               Face::mono, ui_.theme.dim, Align::right);
    ui_.text(rest.cut_left(ui_.px(34)), fmt::format("{}", k), Face::mono_small, ui_.theme.faint,
             Align::right);
    rest.cut_left(ui_.px(10));
    rest.cut_right(ui_.px(6));
    ui_.path(rest, name, Face::mono, ui_.theme.text);
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  const RunView& view_;
  Intents& intents_;
  const bool running_;
  const SharedRun run_;
  bool shows_planned_ = false;  // of each of the slowest kernels
};

void draw_run(Ui& ui, const PanelInput& input, Intents& intents) {
  const DocumentView* document = input.ready();
  if (document == nullptr) return;
  RunPanel(ui, input, *document, input.memory<RunView>(kRunMemory), intents).draw();
}

}  // namespace

Panel run_panel() { return {"run", "Run", Dock::bottom_right, 4, 1, draw_run}; }

}  // namespace recut::gui
