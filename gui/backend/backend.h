// The platform as the window needs it. The desktop, the page and the tests each implement it;
// nothing else in `gui` knows the platform.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/input/dimensions.h"
#include "engine/input/graph_file.h"
#include "engine/support/result.h"
#include "engine/workspace/debug_bundle.h"
#include "engine/workspace/executor.h"
#include "gui/backend/helper.h"
#include "gui/backend/paths.h"

namespace recut::gui {

// Positions are in pixels of the framebuffer, from the top left corner.
struct PointerMoved {
  float x = 0, y = 0;
  bool finger = false;
};
struct PointerButton {
  int button = 0;  // 0 left, 1 right, 2 middle
  bool down = false;
};
struct WheelTurned {
  float x = 0, y = 0;  // in steps; up and left are positive
};
struct KeyChanged {
  ImGuiKey key = ImGuiKey_None;  // modifiers (ImGuiMod_Ctrl) come as keys of their own, before it
  bool down = false;
};
struct TextTyped {
  std::string text;  // UTF-8
};
// A file that the user dropped on the window or chose in the platform's dialog. If the program
// can't read it by name (a page), its bytes are here.
struct FileGiven {
  std::string path;
  std::optional<std::string> bytes;
};
struct FocusChanged {
  bool focused = true;
};
struct SizeChanged {};  // of the window, or its scale
struct CloseRequested {};
using InputEvent = std::variant<PointerMoved, PointerButton, WheelTurned, KeyChanged, TextTyped,
                                FileGiven, FocusChanged, SizeChanged, CloseRequested>;

struct Extent {
  int width = 0, height = 0;  // pixels of the framebuffer
};

struct FolderEntry {
  std::string name;
  bool folder = false;
  std::int64_t bytes = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // The window.
  virtual Extent extent() const = 0;
  virtual float scale() const = 0;  // pixels for one unit of length: 1 … 3
  virtual std::vector<InputEvent> take_input() = 0;
  virtual void upload_fonts(ImFontAtlas& atlas) = 0;  // after the atlas changed
  virtual void draw(const ImDrawData& data) = 0;
  virtual void end_drawing() {}  // ImGui goes away
  // Writes the last frame as PNG. Fails also if it is all of one colour. A backend that draws
  // nothing writes nothing and succeeds.
  virtual Result<Done> save_picture(const std::string&) { return Done{}; }
  virtual void set_title(const std::string&) {}
  virtual void set_cursor(ImGuiMouseCursor) {}
  virtual bool prefers_dark() const { return true; }
  // True if the pointer is mostly a finger: widgets to press are larger then.
  virtual bool has_fingers() const { return false; }

  // Seconds; grows steadily.
  virtual double now() const = 0;

  // Makes a waiting window look at its jobs' messages. Called from any thread.
  virtual void wake() {}
  // True if jobs may have threads of their own; where not, they run in slices between frames.
  virtual bool has_threads() const { return false; }
  // Does long work on platforms without threads; null: nothing does.
  virtual Helper* helper() { return nullptr; }

  // The path of the device profile that was measured on this machine; empty: none was.
  virtual std::string calibrated_profile() const { return {}; }

  // The executors that run steps as machine code, the usual one first; none: steps can't run.
  virtual std::vector<Executor*> executors() { return {}; }

  // Files; reading may happen on any thread. A path that begins with "sample:" names a graph that
  // comes with the program.
  virtual Result<std::string> read(const std::string& path) = 0;
  // True if read() can answer at once. Otherwise (a page has to fetch the file first) this starts
  // the fetch, and wake() is called once it is done.
  virtual bool can_read(const std::string&) { return true; }
  // True if the user has to give that file: a page can read only files that it was given before.
  virtual bool has_to_be_given(const std::string&) const { return false; }
  // True if the reader of files of this kind is loaded. Otherwise (a page fetches the reader of
  // ONNX models when the first one is opened) this starts the fetch, and wake() is called then.
  virtual bool has_reader(const std::string&) { return true; }
  // A model in a format that is the platform's to read: nothing where the bytes are for the engine.
  // The last argument gives the sizes of dimensions that the model leaves open. Called on any
  // thread, too.
  virtual std::optional<Result<GraphFile>> read_model(const std::string&, const std::string&,
                                                      const Dimensions&) {
    return std::nullopt;
  }
  // The names of these dimensions. Called on any thread, too.
  virtual std::vector<std::string> open_dimensions(const std::string&, const std::string&) {
    return {};
  }
  virtual Result<Done> write(const std::string& path, std::string_view bytes) = 0;
  // Writes files into a folder, on a job's thread where there are threads, and returns the written
  // path. A platform without folders writes one archive, as this does.
  virtual Result<std::string> write_folder(const std::string& folder,
                                           std::span<const BundleFile> files);
  virtual std::vector<std::string> samples() const { return {}; }
  // Opens the platform's own dialog and returns true if it has one; the chosen file comes as
  // FileGiven. Else the window asks by itself, and looks around with `list`.
  virtual bool ask_for_file() { return false; }
  virtual Result<std::vector<FolderEntry>> list(const std::string& folder) = 0;
  virtual std::string home() const { return {}; }

  // Small texts that outlive the program: the workspace, preferences.
  virtual std::optional<std::string> load(const std::string& name) = 0;
  virtual void store(const std::string& name, const std::string& text) = 0;

  virtual std::string clipboard() = 0;
  virtual void set_clipboard(const std::string& text) = 0;
};

}  // namespace recut::gui
