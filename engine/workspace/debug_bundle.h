// A folder that reproduces a run: graphs after each pass, plan, schedule, code of each target,
// inputs, and programs that run it again. It holds no paths of the machine, and values of tensors
// only where they are requested.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/safetensors.h"
#include "engine/workspace/document.h"
#include "engine/workspace/scheduling.h"

namespace recut {

struct BundleFile {
  std::string path;  // in the folder, with '/'
  std::string bytes;
  bool executable = false;
};

// A command of recut on a graph of the bundle, and the sign of its failure.
struct RerunCommand {
  std::vector<std::string> words;  // without "recut": {"run", kBundleGraph, "--check"}
  std::string failure;             // an extended regular expression: its output matches if it fails
};

inline constexpr const char* kBundleGraph = "graph.recut";  // after the passes
inline constexpr const char* kBundleGraphAsRead = "passes/00-input.recut";
inline constexpr const char* kBundleData = "inputs.safetensors";
inline constexpr const char* kBundleProfile = "device.json";

struct DebugRequest {
  SchedulingRequest scheduling;        // of the plan, the schedule and the code
  std::uint64_t seed = 0;              // of drawn inputs
  std::span<const NamedTensor> given;  // values that the command was given
  bool with_data = false;              // put all inputs' values, and given outputs, into the bundle
  std::string profile;                 // a device profile (JSON) that the plan needs; "": none
  RerunCommand rerun;
  std::vector<BundleFile> more;  // the caller's files and notes, beside the bundle's own
  std::vector<std::string> notes;
  std::string finding;  // the report of a failed check; "": none
};

// The number of passes before the document's reference graph, and the bundle's file of the graph
// after the first `passes` ones. The last of these changed it.
std::size_t reference_pass(const Document& document);
std::string bundle_graph_path(const Document& document, std::size_t passes);

struct DebugBundle {
  std::vector<BundleFile> files;
  std::vector<std::string> notes;  // parts that are missing, with the reason

  const BundleFile* find(std::string_view path) const;
};

// Parts that can't be made (a plan within the budget, a kernel without a loop form) become notes.
// Fails if `given` doesn't fit the graph.
Result<DebugBundle> debug_bundle(const Document& document, const DebugRequest& request);

}  // namespace recut
