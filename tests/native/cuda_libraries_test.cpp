// Steps whose products and convolutions are calls of cuBLASLt and cuDNN, as fake_libraries.h has
// them: what these are told, which of their ways are taken, and where their scratch memory is.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>

#include "tests/native/fake_card.h"
#include "tests/native/fake_step.h"
#include "tests/native/temporary_folder.h"
#include "tests/paths.h"

namespace recut::cuda {
namespace {

// Both libraries in the folder that is searched. A process opens them once.
bool provide_libraries() {
  static const test::TemporaryFolder folder;
  static const bool provided = [] {
    if (!test::has_compiler()) return false;
    const std::string made = folder.path() + "/libcublasLt.so.13";
    const std::string command = fmt::format(
        "c++ -std=c++20 -O1 -w -fPIC -shared -I {0} -x c++ {0}/tests/native/fake_libraries.h "
        "-o {1}",
        RECUT_SOURCE_DIR, made);
    REQUIRE(std::system(command.c_str()) == 0);
    std::filesystem::copy_file(made, folder.path() + "/libcudnn.so.9");
    return true;
  }();
  ::setenv("RECUT_CUDA_PATH", folder.path().c_str(), 1);
  return provided;
}

TEST_CASE("cuda: products and convolutions are their libraries'", "[native][cuda]") {
  if (!provide_libraries()) SKIP("there is no compiler for the libraries");
  for (const auto& [name, scratch] :
       {std::pair("joint/tiny_mlp.json.gz", 1024), std::pair("mlp.recut", 1024),
        std::pair("attention.recut", 1024), std::pair("joint/tiny_conv.json.gz", 4096)}) {
    INFO(name);
    const test::FakeStep step =
        test::fake_step(RECUT_SOURCE_DIR "/samples/" + std::string(name), "none", true);
    CHECK_FALSE(step.ready->step.program().library.empty());
    test::fake_card().records = false;  // the libraries' calls are no launches of this card
    const auto execution = test::execute_fake(step);
    if (!execution) FAIL(execution.diagnostics().front().message);
    CHECK(execution->agrees());
    CHECK(execution->max_relative_error() < 1e-3);
    CHECK(execution->holds());
    CHECK(execution->scratch_bytes == scratch);
  }
  ::unsetenv("RECUT_CUDA_PATH");
}

}  // namespace
}  // namespace recut::cuda
