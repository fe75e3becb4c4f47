#include "native/commands/settings.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "engine/input/bytes.h"
#include "engine/input/json.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut::native {
namespace {

constexpr const char* kOne = "--set";
constexpr const char* kFile = "--settings";
constexpr std::string_view kPasses = "passes";
constexpr std::size_t kMaxSettingsBytes = std::size_t{1} << 20;

// A key with its values as words of the command line, and its place for messages.
struct Setting {
  std::string key;
  std::vector<std::string> values;
  Diagnostic place;
};

Diagnostic fault_at(const Setting& setting, std::string message) {
  Diagnostic fault = setting.place;
  fault.message = fmt::format("{}: {}", quote(setting.key), message);
  return fault;
}

bool is_option(std::string_view word, std::string_view name) {
  return word == name || (word.starts_with(name) && word.substr(name.size()).starts_with("="));
}

bool is_setting(std::string_view word) {
  const std::size_t at = word.find('=');
  return at != std::string_view::npos && at > 0 && word.front() != '-' &&
         word.find('/') > at;  // a path may have a '=' behind its first '/'
}

// Settings of a JSON object, with the keys of nested ones joined.
class SettingsFile {
 public:
  SettingsFile(std::string path, std::string text)
      : path_(std::move(path)), text_(std::move(text)) {}

  Result<std::vector<Setting>> read() {
    const auto document = parse_json(text_, path_);
    if (!document) return document.diagnostics();
    if (!document->root().is(JsonKind::object))
      return fault(document->root(), "settings are an object, found {}");
    if (auto done = add(document->root(), ""); !done) return done.diagnostics();
    return std::move(settings_);
  }

 private:
  Diagnostic place(JsonValue value) const {
    const LineColumn at = line_column_of(text_, value.position());
    return {"", path_, at.line, at.column};
  }
  Diagnostics fault(JsonValue value, std::string_view message) const {
    Diagnostic at = place(value);
    at.message = fmt::format(fmt::runtime(message), describe(value.kind()));
    return {at};
  }

  Result<Done> add(JsonValue object, const std::string& prefix) {
    for (const auto& [name, value] : object.items()) {
      const std::string key = prefix + std::string(name);
      if (value.is(JsonKind::object)) {
        if (auto done = add(value, key + "."); !done) return done;
        continue;
      }
      if (value.is(JsonKind::null)) continue;  // as without the key
      Setting setting{key, {}, place(value)};
      if (!value.is(JsonKind::array)) {
        auto word = word_of(value);
        if (!word) return word.diagnostics();
        setting.values.push_back(std::move(*word));
      } else {
        for (const auto& [unnamed, item] : value.items()) {
          auto word = word_of(item);
          if (!word) return word.diagnostics();
          setting.values.push_back(std::move(*word));
        }
      }
      settings_.push_back(std::move(setting));
    }
    return Done{};
  }

  Result<std::string> word_of(JsonValue value) const {
    switch (value.kind()) {
      case JsonKind::boolean:
        return std::string(value.boolean() ? "true" : "false");
      case JsonKind::integer:
        return fmt::format("{}", value.integer());
      case JsonKind::real:
        return fmt::format("{}", value.real());
      case JsonKind::text:
        return std::string(value.text());
      default:
        return fault(value, "found {}, expected a number, a text or a truth value");
    }
  }

  const std::string path_, text_;
  std::vector<Setting> settings_;
};

std::optional<bool> switch_of(std::string_view word) {
  for (const std::string_view on : {"on", "true", "1", "yes"})
    if (word == on) return true;
  for (const std::string_view off : {"off", "false", "0", "no"})
    if (word == off) return false;
  return std::nullopt;
}

// Turns settings into options, and puts them behind the arguments of the line.
class Expansion {
 public:
  Expansion(const CLI::App& command, std::vector<std::string> line)
      : command_(command), line_(std::move(line)) {}

  Result<std::vector<std::string>> run(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings)
      if (auto done = add(setting); !done) return done.diagnostics();
    add_passes("--with", with_);
    add_passes("--skip", skip_);
    for (std::string& option : options_) line_.push_back(std::move(option));
    return std::move(line_);
  }

 private:
  Result<Done> add(const Setting& setting) {
    const std::size_t point = setting.key.find('.');
    const std::string name = setting.key.substr(0, point);
    if (point != std::string::npos && name == kPasses && find("with") && find("skip"))
      return add_pass(setting, setting.key.substr(point + 1));
    const CLI::Option* option = find(name);
    if (option == nullptr) return unknown(setting, name);
    if (point != std::string::npos) {
      if (option->get_type_name().find('=') == std::string::npos)
        return Diagnostics{fault_at(
            setting, fmt::format("--{} has no names, expected {}=VALUE", name, quote(name)))};
      for (const std::string& value : setting.values)
        options_.push_back(fmt::format("--{}={}={}", name, setting.key.substr(point + 1), value));
      return Done{};
    }
    if (is_on_line(*option)) return Done{};
    if (option->get_expected_max() == 0) return add_flag(setting, name);
    if (setting.values.size() != 1 && option->get_expected_max() < 2)
      return Diagnostics{
          fault_at(setting, fmt::format("found {} values, expected 1", setting.values.size()))};
    for (const std::string& value : setting.values)
      options_.push_back(fmt::format("--{}={}", name, value));
    return Done{};
  }

