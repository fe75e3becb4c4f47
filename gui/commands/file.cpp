// Commands that open, close and switch documents.
#include <fmt/format.h>

#include <cstdlib>

#include "engine/support/text.h"
#include "gui/app/app.h"
#include "gui/backend/paths.h"
#include "gui/model/samples.h"
#include "gui/model/saved_document.h"

namespace recut::gui {
namespace {

bool has_document(const App& app) { return app.document() != nullptr; }
bool has_file(const App& app) { return has_document(app) && !app.document()->path.empty(); }
bool has_fault(const App& app) {
  return has_document(app) && app.document()->state == DocumentState::failed;
}
bool has_open_dimensions(const App& app) {
  if (!has_document(app)) return false;
  const DocumentView& front = *app.document();
  return !front.fault.dimensions.empty() || !front.fault.values.empty() ||
         !front.plan_settings.transforms.dimensions.empty() ||
         (front.document && !front.document->file.symbols.empty());
}
bool has_several(const App& app) { return app.documents.all().size() > 1; }

Result<Done> open_file(App& app, std::string_view path) {
  if (!path.empty()) {
    app.open(std::string(path));
    return Done{};
  }
  if (!app.backend.ask_for_file()) app.overlay = "open";
  return Done{};
}

Result<Done> close_file(App& app, std::string_view serial) {
  const int requested =
      serial.empty() ? app.document()->serial : std::atoi(std::string(serial).c_str());
  if (app.documents.find(requested) == nullptr) return error("no such document");
  app.close_document(requested);
  return Done{};
}

Result<Done> reload_file(App& app, std::string_view) {
  const DocumentView& old = *app.document();
  SavedDocument saved = saved_of(old);
  std::optional<RuleFile>& rules = saved.plan_settings.transforms.rules;
  if (rules)
    if (auto text = app.backend.read(rules->path)) {
      TransformSettings anew;
      anew.rules = RuleFile{rules->path, std::move(*text)};
      if (options_of(anew)) rules = anew.rules;
    }
  // Restored before it is opened, as the graph depends on the transform settings.
  app.close_document(old.serial);
  DocumentView& document = app.documents.add(saved.path, nullptr);
  restore(document, saved);
  app.planner.open(document);
  return Done{};
}

Result<Done> show_file(App& app, std::string_view serial) {
  const int requested = std::atoi(std::string(serial).c_str());
  if (app.documents.find(requested) == nullptr) return error("no such document");
  app.documents.show(requested);
  return Done{};
}

template <int by>
Result<Done> step_file(App& app, std::string_view) {
  app.documents.show(app.documents.neighbour(by)->serial);
  return Done{};
}

Result<Done> sample(App& app, std::string_view name) {
  if (name.empty()) {
    app.overlay = "samples";
    return Done{};
  }
  if (!has_sample(app.backend, name)) return no_sample(app.backend, name);
  app.open(sample_path(name));
  return Done{};
}

// Sizes for the model's open dimensions or symbols; the file is read again with them.
Result<Done> set_dimensions(App& app, std::string_view argument) {
  auto sizes = read_dimensions(argument);
  if (!sizes) return sizes.diagnostics();
  app.document()->plan_settings.transforms.dimensions = std::move(*sizes);
  return Done{};
}

bool has_graphs(const App& app) {
  return has_document(app) && app.document()->document &&
         app.document()->document->file.graph_keys.size() > 1;
}

// Another graph of the file, by its key or by the end of it that only one has.
Result<Done> choose_graph(App& app, std::string_view argument) {
  const std::vector<std::string>& keys = app.document()->document->file.graph_keys;
  const std::string* chosen = nullptr;
  std::size_t fitting = 0;
  for (const std::string& key : keys) {
    if (!key.ends_with(argument) || argument.empty()) continue;
    const bool whole = key == argument;
    if (whole) fitting = 0;
    chosen = &key;
    ++fitting;
    if (whole) break;
  }
  if (fitting != 1)
    return error(fmt::format("{} is {} of this file's graphs, expected one of {}", quote(argument),
                             fitting == 0 ? "none" : "more than one", fmt::join(keys, ", ")));
  app.document()->plan_settings.transforms.graph = *chosen;
  return Done{};
}
bool shows_graph(const App& app, std::string_view argument) {
  return app.document()->document->file.key == argument;
}

Result<Done> copy_fault(App& app, std::string_view argument) {
  const std::string all = text_of(app.document()->fault);
  app.backend.set_clipboard(argument.empty() ? all : std::string(argument));
  app.say("Copied");
  return Done{};
}

Result<Done> quit(App& app, std::string_view) {
  app.close();
  return Done{};
}

constexpr Command kFileRows[] = {
    {"file.open", "Open a graph", "Ctrl+O", "", nullptr, open_file},
    {"file.sample", "Open a sample", "", "", nullptr, sample},
    {"file.reload", "Read the file again", "F5 Ctrl+R", "", has_file, reload_file},
    {"file.dimensions", "Set sizes of symbols or open dimensions", "", "s17=64,s48=512 or batch=1",
     has_open_dimensions, set_dimensions},
    {"file.graph", "Open another graph of the file", "", "joint or 0/0/aot_forward_graph",
     has_graphs, choose_graph, "", shows_graph},
    {"file.copy_fault", "Copy why the file can't be read", "", "", has_fault, copy_fault},
    {"file.close", "Close the document", "Ctrl+W", "", has_document, close_file},
    {"file.show", "", "", "", has_document, show_file},
    {"file.next", "Next document", "Ctrl+Tab Ctrl+PageDown", "", has_several, step_file<1>},
    {"file.previous", "Previous document", "Ctrl+Shift+Tab Ctrl+PageUp", "", has_several,
     step_file<-1>},
    {"file.quit", "Quit", "Ctrl+Q", "", nullptr, quit},
};

}  // namespace

std::span<const Command> file_commands() { return kFileRows; }

}  // namespace recut::gui
