#include "gui/model/samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "engine/support/check.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"
#include "engine/workspace/curve_export.h"
#include "gui/backend/paths.h"
#include "gui/embedded.h"

namespace recut::gui {
namespace {

bool is_platforms(const Backend& backend, std::string_view name) {
  const std::vector<std::string> own = backend.samples();
  return std::find(own.begin(), own.end(), name) != own.end();
}

// The next word of a row, and the blanks behind it, taken off.
std::string_view take_word(std::string_view& row) {
  const std::size_t end = std::min(row.find(' '), row.size());
  const std::string_view word = row.substr(0, end);
  row.remove_prefix(std::min(row.find_first_not_of(' ', end), row.size()));
  return word;
}

std::int64_t take_count(std::string_view& row) {
  const std::string_view word = take_word(row);
  std::int64_t count = 0;
  const auto [stop, wrong] = std::from_chars(word.data(), word.data() + word.size(), count);
  RECUT_CHECK(wrong == std::errc() && stop == word.data() + word.size(),
              "a row of samples.txt is FILE NODES BYTES WORDS");
  return count;
}

std::vector<SampleFacts> read_facts(std::string_view text) {
  std::vector<SampleFacts> facts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty() || row.front() == '#') continue;
    SampleFacts one;
    one.file = take_word(row);
    one.nodes = take_count(row);
    one.peak_bytes = take_count(row);
    one.text = row;
    facts.push_back(std::move(one));
  }
  return facts;
}

// The sample's name in a path: gpt2 in "joint/gpt2.json.gz".
std::string_view name_in(std::string_view file) {
  const std::string_view last = file.substr(file.rfind('/') + 1);
  return last.substr(0, last.find('.'));
}

}  // namespace

std::span<const SampleFacts> sample_facts() {
  static const std::vector<SampleFacts> facts = [] {
    const auto bytes = embedded_sample_facts().front().bytes;
    return read_facts({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }();
  return facts;
}

std::vector<std::string> all_samples(const Backend& backend) {
  std::vector<std::string> names = backend.samples();
  const std::size_t own = names.size();
  for (const EmbeddedFile& file : embedded_graphs())
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(own), file.name) ==
        names.begin() + static_cast<std::ptrdiff_t>(own))
      names.emplace_back(file.name);
  return names;
}

bool has_sample(const Backend& backend, std::string_view name) {
  const std::vector<std::string> names = all_samples(backend);
  return std::find(names.begin(), names.end(), name) != names.end();
}

const SampleFacts* facts_of(const Backend& backend, std::string_view name) {
  const bool captured = is_platforms(backend, name);
  for (const SampleFacts& facts : sample_facts())
    if (name_in(facts.file) == name && facts.file.starts_with("joint/") == captured) return &facts;
  return nullptr;
}

std::shared_ptr<const std::string> embedded_sample(const Backend& backend, std::string_view name) {
  if (is_platforms(backend, name)) return nullptr;
  for (const EmbeddedFile& file : embedded_graphs())
    if (file.name == name)
      return std::make_shared<const std::string>(reinterpret_cast<const char*>(file.bytes.data()),
                                                 file.bytes.size());
  return nullptr;
}

std::shared_ptr<const Curve> prepared_curve(const Backend& backend, std::string_view name) {
  if (!is_platforms(backend, name)) return nullptr;
  for (const EmbeddedFile& file : embedded_curves()) {
    if (file.name != name) continue;
    Curve curve;
    curve.report =
        parse_curve_json({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()});
    curve.report.complete = false;  // until it is planned here
    return std::make_shared<const Curve>(std::move(curve));
  }
  return nullptr;
}

Diagnostic no_sample(const Backend& backend, std::string_view name) {
  TypoCorrection near(name);
  for (const std::string& one : all_samples(backend)) near.consider(one);
  return error(
      fmt::format("no sample {} comes with this program{}", quote(name), near.suggestion()));
}

}  // namespace recut::gui
