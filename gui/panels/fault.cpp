// In place of all panels where a document has no graph to show: why its file couldn't be read, or
// which file it waits for, and everything that helps.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/backend/paths.h"
#include "gui/draw/prose.h"
#include "gui/model/samples.h"
#include "gui/panels/samples_rows.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxMessages = 6;
constexpr float kEndless = 1e6f;  // units: the page is as long as it gets

struct FaultMemory {
  float height = 0;                          // of the page, as it was drawn last
  std::map<std::string, std::string> sizes;  // of open dimensions, as they are typed
  bool took_keyboard = false;
};

// The settings that a missing document will be shown with, a line each.
std::vector<std::pair<std::string, std::string>> plan_setting_rows(const DocumentView& document) {
  const PlanSettings& plan_settings = document.plan_settings;
  const PlanSettings usual;
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const char* what, std::string text) {
    if (!text.empty()) lines.emplace_back(what, std::move(text));
  };
  if (document.chose_budget || plan_settings.budget_bytes != 0)
    add("budget",
        plan_settings.budget_bytes == 0 ? "none" : format_bytes(plan_settings.budget_bytes));
  if (plan_settings.device != usual.device) add("device", plan_settings.device);
  if (plan_settings.cost_model != usual.cost_model) add("model", plan_settings.cost_model);
  if (plan_settings.effort != usual.effort) add("effort", fmt::format("{}", plan_settings.effort));
  add("saved", fmt::format("{}", fmt::join(plan_settings.overrides.save, ", ")));
  add("recomputed", fmt::format("{}", fmt::join(plan_settings.overrides.recompute, ", ")));
  if (plan_settings.overrides.ignore_checkpoints) add("checkpoint policies", "ignored");
  add("PyTorch's options", fmt::format("{}", fmt::join(plan_settings.torch, " ")));
  const TransformSettings& transforms = plan_settings.transforms;
  if (const auto mode = transforms.differentiate)
    add("differentiated", mode == GradMode::forward ? "in forward mode" : "yes");
  if (transforms.optimizer) add("optimiser", transforms.optimizer->name);
  if (transforms.freeze) add("frozen", "yes");
  add("passes on", fmt::format("{}", fmt::join(transforms.on, ", ")));
  add("passes off", fmt::format("{}", fmt::join(transforms.off, ", ")));
  if (transforms.rules) add("rules", file_name(transforms.rules->path));
  add("graph", transforms.graph);
  add("dimensions", write_dimensions(transforms.dimensions));
  if (transforms.mesh) add("mesh", write_mesh(*transforms.mesh));
  add("selected", document.pending_selection);
  return lines;
}

std::string title_of_fault(const DocumentView& document) {
  if (document.path.empty()) return "This link can't be followed";
  const std::string name = file_name(document.path);
  if (document.state == DocumentState::waiting) return "Waiting for " + name;
  return is_sample(document.path) ? fmt::format("The sample {} can't be opened", name)
                                  : name + " can't be read";
}

class FaultPage {
 public:
  FaultPage(Ui& ui, const PanelInput& input, FaultMemory& memory, const Rect& column,
            Intents& intents)
      : ui_(ui),
        input_(input),
        document_(*input.document),
        memory_(memory),
        intents_(intents),
        column_(column) {}

  // Draws the page; returns its height.
  float draw() {
    const float top = column_.top;
    gap(22);
    const std::string title = title_of_fault(document_);
    ui_.items.add("title", ItemKind::figure, next(34), true, title);
    ui_.text(last_, title, Face::title, ui_.theme.text);
    if (document_.path.find('/') != std::string::npos)
      ui_.path(next(22), document_.path, Face::mono_small, ui_.theme.dim);
    gap(8);
    if (document_.state == DocumentState::waiting)
      wait();
    else
      explain();
    plan_settings();
    readable();
    samples();
    gap(24);
    return column_.top - top;
  }

 private:
  const Rect& next(float units) { return last_ = column_.cut_top(std::round(ui_.px(units))); }
  void gap(float units) { column_.cut_top(std::round(ui_.px(units))); }

  void heading(std::string_view text) {
    gap(14);
    ui_.text(next(28), text, Face::strong, ui_.theme.text);
  }

  void prose(const std::string& paragraph, Colour colour) {
    const Prose text(ui_, {paragraph}, column_.width());
    text.draw(ui_, column_.corner(), colour);
    column_.cut_top(text.height());
  }

