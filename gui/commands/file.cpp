// Commands that open, close and switch documents.
#include <fmt/format.h>

#include <cstdlib>

#include "engine/input/graph_list.h"
#include "engine/support/text.h"
#include "gui/app/app.h"
#include "gui/app/graphs_view.h"
#include "gui/app/size_slider.h"
#include "gui/backend/paths.h"
#include "gui/model/samples.h"
#include "gui/model/saved_document.h"

namespace recut::gui {
namespace {

bool has_document(const App& app) { return app.document() != nullptr; }
bool has_file(const App& app) {
  return has_document(app) && !app.document()->path.empty() && !is_pasted(app.document()->path);
}
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

// A graph that PyTorch printed, a log, JSON or Recut's text form, as copied from a report.
Result<Done> paste_file(App& app, std::string_view) {
  auto text = std::make_shared<const std::string>(app.backend.clipboard());
  if (!looks_like_graphs(*text))
    return error(
        "the clipboard holds no graph: expected one that PyTorch printed, a log, JSON or "
        "Recut's text form");
  std::size_t number = 1;
  const auto path = [&] { return fmt::format("{}graph {}", kPastedPath, number); };
  while (app.documents.find_path(path()) != nullptr) ++number;
  app.open(path(), std::move(text));
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

// Sizes of some symbols beside the others'. The budget is in bytes and stays, so that it is seen
// whether the sizes fit.
Result<Done> set_size(App& app, std::string_view argument) {
  const auto size = read_dimensions(argument);
  if (!size) return size.diagnostics();
  app.document()->chose_budget = true;
  return set_dimensions(app, sizes_with(*app.document(), *size));
}

bool has_graphs(const App& app) {
  return has_document(app) && app.document()->document &&
         app.document()->document->file.graph_keys.size() > 1;
}

// Another graph of the file: by its key, by that without its compilation, or by the end of a key,
// if only one graph has it.
Result<Done> choose_graph(App& app, std::string_view argument) {
  const std::vector<std::string>& keys = app.document()->document->file.graph_keys;
  const auto fits = [&](const std::string& key, int exactness) {
    if (argument.empty() || !key.ends_with(argument)) return false;
    const std::size_t before = key.size() - argument.size();
    return exactness == 0 || before == 0 || (exactness == 1 && key[before - 1] == '/');
  };
  std::vector<std::string> fitting;
  for (int exactness = 2; exactness >= 0 && fitting.empty(); --exactness)
    for (const std::string& key : keys)
      if (fits(key, exactness)) fitting.push_back(key);
  if (fitting.size() != 1)
    return error(fmt::format("{} is {} of this file's graphs, expected one of {}", quote(argument),
                             fitting.empty() ? "none" : "more than one", fmt::join(keys, ", ")));
  app.document()->plan_settings.transforms.graph = fitting.front();
  return Done{};
}
bool shows_graph(const App& app, std::string_view argument) {
  return app.document()->document->file.key == argument;
}

Result<Done> choose_graph_from_list(App& app, std::string_view) {
  app.overlay = "graphs";
  return Done{};
}

Result<Done> prepare_graph_list(App& app, std::string_view) {
  if (wants_graph_list(app, *app.document())) start_graph_list(app, *app.document());
  return Done{};
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
    {"file.paste", "Open the graph on the clipboard", "Ctrl+V", "", nullptr, paste_file},
    {"file.sample", "Open a sample", "", "", nullptr, sample},
    {"file.reload", "Read the file again", "F5 Ctrl+R", "", has_file, reload_file},
    {"file.dimensions", "Set sizes of symbols or open dimensions", "", "s17=64,s48=512 or batch=1",
     has_open_dimensions, set_dimensions},
    {"file.size", "Change sizes of symbols for this budget", "", "s17=64", has_open_dimensions,
     set_size},
    {"file.graphs", "Choose a graph of the file", "", "", has_graphs, choose_graph_from_list},
    {"file.list_graphs", "", "", "", has_document, prepare_graph_list},
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
