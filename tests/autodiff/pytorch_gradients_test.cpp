// Gradients against those that PyTorch computed: of the tiny graphs, and of its operator samples.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <sstream>

#include "tests/conformance/gradients.h"
#include "tests/paths.h"

namespace recut::conformance {
namespace {

TEST_CASE("gradients of the tiny graphs are PyTorch's", "[autodiff]") {
  for (const std::string name : {"tiny_mlp", "tiny_lm", "tiny_conv", "tiny_lstm", "tiny_ops"}) {
    DYNAMIC_SECTION(name) {
      const GradientCase found = check_gradients(RECUT_SOURCE_DIR "/samples/joint/" + name);
      INFO(found.detail);
      CHECK(found.verdict == GradientVerdict::agrees);
    }
  }
}

TEST_CASE("gradients of PyTorch's operator samples agree in 99 % of the cases", "[autodiff]") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/opinfo";
  if (!std::filesystem::exists(folder)) SKIP("there are no operator samples in " << folder);
  const auto cases = check_gradient_folder(folder);
  std::ostringstream table;
  print_gradients(table, cases);
  INFO(table.str());
  CHECK(percent_agreeing(cases) >= 99);
}

}  // namespace
}  // namespace recut::conformance
