// Steps of the samples as CUDA, and CUDA's own compiler, where there is one: it takes the text.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "engine/codegen/cuda/emit.h"
#include "engine/runtime/program.h"
#include "engine/workspace/scheduling.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut {
namespace {

bool runs(const std::string& command) { return std::system((command + " >&2").c_str()) == 0; }

// "" where there is none, in the path or where CUDA is installed.
std::string find_nvcc() {
  for (const char* name : {"nvcc", "/usr/local/cuda/bin/nvcc"})
    if (runs(fmt::format("{} --version", name))) return name;
  return "";
}

Program program_of(const std::string& sample) {
  const auto document = open_document(native::sample(sample), {});
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  const auto scheduled = schedule_document(*document, request);
  REQUIRE(scheduled.ok());
  const StorageModel storages(document->graph());
  auto program = make_program(document->graph(), storages,
                              scheduled->planned.costs.groups(document->graph(), storages),
                              scheduled->schedule);
  REQUIRE(program.ok());
  return std::move(*program);
}

TEST_CASE("CUDA: nvcc takes the steps of samples", "[codegen]") {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) SKIP("no nvcc: nothing compiles CUDA for a card here");
  const test::TemporaryFolder folder;
  for (const char* sample :
       {"tiny_conv.json.gz", "tiny_lm.json.gz", "tiny_lstm.json.gz", "tiny_mlp.json.gz",
        "tiny_ops.json.gz", "mlp.json.gz", "gpt2.json.gz", "resnet50.json.gz", "unet.json.gz"}) {
    CAPTURE(sample);
    const std::string path = folder.path() + "/step.cu";
    std::ofstream(path) << cuda::emit(program_of(sample).kernels).text;
    CHECK(runs(fmt::format("{} -ptx -arch=sm_80 --fmad=false -o {}.ptx {}", nvcc, path, path)));
  }
}

}  // namespace
}  // namespace recut
