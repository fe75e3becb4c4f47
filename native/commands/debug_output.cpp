#include "native/commands/debug_output.h"

#include <fmt/core.h>

#include <filesystem>

#include "engine/cost/device_profile.h"
#include "engine/input/bytes.h"
#include "engine/support/shell_word.h"
#include "native/commands/command.h"

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

void DebugOutput::leave(const Document& document, DebugRequest request,
                        const Console& console) const {
  if (folder.empty()) {
    console.err << fmt::format("next: {} --debug-dir debug\n", console.command);
    return;
  }
  request.with_data = with_data;
  console.say("writing the debug bundle");
  const auto bundle = debug_bundle(document, request);
  console.say("");
  if (!bundle) {
    console.report_error(bundle.diagnostics());
    return;
  }
  if (const auto written = write_bundle(*bundle, folder); !written) {
    console.report_error(written.diagnostics());
    return;
  }
  console.err << bundle_text(*bundle, folder);
}

Result<Done> write_bundle(const DebugBundle& bundle, const std::string& folder) {
  using std::filesystem::perms;
  for (const BundleFile& file : bundle.files) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.path;
    if (auto done = write_file(path.string(), file.bytes); !done) return done;
    std::error_code ignored;  // the scripts are run by sh
    if (file.executable)
      std::filesystem::permissions(path, perms::owner_exec | perms::group_exec | perms::others_exec,
                                   std::filesystem::perm_options::add, ignored);
  }
  return Done{};
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

std::vector<std::string> search_words(const PlanArguments& plan) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (!plan.strategy.empty()) add("--strategy", plan.strategy);
  if (plan.budget) add("--budget", *plan.budget);
  const PlanArguments usual;
  if (plan.effort != usual.effort) add("--effort", fmt::format("{}", plan.effort));
  if (plan.seconds != usual.seconds) add("--seconds", fmt::format("{}", plan.seconds));
  if (plan.seed != usual.seed) add("--search-seed", fmt::format("{}", plan.seed));
  for (const std::string& name : plan.overrides.save) add("--save", name);
  for (const std::string& name : plan.overrides.recompute) add("--recompute", name);
  if (plan.overrides.ignore_checkpoints) words.emplace_back("--ignore-checkpoints");
  for (const std::string& setting : plan.torch) add("--torch", setting);
  return words;
}

Result<std::vector<std::string>> profile_words(const std::string& option, const std::string& device,
                                               DebugRequest& request) {
  if (device.empty()) return std::vector<std::string>{};
  if (device == kMeasuredDevice) {
    request.notes.emplace_back(
        "the plan was priced by the file's own times, which the bundle lacks");
    return std::vector<std::string>{};
  }
  for (const BuiltinProfile& profile : builtin_profiles())
    if (device == profile.name) return std::vector<std::string>{option, device};
  auto bytes = read_file(device);
  if (!bytes) return bytes.diagnostics();
  request.profile = std::move(*bytes);
  return std::vector<std::string>{option, kBundleProfile};
}

}  // namespace recut::native