  // Draws one of several buttons in a line; true if it is pressed.
  bool press(Rect& line, std::string_view label, std::string_view text,
             ButtonLook look = ButtonLook::plain, bool enabled = true) {
    const float wide = std::round(ui_.width(text, Face::text) + ui_.px(28));
    const Rect rect = line.cut_left(wide);
    line.cut_left(ui_.px(8));
    return button(ui_, label, rect, text, look, enabled);
  }

  void wait() {
    const std::string name = file_name(document_.path);
    prose("The link has its name and how it was shown. Its bytes have to come from you.",
          ui_.theme.dim);
    gap(12);
    const Rect box = next(92);
    ui_.items.add("drop", ItemKind::figure, box, true, name);
    ui_.fill(box, ui_.theme.panel, ui_.px(kRadius));
    ui_.dashed_frame(box, ui_.theme.selection, ui_.px(kRadius), ui_.px(1.4f));
    ui_.text(box, fmt::format("Drop {} here", name), Face::strong, ui_.theme.text, Align::centre);
    gap(12);
    Rect line = next(30);
    if (press(line, "choose", "Choose it …", ButtonLook::primary))
      intents_.push_back({"file.open", ""});
  }

  void explain() {
    const Diagnostics& faults = document_.fault.diagnostics;
    for (std::size_t i = 0; i < std::min(faults.size(), kMaxMessages); ++i) message(i);
    if (faults.size() > kMaxMessages)
      prose(fmt::format("and {} more", faults.size() - kMaxMessages), ui_.theme.dim);
    near();
    dimensions();
    commands();
    gap(14);
    Rect line = next(30);
    const Command& reload = *find_command("file.reload");
    const ButtonLook look =
        document_.fault.dimensions.empty() ? ButtonLook::primary : ButtonLook::plain;
    if (press(line, "again", "Read again (F5)", look, reload.enabled(input_.app)))
      intents_.push_back({"file.reload", ""});
    if (document_.plan_settings.transforms.mesh &&
        press(line, "no mesh", "Open it without the mesh"))
      intents_.push_back({"mesh.none", ""});
    if (press(line, "open", "Open another …")) intents_.push_back({"file.open", ""});
    if (press(line, "copy", "Copy the message")) intents_.push_back({"file.copy_fault", ""});
  }

  void message(std::size_t i) {
    const Diagnostic& fault = document_.fault.diagnostics[i];
    if (fault.line > 0)
      ui_.text(next(20), fmt::format("{}:{}:{}", file_name(fault.file), fault.line, fault.column),
               Face::mono_small, ui_.theme.dim);
    const float top = column_.top;
    prose(fault.message, ui_.theme.conflict);
    ui_.items.add(fmt::format("message {}", i + 1), ItemKind::figure,
                  {column_.left, top, column_.right, column_.top}, true, fault.message);
    gap(4);
    if (i < document_.fault.lines.size() && document_.fault.lines[i])
      excerpt(i, fault, *document_.fault.lines[i]);
    gap(6);
  }

  // Draws the file's line and a caret below it. In a narrow window the caret stays in view.
  void excerpt(std::size_t i, const Diagnostic& fault, const Excerpt& shown) {
    const Rect box = next(50);
    ui_.fill(box, ui_.theme.raised, ui_.px(kRadius));
    Rect rest = box.inset(ui_.px(10), ui_.px(4));
    const std::string number = fmt::format("{}", fault.line);
    const float gutter = ui_.width(number, Face::mono) + ui_.px(14);
    Rect upper = rest.cut_top(rest.height() / 2);
    ui_.text(upper.cut_left(gutter), number, Face::mono, ui_.theme.faint);
    rest.cut_left(gutter);
    const float before = ui_.width(shown.line.substr(0, shown.caret), Face::mono);
    const float left = upper.left - std::max(0.0f, before + ui_.px(40) - upper.width());
    ImGui::PushClipRect({upper.left, box.top}, {upper.right, box.bottom}, true);
    ui_.label({left, upper.centre().y}, shown.line, Face::mono, ui_.theme.text);
    ui_.label({left + before, rest.centre().y}, "^", Face::mono_strong, ui_.theme.conflict);
    ImGui::PopClipRect();
    ui_.items.add(fmt::format("line {}", i + 1), ItemKind::figure, box, true, shown.line);
  }

  void near() {
    if (document_.fault.near.empty()) return;
    heading("Did you mean");
    for (const std::string& path : document_.fault.near) {
      const Rect line = next(kSampleRow);
      if (row(ui_, path, line, false).pressed) intents_.push_back({"file.open", path});
      ui_.path(line.inset(ui_.px(10), 0), path, Face::mono, ui_.theme.text);
    }
  }

