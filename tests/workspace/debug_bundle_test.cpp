// The programs of a debug bundle.
#include "engine/workspace/debug_bundle.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/workspace/open_document.h"
#include "engine/workspace/torch_program.h"

namespace recut {
namespace {

Document bundled(const std::string& lines) {
  OpenOptions options;
  options.passes.emplace();
  auto document = open_document_bytes("graph \"g\" {\n" + lines + "\n}", "g.recut", options);
  INFO((document ? std::string() : format(document.diagnostics())));
  REQUIRE(document.ok());
  return std::move(*document);
}

DebugRequest usual_request() {
  DebugRequest request;
  request.rerun = {{"run", kBundleGraph, "--check"}, "DIFFERS"};
  return request;
}

TEST_CASE("torch program: calls, arguments and names as PyTorch writes them") {
  const Document document = bundled(
      "%x = input f32[2, 3]{1, 2}\n%class = input i64[2]\n%a.b = add.Tensor(%x, 1.5, alpha=2)\n"
      "%s = sum.dim_IntList(%a.b, [1], true, dtype=f64)\n%m = max.dim(%x, 0)\n"
      "%v = getitem(%m, 0)\n%f = full([2], inf, dtype=f32, device=\"cpu\")\n"
      "%c = clone(%x, memory_format=\"contiguous_format\")\n%d = div.Tensor_mode(%x, 2, "
      "rounding_mode=\"floor\")\nresults %s, %v, %f, %c, %d, %class");
  const TorchProgram program = torch_program(document.graph(), {7, ""});
  CHECK(program.notes.empty());
  for (const char* line :
       {"SEED = 7\nDATA = None\n", "    (\"x\", torch.float32, [2, 3], [1, 2], 1.0),\n",
        "def run(device, x, v_class):\n", "    a_b = torch.ops.aten.add.Tensor(x, 1.5, alpha=2)\n",
        "    s = torch.ops.aten.sum.dim_IntList(a_b, [1], True, dtype=torch.float64)\n",
        "    v = m[0]\n",
        "torch.ops.aten.full.default([2], math.inf, dtype=torch.float32, device=device)",
        "memory_format=torch.contiguous_format)", "rounding_mode=\"floor\")",
        "    return [s, v, f, c, d, v_class]\n"}) {
    INFO(line);
    CHECK(program.text.find(line) != std::string::npos);
  }
}

TEST_CASE("torch program: calls that it can't write are refused by name") {
  const Document document = bundled(
      "%x = input f32[4]\n%e = external mine.scale.default(%x, 3) : f32[4]\n"
      "%r = rand([4], dtype=f32)\nresults %e, %r");
  const TorchProgram program = torch_program(document.graph(), {0, "inputs.safetensors"});
  REQUIRE(program.notes.size() == 2);
  CHECK(program.notes[0] == "e (mine.scale.default): it is a custom operator");
  CHECK(program.notes[1].find("r (aten.rand.default): ") == 0);
  CHECK(program.text.find("raise NotImplementedError(\"mine.scale.default\")") !=
        std::string::npos);
  CHECK(program.text.find("rand.default([4], dtype=torch.float32)  # PyTorch") !=
        std::string::npos);
  CHECK(program.text.find("DATA = \"inputs.safetensors\"") != std::string::npos);
}

TEST_CASE("debug bundle: parts that can't be made are notes") {
  const Document document = bundled("%x = input f32[64]\n%y = exp(%x)\nresults %y");
  DebugRequest request = usual_request();
  request.scheduling.planning.budget = "no budget";
  const auto bundle = debug_bundle(document, request);
  REQUIRE(bundle.ok());
  CHECK(bundle->find("plan.json") == nullptr);
  REQUIRE(bundle->notes.size() == 1);
  CHECK(bundle->notes.front().find("no plan: ") == 0);
  REQUIRE(bundle->find("README.md") != nullptr);
  CHECK(bundle->find("README.md")->bytes.find(bundle->notes.front()) != std::string::npos);
}

TEST_CASE("debug bundle: data is in it where it is requested") {
  const Document document = bundled("%x = input f32[4]\n%y = exp(%x)\nresults %y");
  DebugRequest request = usual_request();
  const auto without = debug_bundle(document, request);
  REQUIRE(without.ok());
  CHECK(without->find(kBundleData) == nullptr);
  CHECK(without->find("driver.c")->bytes.find("kData = NULL") != std::string::npos);
  request.with_data = true;
  request.finding = "DIFFERS: all of it\n";
  const auto with = debug_bundle(document, request);
  REQUIRE(with.ok());
  REQUIRE(with->find(kBundleData) != nullptr);
  const auto tensors = parse_safetensors(with->find(kBundleData)->bytes, "data");
  REQUIRE(tensors.ok());
  CHECK(tensors->front().name == "in.x");
  CHECK(with->find("README.md")->bytes.find("DIFFERS: all of it") != std::string::npos);
  CHECK(with->find("run.sh")->executable);
}

}  // namespace
}  // namespace recut
