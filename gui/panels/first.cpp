// The first screen, above a step's memory and its trade-off: the purpose in one sentence, the
// blocks of the model, the cost of the plan, and how to get one's own model in. The rest of the
// window comes after the first drag.
#include <fmt/core.h>

#include <algorithm>

#include "gui/app/app.h"
#include "gui/app/first_view.h"
#include "gui/draw/widgets.h"

namespace recut::gui {
namespace {

constexpr const char* kWhatItIs =
    "Recut keeps some activations for backward and computes others again, so that a training step "
    "peaks where you say, at the least extra time, with a proof of how near to the least it is.";
constexpr const char* kExport = "recut_torch.export(model, args, \"m.json.gz\")";
constexpr float kSide = 340;  // units: the column of actions beside it

struct FirstMemory {
  std::shared_ptr<const Document> layers_of;
  LayerBands layers;
};

class FirstScreen {
 public:
  FirstScreen(Ui& ui, const PanelInput& input, Intents& intents)
      : ui_(ui), input_(input), intents_(intents) {}

  void draw() {
    ui_.fill(input_.whole, ui_.theme.background);
    const bool wide = input_.whole.width() > ui_.px(2 * kSide + 2 * 28);
    Rect area = input_.whole.inset(ui_.px(wide ? 28 : 16), ui_.px(wide ? 22 : 14));
    if (wide) {
      Rect side = area.cut_right(ui_.px(kSide));
      area.cut_right(ui_.px(36));
      choices(side, wide);
    }
    story(area);
    if (!wide) choices(area, wide);
  }

 private:
  // A text on as many lines as it takes.
  void paragraph(Rect& area, std::string_view text, Face face, Colour colour, float gap) {
    const float high = wrapped_height(ui_, text, area.width(), face);
    wrapped(ui_, area.cut_top(high), text, colour, face);
    area.cut_top(ui_.px(gap));
  }

  // Draws a paragraph, and adds it as a figure of that label.
  void paragraph(Rect& area, std::string_view label, const std::string& text, Face face,
                 float gap) {
    Rect rect = area;
    ui_.items.add(label, ItemKind::figure,
                  rect.cut_top(wrapped_height(ui_, text, area.width(), face)), true, text);
    paragraph(area, text, face, ui_.theme.text, gap);
  }

  void story(Rect& area) {
    const DocumentView* document = input_.document;
    if (document == nullptr) return;
    const std::string sentence = first_sentence(*document);
    paragraph(area, "sentence", sentence, Face::title, 10);
    paragraph(area, kWhatItIs, Face::text, ui_.theme.dim, 18);
    if (input_.ready() == nullptr) return;
    blocks(area, *document);
    const std::string cost = first_cost(*document);
    paragraph(area, "cost", cost, Face::strong, 12);
  }

  // A block's share turns from amber to violet as the budget sinks.
  void blocks(Rect& area, const DocumentView& document) {
    auto& memory = input_.memory<FirstMemory>("first");
    if (memory.layers_of != document.document) {
      memory.layers_of = document.document;
      memory.layers = layer_bands(*document.start);
    }
    const auto blocks = first_blocks(*document.shown, memory.layers);
    if (blocks.empty()) return;
    Rect strip = area.cut_top(ui_.px(34));
    Rect names = area.cut_top(ui_.px(20));
    const float gap = ui_.px(4);
    const float wide = (strip.width() + gap) / static_cast<float>(blocks.size());
    for (const FirstBlock& block : blocks) {
      Rect bar = strip.cut_left(wide);
      bar.right -= gap;
      ui_.fill(bar, ui_.theme.raised, ui_.px(2));
      const std::string text =
          fmt::format("saved {:.0f} %, recomputed {:.0f} %", 100 * block.saved, 100 * block.again);
      const WidgetResponse t =
          interact(ui_, "block " + block.name, ItemKind::figure, bar, true, text);
      if (t.hovered) hint(ui_, block.name + ": of the bytes that it makes " + text);
      const float all = bar.width();
      ui_.fill(bar.cut_left(all * static_cast<float>(std::min(1.0, block.saved))), ui_.theme.saved,
               ui_.px(2));
      ui_.fill(bar.cut_left(all * static_cast<float>(std::min(1.0, block.again))),
               ui_.theme.recomputed, ui_.px(2));
      ui_.text(names.cut_left(wide), block.name, Face::small, ui_.theme.dim);
    }
    Rect key = area.cut_top(ui_.px(22));
    for (const auto& [colour, text] : {std::pair(ui_.theme.saved, "saved for backward"),
                                       std::pair(ui_.theme.recomputed, "recomputed in backward")}) {
      const Rect sign = rect_around(key.cut_left(ui_.px(14)).centre(), ui_.px(9), ui_.px(9));
      ui_.fill(sign, colour, ui_.px(2));
      ui_.text(key.cut_left(ui_.width(text, Face::small) + ui_.px(18)), text, Face::small,
               ui_.theme.dim);
    }
    area.cut_top(ui_.px(12));
  }

  void choices(Rect& side, bool wide) {
    if (button(ui_, "workbench", line(side, 32), "Open the workbench  ↵", ButtonLook::primary))
      intents_.push_back({"first.leave", ""});
    side.cut_top(ui_.px(8));
    Rect learn = line(side, 30);
    Rect samples = wide ? Rect() : learn.cut_right((learn.width() - ui_.px(8)) / 2);
    if (wide) {
      side.cut_top(ui_.px(8));
      samples = line(side, 30);
    } else {
      learn.cut_right(ui_.px(8));
    }
    if (button(ui_, "learn", learn, "Learn it in five minutes"))
      intents_.push_back({"lesson.list", ""});
    if (button(ui_, "samples", samples, wide ? "Look at another sample" : "Other samples"))
      intents_.push_back({"file.sample", ""});
    side.cut_top(ui_.px(wide ? 14 : 8));
    own_model(side);
  }

  // The PyTorch call has a row of its own, so that it can be read whole on a phone, too.
  void own_model(Rect& side) {
    if (side.height() < ui_.target(28) + ui_.px(40)) return;
    Rect heading = line(side, 28);
    if (button(ui_, "copy", heading.cut_right(ui_.px(64)), "Copy"))
      intents_.push_back({"first.copy", kExport});
    hint(ui_, "Copy the call that writes your model's graph");
    ui_.text(heading, "Your model", Face::strong, ui_.theme.text);
    ui_.text(side.cut_top(ui_.px(20)), kExport, Face::mono_small, ui_.theme.text);
    ui_.text(side.cut_top(ui_.px(20)), "in Python, then drop the file here; or an .onnx file",
             Face::small, ui_.theme.dim);
  }

  Rect line(Rect& side, float units) { return side.cut_top(ui_.target(units)); }

  Ui& ui_;
  const PanelInput& input_;
  Intents& intents_;
};

void draw_first(Ui& ui, const PanelInput& input, Intents& intents) {
  FirstScreen(ui, input, intents).draw();
}

}  // namespace

Panel first_panel() {
  Panel panel{"first", "", Dock::centre, 0, 1, draw_first};
  panel.window_state = WindowState::first;
  return panel;
}

}  // namespace recut::gui
