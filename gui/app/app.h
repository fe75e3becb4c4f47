// The application: documents, the table of commands, and the frame. It knows a Backend, and no
// platform.
//
// A tick takes pending input and messages of jobs, and draws a few frames after each change; a tick
// without one draws nothing, so that a window at rest costs nothing. While a job measures times,
// all pending frames wait for it, except the response to a key or a button.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/app/arrangement.h"
#include "gui/app/command.h"
#include "gui/app/hold.h"
#include "gui/app/lessons.h"
#include "gui/app/panel.h"
#include "gui/app/settings.h"
#include "gui/app/undo.h"
#include "gui/backend/backend.h"
#include "gui/backend/jobs.h"
#include "gui/draw/fonts.h"
#include "gui/draw/items.h"
#include "gui/draw/motion.h"
#include "gui/jobs/planner.h"
#include "gui/model/documents.h"

struct ImGuiContext;

namespace recut::gui {

struct AppOptions {
  bool restore = true;             // the workspace that was saved
  bool remember = true;            // save it
  std::vector<std::string> files;  // to open at the start
  std::string rules;               // a file of rules for each of them; "" for none
  double effort = 1;               // of searches, for the graphs that are opened
  bool welcome = true;             // opens a sample where there is nothing to restore
  bool threads = true;             // use the backend's, where it has them
  std::string link;                // a state to begin with, as link.h writes it, instead of the
                                   // documents of the workspace; "" for none
};

// The open menu, and the row that the keys are at.
struct OpenMenu {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::string id;  // "file"; "" for none
  std::size_t row = kNone;
};

// Keys that are held down, by the input so far; ImGui may receive them later.
struct Modifiers {
  bool ctrl = false, shift = false, alt = false;
};

// A message that is shown for some seconds.
struct Notice {
  std::string text;
  bool fault = false;
  double until = 0;
  std::string command = {};  // that failed; "" of none
};

class App {
 public:
  explicit App(Backend& backend, AppOptions options = {});
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  // The loop.
  bool tick();  // whether it drew a frame
  // The seconds for which nothing will happen by itself: 0 while frames are pending or animations
  // run; none: until input or a job's message.
  std::optional<double> rest() const;
  bool closing() const { return closing_; }
  int frames() const { return frames_; }
  // Adds input to the backend's, for scripts.
  void feed(InputEvent event);
  void want_frames();  // something changed

  // Runs a row of the table. Its change of the plan settings can be undone. Fails with a message.
  Result<Done> run(std::string_view command, std::string_view argument = {});

  // For commands.
  void open(const std::string& path, std::shared_ptr<const std::string> bytes = nullptr);
  // Makes the file the rules of the document in front, or of the next opened one if there is none.
  // Fails with all diagnostics of the file, which the transforms show, too.
  Result<Done> load_rules(const std::string& path,
                          const std::shared_ptr<const std::string>& bytes = nullptr);
  // Opens a document of a file that couldn't be read, which shows the diagnostics.
  void open_failed(const std::string& path, Diagnostics why);
  void close_document(int serial);
  void say(std::string text, bool fault = false);
  // Shows the reason for which a command failed, instead of the reason of an earlier one.
  void note_outcome(const std::string& command, const Result<Done>& done);
  void close() { closing_ = true; }
  void give_focus(std::string_view panel);  // to a panel that can have it
  bool undo(bool redo);
  void save_workspace();

  DocumentView* document() { return documents.front(); }
  const DocumentView* document() const { return documents.front(); }
  bool has_ready() const;
  WindowState window_state() const;
  bool first_screen = false;  // true at the first start, until the user chose something on it

  const Theme& theme() const;
  bool is_dark() const;
  float scale() const;  // the backend's times the user's

  // Idle: no job runs and nothing moves. Settled: the next frame looks like the last one, even if a
  // job runs.
  bool idle() const;
  bool settled() const {
    return fed_.empty() && waiting_.empty() &&
           (waits_for_times() || (frames_owed_ == 0 && !motion.moving()));
  }
  // The part of the state with that name ("budget", "selection", "documents" …) as text, for
  // scripts and tests; nullopt for an unknown name.
  std::optional<std::string> state(std::string_view name) const;