  // A field for each, with its former text. A field may stay empty.
  void dimensions() {
    const OpeningFault& fault = document_.fault;
    if (fault.dimensions.empty() && fault.values.empty()) return;
    heading(fault.values.empty() ? "Sizes of the dimensions that this model leaves open"
                                 : "Sizes and values that this model leaves open");
    bool committed = false;
    std::string text;
    for (const std::string& name : fault.dimensions) committed |= size_field(name, "1", text);
    for (const std::string& name : fault.values) committed |= size_field(name, "", text);
    gap(4);
    Rect line = next(30);
    committed |= press(line, "sizes", "Read it with these", ButtonLook::primary);
    if (committed) intents_.push_back({"file.dimensions", text});
  }

  // Adds "name=size" to `text` unless the field is empty; true where it was committed.
  bool size_field(const std::string& name, const char* otherwise, std::string& text) {
    Rect line = next(34).inset(0, ui_.px(3));
    const auto given = document_.plan_settings.transforms.dimensions.find(name);
    const bool known = given != document_.plan_settings.transforms.dimensions.end();
    auto& typed = memory_.sizes.emplace(name, known ? fmt::format("{}", given->second) : otherwise)
                      .first->second;
    FieldLook look;
    look.face = Face::mono;
    const auto& first =
        document_.fault.dimensions.empty() ? document_.fault.values : document_.fault.dimensions;
    look.take_keyboard = !memory_.took_keyboard && name == first.front();
    const FieldAnswer answer = field(ui_, "size " + name, line.cut_left(ui_.px(110)), typed, look);
    memory_.took_keyboard |= answer.active;
    line.cut_left(ui_.px(12));
    ui_.text(line, name, Face::mono, ui_.theme.text);
    if (!typed.empty()) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, typed);
    return answer.committed;
  }

  void commands() {
    for (const std::string& command : commands_in(document_.fault)) {
      gap(6);
      Rect line = next(34);
      ui_.fill(line, ui_.theme.raised, ui_.px(kRadius));
      line = line.inset(ui_.px(10), ui_.px(4));
      if (button(ui_, "copy command", line.cut_right(ui_.px(70)), "Copy"))
        intents_.push_back({"file.copy_fault", command});
      ui_.text(line, command, Face::mono, ui_.theme.text);
    }
  }

  void plan_settings() {
    const auto lines = plan_setting_rows(document_);
    if (lines.empty()) return;
    heading("It opens with");
    for (const auto& [what, text] : lines) {
      Rect line = next(22);
      ui_.items.add("setting " + what, ItemKind::figure, line, true, text);
      ui_.text(line.cut_left(ui_.px(110)), what, Face::text, ui_.theme.dim);
      ui_.text(line, text, Face::mono, ui_.theme.text);
    }
  }

  void readable() {
    heading("Formats that Recut reads");
    for (const char* text :
         {"A joint graph as `recut_torch.export` writes it: fx-joint-graph, `.json` or `.json.gz`",
          "A graph that PyTorch printed: `print_readable`, a log of TORCH_LOGS, or a TORCH_TRACE "
          "file",
          "A graph in Recut's own text: `.recut`, which begins with the word `graph`",
          "A program that `torch.export.save` wrote, `.pt2`, with its weights",
          "A model for inference: `.onnx`, whose graph is differentiated here"})
      prose(text, ui_.theme.dim);
  }

  void samples() {
    heading("Or look at a sample");
    for (const std::string& name : all_samples(input_.app.backend)) {
      const Rect line = next(kSampleRow);
      if (row(ui_, "sample " + name, line, false).pressed)
        intents_.push_back({"file.sample", name});
      sample_cells(ui_, input_.app.backend, name, line);
    }
  }

  Ui& ui_;
  const PanelInput& input_;
  const DocumentView& document_;
  FaultMemory& memory_;
  Intents& intents_;
  Rect column_, last_;
};

void draw_fault(Ui& ui, const PanelInput& input, Intents& intents) {
  ui.fill(input.whole, ui.theme.background);
  auto& memory = input.memory<FaultMemory>("fault");
  const Scrolled region = begin_scroll(ui, "page", input.whole, memory.height);
  const float wide = std::min(ui.px(760), region.content.width() - ui.px(28));
  Rect column = region.content;
  column.left = std::round(column.centre().x - wide / 2);
  column.right = column.left + wide;
  column.bottom = column.top + ui.px(kEndless);
  memory.height = FaultPage(ui, input, memory, column, intents).draw();
  end_scroll();
}

}  // namespace

Panel fault_panel() {
  Panel panel{"fault", "", Dock::centre, 0, 1, draw_fault};
  panel.window_state = WindowState::stuck;
  return panel;
}

}  // namespace recut::gui
