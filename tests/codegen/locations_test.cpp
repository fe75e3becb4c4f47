// What a line of a kernel is from: followed from the graph's calls into loop form and LLVM IR.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/lower/lower.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/input/graph_file_reader.h"
#include "tests/codegen/run_kernels.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

using Notes = std::set<std::uint32_t>;

// Of statements: what is declared before them is from a note, or of a buffer, by itself.
Notes notes_in_loops(const std::vector<loop::PrintedLine>& lines) {
  Notes locations;
  for (const loop::PrintedLine& line : lines)
    if (line.text.find("  note \"") != 0 && line.location != loop::kUnknownLocation)
      locations.insert(line.location);
  return locations;
}

void check_kernel_notes(const loop::Kernel& kernel) {
  CAPTURE(kernel.name);
  const auto lines = loop::print_lines(kernel);
  std::string text;
  std::size_t buffers = 0;
  for (const loop::PrintedLine& line : lines) {
    text += line.text + "\n";
    buffers += line.buffer.valid() ? 1 : 0;
    const bool statement = line.text.find("    ") == 0;  // in a loop
    CAPTURE(line.text);
    CHECK((line.location == loop::kUnknownLocation || line.location < kernel.locations.size()));
    if (statement) CHECK(line.location != loop::kUnknownLocation);
  }
  CHECK(text == loop::print(kernel));
  CHECK(buffers == kernel.buffers.size());

  const llvm_ir::Module module = llvm_ir::emit(std::span(&kernel, 1));
  CHECK(module.locations.size() ==
        static_cast<std::size_t>(std::count(module.text.begin(), module.text.end(), '\n')));
  // A constant alone is no instruction, so that a note may be in loops only.
  Notes found;
  for (std::size_t i = kernel.locations.size() + 1; i < module.locations.size(); ++i)
    if (module.locations[i] != loop::kUnknownLocation) found.insert(module.locations[i]);
  const Notes wanted = notes_in_loops(lines);
  CHECK(std::includes(wanted.begin(), wanted.end(), found.begin(), found.end()));
  CHECK(found.empty() == wanted.empty());
}

TEST_CASE("notes: every statement of a sample's kernels is from one of its calls", "[codegen]") {
  for (const char* name : {"tiny_mlp", "tiny_conv", "tiny_ops", "tiny_lm"}) {
    CAPTURE(name);
    const auto file =
        read_graph_file(std::string(RECUT_SOURCE_DIR "/samples/joint/") + name + ".json.gz");
    REQUIRE(file.ok());
    const StorageModel storages(file->graph);
    const FusionGroups groups = fuse_pointwise(file->graph, storages);
    std::size_t kernels = 0;
    for (const std::vector<NodeId>& calls : kernels_of(file->graph, groups)) {
      const auto lowered = loop::lower(file->graph, storages, groups, calls);
      REQUIRE(lowered.ok());
      REQUIRE(lowered->kernel.locations.size() == calls.size());
      check_kernel_notes(lowered->kernel);
      ++kernels;
    }
    CHECK(kernels > 3);
  }
}

TEST_CASE("notes: of a fused chain each line is from the call that it computes", "[codegen]") {
  const auto file = read_graph_bytes(R"(graph "chain" {
  %x = input f32[64]
  %a = exp(%x)
  %b = neg(%a)
  results %b
}
)",
                                     "chain.recut");
  REQUIRE(file.ok());
  const StorageModel storages(file->graph);
  const FusionGroups groups = fuse_pointwise(file->graph, storages);
  const std::vector<NodeId> calls{file->graph.find("a"), file->graph.find("b")};
  const auto lowered = loop::lower(file->graph, storages, groups, calls);
  REQUIRE(lowered.ok());
  const auto note_of = [&](std::string_view part) {
    for (const loop::PrintedLine& line : loop::print_lines(lowered->kernel))
      if (line.text.find(part) != std::string::npos && line.text.find("note") == std::string::npos)
        return line.location;
    return loop::kUnknownLocation;
  };
  CHECK(note_of("exp %") == 0);
  CHECK(note_of("neg %") == 1);
  CHECK(note_of("store %") == 1);
  CHECK(note_of("parallel %") == 1);
  // A kernel that was parsed has the same text, and knows nothing of it.
  const auto again = loop::parse_kernels(loop::print(lowered->kernel), "chain");
  REQUIRE(again.ok());
  for (const loop::PrintedLine& line : loop::print_lines(again->front()))
    CHECK((line.location == loop::kUnknownLocation || line.text.find("  note") == 0));
}

}  // namespace
}  // namespace recut::test
