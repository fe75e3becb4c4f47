// A document's state as the fragment of an address: view, plan settings and selection, so that a
// link shows others the same view.
//
//
// v=1&sample=gpt2&budget=4563402752&device=h100&model=fused&effort=0.5&save=relu&again=mm&again=mm_1
//      &grad=1&mesh=dp%3D2,tp%3D4%20dp%3Dfsdp,tp%3Dtp&on=attention&off=merge_clones&rules=my.rules&rule-text=rule…
//      &select=add_33&pass=3&camera=12.5,340,0.8&open=9c3f,b02&theme=dark
//
// Rules travel whole where they are short; of longer ones the link has the name, and tells the user
// who follows it.
// Names and values are percent-encoded. `sample` is a graph that comes with the program; `file` is
// the name of one of the author's own, whose bytes no link carries. The user who follows the link
// has to open it, and a document waits with its state until then.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gui/model/document_view.h"
#include "gui/model/saved_document.h"

namespace recut::gui {

class App;

struct LinkState {
  std::string sample, file;  // one of them, or none
  PlanSettings plan_settings;
  std::string selected;             // a node's name, "" for none
  std::optional<std::size_t> pass;  // none: the last graph
  SavedView view;                   // of the graph
  std::string theme;                // "dark", "light"; "": as the reader has it

  bool operator==(const LinkState& other) const;
};

std::string write_link(const LinkState& state);
// Fails, with a message for the user, on a fragment that write_link doesn't write.
Result<LinkState> read_link(std::string_view fragment);

// The link of the document in front.
LinkState link_of(const App& app);
// The link in the address bar: the opened link, until the graph of the document is there.
std::string address_of(const App& app);
// Shows a link's state: a document of its sample or file, in the place of one that is open already.
// One whose file isn't here waits for it, and one whose sample isn't here says so. Fails, and
// changes nothing, where the link is damaged.
Result<Done> follow_link(App& app, std::string_view fragment);
// Opens a document that shows why a link can't be followed.
void show_bad_link(App& app, std::string_view fragment, const Diagnostics& why);

}  // namespace recut::gui
