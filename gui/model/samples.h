// The graphs that come with the program, described by samples/samples.txt.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/workspace/curve.h"
#include "gui/backend/backend.h"

namespace recut::gui {

// A row of samples/samples.txt: of a file, below samples/.
struct SampleFacts {
  std::string file;                        // "joint/gpt2.json.gz"
  std::int64_t nodes = 0, peak_bytes = 0;  // of its own graph, by the reference device
  std::string text;                        // one line: the subject that it shows
};
std::span<const SampleFacts> sample_facts();

// The platform's, then the small ones that are a part of the program, wherever it runs. A name is
// the platform's where both have it.
std::vector<std::string> all_samples(const Backend& backend);
bool has_sample(const Backend& backend, std::string_view name);
// Facts of a sample; null if it isn't listed.
const SampleFacts* facts_of(const Backend& backend, std::string_view name);
// The bytes of an embedded sample; null for samples of the platform and for other names.
std::shared_ptr<const std::string> embedded_sample(const Backend& backend, std::string_view name);
// The trade-off of one of the platform's, without its plans, as it is found by itself: for the
// reference device, call by call. It comes with the program, to be seen before it is planned again;
// null where none comes.
std::shared_ptr<const Curve> prepared_curve(const Backend& backend, std::string_view name);
// The diagnostic for an unknown name, with the nearest known one.
Diagnostic no_sample(const Backend& backend, std::string_view name);

}  // namespace recut::gui
