// The command on complex numbers: programs of PyTorch with Fourier transforms, and a rotary
// embedding, run as compiled code.
#include <catch2/catch_test_macros.hpp>

#include "native/console.h"
#include "tests/native/run_command.h"
#include "tests/paths.h"

namespace recut::native {
namespace {

const std::string kTransforms = RECUT_SOURCE_DIR "/tests/input/exported/";

// A rotary embedding as Llama has it: pairs as complex numbers, turned by a table of angles.
constexpr const char* kRotary = R"(graph "rotary" {
  %x = input f32[2, 8, 4, 16]
  %angles = input f32[8, 8]
  %table = input c64[8, 8]
  %ones = full([8, 8], 1, dtype=f32)
  %turns = polar(%ones, %angles)
  %both = mul.Tensor(%turns, %table)
  %pairs = view(%x, [2, 8, 4, 8, 2])
  %z = view_as_complex(%pairs)
  %by = view(%both, [1, 8, 1, 8])
  %turned = mul.Tensor(%z, %by)
  %r = view_as_real(%turned)
  %y = view(%r, [2, 8, 4, 16])
  results %y, %turns
}
)";

void succeeds(const std::vector<std::string>& words) {
  const Ran ran = run(words);
  INFO(ran.err);
  CHECK(ran.code == kDone);
}

TEST_CASE("complex numbers: PyTorch's values with the pass, and compiled steps", "[native]") {
  for (const char* name : {"fft", "stft"}) {
    CAPTURE(name);
    const std::string file = kTransforms + name, tensors = file + ".safetensors";
    succeeds({"eval", file + ".pt2", "--tensors", tensors, "--passes", "complex_parts,dead_code",
              "--check"});
    succeeds({"run", file + ".pt2", "--check", "--steps", "1"});
    const TemporaryFile joint("transforms.recut");
    succeeds({"grad", file + ".pt2", "--out", joint.path()});
    succeeds({"run", joint.path(), "--check", "--steps", "1"});
  }
}

TEST_CASE("complex numbers: a rotary embedding runs, trains and has code for every target",
          "[native]") {
  const TemporaryFile rotary("rotary.recut"), joint("rotary_joint.recut");
  rotary.write(kRotary);
  succeeds({"run", rotary.path(), "--check", "--steps", "1"});
  for (const char* target : {"loop", "llvm", "cuda", "wasm"})
    succeeds({"emit", rotary.path(), "--target", target});
  succeeds({"grad", rotary.path(), "--result", "0", "--out", joint.path()});
  succeeds({"run", joint.path(), "--check", "--steps", "1"});
}

TEST_CASE("complex numbers: what has no code is named", "[native]") {
  const TemporaryFile file("cumprod.recut");
  file.write("graph \"g\" {\n  %x = input c64[4]\n  %y = cumprod(%x, 0)\n  results %y\n}\n");
  const Ran ran = run({"run", file.path()});
  CHECK(ran.code == kBadInput);
  CHECK(ran.err.find("operator 'cumprod' has no lowering for c64 yet; recut eval computes it") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::native