  Result<Done> add_flag(const Setting& setting, const std::string& name) {
    const auto on = setting.values.size() == 1 ? switch_of(setting.values.front()) : std::nullopt;
    if (!on) return Diagnostics{fault_at(setting, "a switch, expected true or false")};
    if (*on) options_.push_back("--" + name);
    return Done{};
  }

  Result<Done> add_pass(const Setting& setting, std::string pass) {
    const auto on = setting.values.size() == 1 ? switch_of(setting.values.front()) : std::nullopt;
    if (!on) return Diagnostics{fault_at(setting, "a pass, expected on or off")};
    (*on ? with_ : skip_).push_back(std::move(pass));
    return Done{};
  }

  // Joins passes to the list that the line has, or gives one.
  void add_passes(const std::string& option, const std::vector<std::string>& passes) {
    if (passes.empty()) return;
    std::string list;
    for (const std::string& pass : passes) list += (list.empty() ? "" : ",") + pass;
    const auto at = std::find_if(line_.begin(), line_.end(),
                                 [&](const std::string& word) { return is_option(word, option); });
    if (at == line_.end()) {
      options_.push_back(option + "=" + list);
    } else if (*at != option) {
      *at += "," + list;
    } else if (at + 1 != line_.end()) {
      *(at + 1) += "," + list;
    }
  }

  const CLI::Option* find(const std::string& name) const {
    if ("--" + name == kOne || "--" + name == kFile || name == "help") return nullptr;
    return command_.get_option_no_throw("--" + name);
  }

  bool is_on_line(const CLI::Option& option) const {
    return std::any_of(line_.begin(), line_.end(), [&](const std::string& word) {
      const auto names = [&](const std::string& mark, const std::vector<std::string>& all) {
        return std::any_of(all.begin(), all.end(),
                           [&](const std::string& name) { return is_option(word, mark + name); });
      };
      return names("--", option.get_lnames()) || names("-", option.get_snames());
    });
  }

  Diagnostics unknown(const Setting& setting, const std::string& name) const {
    TypoCorrection near(name);
    for (const CLI::Option* option : command_.get_options())
      for (const std::string& known : option->get_lnames()) near.consider(known);
    near.consider(kPasses);
    return {fault_at(setting, fmt::format("recut {} has no such option{}", command_.get_name(),
                                          near.suggestion()))};
  }

  const CLI::App& command_;
  std::vector<std::string> line_, options_, with_, skip_;
};

bool has_key(const std::vector<Setting>& settings, const std::string& key) {
  return std::any_of(settings.begin(), settings.end(),
                     [&](const Setting& setting) { return setting.key == key; });
}

// Adds settings of a file, which count before those of earlier files.
void override_by(std::vector<Setting>& all, std::vector<Setting> later) {
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const Setting& setting) { return has_key(later, setting.key); }),
            all.end());
  for (Setting& setting : later) all.push_back(std::move(setting));
}

}  // namespace

void add_settings(CLI::App& command) {
  command
      .add_option_function<std::vector<std::string>>(
          kOne, [](const std::vector<std::string>&) {},
          "Set options by key: budget=40%, passes.attention=off, torch.solver=dp. May be given "
          "again")
      ->type_name("KEY=VALUE");
  command
      .add_option_function<std::string>(
          kFile, [](const std::string&) {},
          "Read options from a JSON file: {\"budget\": \"40%\", \"passes\": {\"attention\": "
          "false}}. --set and options of the command line count before it")
      ->type_name("FILE");
}

Result<std::vector<std::string>> with_settings(const CLI::App& command,
                                               const std::vector<std::string>& arguments) {
  if (command.get_option_no_throw(kFile) == nullptr) return arguments;
  std::vector<std::string> line;
  std::vector<Setting> of_files, of_line;
  const auto set = [&](std::string_view word) {
    const std::size_t at = word.find('=');
    const std::string key(word.substr(0, at)), value(word.substr(at + 1));
    for (Setting& setting : of_line)
      if (setting.key == key) return setting.values.push_back(value);
    of_line.push_back({key, {value}, {}});
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == kOne) {
      if (i + 1 == arguments.size() || !is_setting(arguments[i + 1]))
        return error("--set: expected KEY=VALUE, such as budget=40%");
      while (i + 1 < arguments.size() && is_setting(arguments[i + 1])) set(arguments[++i]);
    } else if (is_option(word, kOne)) {
      const std::string_view one = std::string_view(word).substr(std::string_view(kOne).size() + 1);
      if (!is_setting(one)) return error("--set: expected KEY=VALUE, such as budget=40%");
      set(one);
    } else if (is_option(word, kFile)) {
      if (word == kFile && i + 1 == arguments.size()) return error("--settings: expected a file");
      const std::string path =
          word == kFile ? arguments[++i] : word.substr(std::string_view(kFile).size() + 1);
      auto text = read_file(path, kMaxSettingsBytes);
      if (!text) return text.diagnostics();
      auto read = SettingsFile(path, std::move(*text)).read();
      if (!read) return read.diagnostics();
      override_by(of_files, std::move(*read));
    } else {
      line.push_back(word);
    }
  }
  override_by(of_files, std::move(of_line));
  return Expansion(command, std::move(line)).run(of_files);
}

}  // namespace recut::native
