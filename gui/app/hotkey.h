// Hotkeys: keys with modifiers in the notation of the command table, "Ctrl+Shift+P".
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

namespace recut::gui {

class App;

// The hotkey of a pressed key; "" for a modifier alone.
std::string hotkey_of(ImGuiKey key, bool ctrl, bool shift, bool alt);

// The first of a command's hotkeys as users read it: "Ctrl Down", "Page Up"; "" for none.
std::string readable_hotkey(std::string_view hotkeys);

// True if `requested` is one of a command's hotkeys, which stand with blanks between them.
bool has_hotkey(std::string_view hotkeys, std::string_view requested);

// True for keys with Ctrl or Alt, and function keys: they neither type nor move something.
bool is_modified(std::string_view hotkey);

// True for keys that a text field uses: letters, and keys that move the cursor or edit.
bool is_for_text(std::string_view hotkey);

// True if the window uses the key, for a command, for editing text or for moving in a list: the
// platform (a browser) should then not act on it.
bool is_taken(const App& app, std::string_view hotkey);

}  // namespace recut::gui
