// The parts of the code panel: the kernels in order, and the text of one of them.
#pragma once

#include "gui/app/code_view.h"
#include "gui/app/panel.h"
#include "gui/app/run_view.h"

namespace recut::gui {

// A frame of the panel.
struct CodePanelContext {
  Ui& ui;
  const PanelInput& input;
  const DocumentView& document;
  CodeView& view;
  Intents& intents;
  const ScheduleView& schedule;
  SharedRun run;  // of this schedule; null where it hasn't run
};

// code_list.cpp
void draw_kernels(const CodePanelContext& context, Rect area);

// code_lines.cpp
void draw_code(const CodePanelContext& context, const Rect& area);

}  // namespace recut::gui