  Backend& backend;
  Settings settings;
  Documents documents;
  Jobs jobs;
  Planner planner;
  UndoStack history;
  Lessons lessons;
  Items items;
  Motion motion;
  std::vector<Notice> notices;
  OpenMenu menu;
  bool touched = false;  // a finger pointed last: it taps, and there may be no keys
  std::string focus;     // the id of the panel that was used last: its keys come first; "" for none
  std::string overlay;   // the id of the panel that lies over everything; "" for none
  std::string overlay_argument;           // its argument, such as a value's name
  std::optional<RuleFile> awaited_rules;  // until a graph is opened
  const std::vector<Panel> panels;

 private:
  Result<Done> track(std::string_view command, const std::function<Result<Done>()>& work);
  void choose_graph(const DocumentView& opened);
  void open_rules(const std::string& path, const std::shared_ptr<const std::string>& bytes);
  void open_measured(const std::string& path, std::shared_ptr<const std::string> bytes);
  void take(std::vector<InputEvent> events);
  void take(const InputEvent& event);
  void take_pointer(const PointerMoved& moved);
  void take_button(const PointerButton& button);
  void take_text(const TextTyped& typed);
  void take_focus_change(const FocusChanged& change);
  bool waits_for_field() const;
  void tell_modifiers() const;  // to ImGui
  void tell_key(const KeyChanged& key) const;
  void take_key(const KeyChanged& key);
  bool take_focus_key(const KeyChanged& key);
  void take_alt(bool down);
  bool take_menu_key(std::string_view hotkey);
  // Runs the command that this key belongs to. Among the possible ones, the first of the lesson's
  // popup wins, else of the panel that has the focus, else the first without a panel, else the
  // first of the graph, which has the keys that no other panel claims. An overlay over the panels
  // hides their keys.
  bool press(std::string_view hotkey);
  bool press_of(std::string_view panel, std::string_view hotkey);
  void begin_frame();
  void frame();
  void draw(Intents& intents);
  void perform(const Intents& intents);
  void draw_panel(const Panel& panel, const Rect& area, const TabGroup* tab_group, bool compact,
                  Ui& ui, Intents& intents);
  void take_focus(const Panel& panel, const Rect& area, Ui& ui);
  float titles_width(const TabGroup& tab_group, const Ui& ui) const;
  float draw_titles(const Panel& panel, const TabGroup* tab_group, const Rect& row, Ui& ui,
                    Intents& intents) const;
  void draw_tabs(const TabGroup& tab_group, const std::vector<Rect>& rects, Ui& ui,
                 Intents& intents) const;
  void draw_tab_rows(const TabGroup& tab_group, Rect& whole, Ui& ui, Intents& intents) const;
  void draw_floating_panels(Ui& ui, Intents& intents);
  void draw_overlay(Ui& ui, Intents& intents);
  void draw_notices(const Rect& middle, Ui& ui);
  void drag(const Splitter& splitter, Ui& ui);
  void rebuild_fonts();
  void save_when_due();
  void open_first();
  void end_first_screen();
  bool restore_workspace(bool with_documents);  // whether there was one
  void show_title();
  bool draw_what_is_owed(double began);
  bool waits_for_times() const { return !answers_ && jobs.measuring(); }

  const AppOptions options_;
  ImGuiContext* context_ = nullptr;
  Fonts fonts_;
  float fonts_scale_ = 0;
  std::vector<InputEvent> fed_;
  std::vector<InputEvent> waiting_;  // text and later events, until a field has the keyboard
  int field_due_ = 0;                // the frame by which it has it, or never will
  Modifiers held_;
  Holds holds_;
  std::string drawn_overlay_;
  int frames_owed_ = 3;
  bool put_off_ = false;  // the last tick left its frame to this one
  bool answers_ = false;  // the user waits for the next frame, even while a job measures
  int frames_ = 0;
  double last_frame_ = 0;
  double save_due_ = -1;  // when the workspace is saved; below 0: nothing changed
  int seen_changes_ = 0;  // of the settings
  double hint_due_ =
      -1;  // when the pointer has rested long enough for a hint; below 0: it moves none
  bool closing_ = false;
  bool tracking_ = false;    // a command is at work whose changes of settings are seen to
  bool alt_alone_ = false;   // Alt went down, and nothing else since
  PanelMemory no_document_;  // memories where no document is open
};

}  // namespace recut::gui
