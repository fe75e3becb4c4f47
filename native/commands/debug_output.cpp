#include "native/commands/debug_output.h"

#include <fmt/core.h>

#include <filesystem>

#include "engine/support/shell_word.h"
#include "native/written_files.h"

// The bundle's content is engine/workspace/debug_bundle.h. A failed check only names the next
// command by default, since a bundle of a large graph takes a while:
//   recut run FILE --check  ⇒  next: recut run FILE --check --debug-dir debug

namespace recut::native {

void DebugOutput::add_to(CLI::App& command) {
  command
      .add_option("--debug-dir", folder,
                  "Folder for a debug bundle if a check fails: graphs, plan, code, and programs "
                  "that run it again (recut debug)")
      ->type_name("FOLDER");
  command.add_flag("--debug-data", with_data, "Put the inputs' values into that bundle");
}

void DebugOutput::leave(const Document& document, const DebugRequest& request,
                        const Console& console) const {
  if (folder.empty()) {
    console.err << fmt::format("next: {} --debug-dir debug\n", console.command);
    return;
  }
  console.say("writing the debug bundle");
  const auto bundle = debug_bundle(document, request);
  console.say("");
  if (!bundle) {
    console.report_error(bundle.diagnostics());
    return;
  }
  if (const auto written = write_folder(folder, bundle->files); !written) {
    console.report_error(written.diagnostics());
    return;
  }
  console.err << bundle_text(*bundle, folder);
}

std::string bundle_text(const DebugBundle& bundle, const std::string& folder) {
  std::string text = fmt::format("debug bundle: {}, {} files\n", folder, bundle.files.size());
  for (const std::string& note : bundle.notes) text += "note: " + note + "\n";
  const auto script = [&](const char* name) {
    return shell_word((std::filesystem::path(folder) / name).string());
  };
  return text + fmt::format("next: sh {}       runs it again\nnext: sh {}  makes the graph small\n",
                            script("run.sh"), script("minimize.sh"));
}

}  // namespace recut::native
