// recut compile-op: kernels of single operators, held to the interpreter; what is refused, and why.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/codegen/lower/lower.h"
#include "engine/eval/compare.h"
#include "engine/eval/inputs.h"
#include "native/operators/kernel.h"
#include "tests/native/cache_at.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut {
namespace {

using native::Ran;
using test::CacheAt;
using test::TemporaryFolder;
using Texts = std::vector<std::string>;

Ran compile_op(const std::string& name, const Texts& inputs, const Texts& settings = {},
               Texts more = {}) {
  Texts arguments = {"compile-op", name};
  for (const auto& [option, values] : {std::pair("--inputs", inputs), std::pair("--set", settings)})
    if (!values.empty()) {
      arguments.emplace_back(option);
      arguments.insert(arguments.end(), values.begin(), values.end());
    }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return native::run(arguments);
}

operators::OperatorCall call_of(const std::string& name, const Texts& inputs,
                                const Texts& settings) {
  auto given = operators::read_arguments(inputs, settings);
  REQUIRE(given.ok());
  auto call = operators::resolve_call(name, std::move(*given));
  REQUIRE(call.ok());
  return std::move(*call);
}

// A buffer with the tensor's elements where the type's strides have them.
std::vector<char> in_strides(const Tensor& tensor, const operators::KernelTensor& as) {
  const std::string rows = bytes_of(tensor);
  const auto item = static_cast<std::size_t>(item_bytes(as.type.dtype));
  std::vector<char> buffer(static_cast<std::size_t>(as.bytes));
  for (std::int64_t i = 0; i < element_count(as.type.shape); ++i) {
    std::int64_t offset = 0, left = i;
    for (std::size_t d = as.type.shape.size(); d-- > 0; left /= as.type.shape[d])
      offset += left % as.type.shape[d] * as.type.strides[d];
    std::memcpy(buffer.data() + static_cast<std::size_t>(offset) * item,
                rows.data() + static_cast<std::size_t>(i) * item, item);
  }
  return buffer;
}

// Compiles the call, runs its kernel on drawn inputs, and compares with the interpreter.
void check_kernel(const std::string& name, const Texts& inputs, const Texts& settings = {}) {
  INFO(name);
  const Ran ran = compile_op(name, inputs, settings);
  INFO(ran.err << ran.out);
  REQUIRE(ran.code == native::kDone);
  const auto call = call_of(name, inputs, settings);
  const operators::OperatorStore store(*cache::default_store_options());
  const auto lookup = store.find(facts_of(call));
  INFO(lookup.miss.reason);
  REQUIRE(lookup.kernel.has_value());
  const auto kernel = operators::Kernel::load(*lookup.kernel, call);
  REQUIRE(kernel.ok());

  const auto graph = graph_of(call);
  REQUIRE(graph.ok());
  const auto values = inputs_from(*graph, {}, 3);
  REQUIRE(values.ok());
  EvaluateOptions evaluation;
  evaluation.seed = 11;
  const auto expected = evaluate(*graph, *values, evaluation);
  REQUIRE(expected.ok());
  std::vector<std::vector<char>> buffers;
  std::vector<const void*> given;
  for (std::size_t i = 0; i < graph->inputs().size(); ++i)
    buffers.push_back(in_strides(values->at(graph->inputs()[i]), kernel->inputs()[i]));
  for (const auto& buffer : buffers) given.push_back(buffer.data());
  std::vector<Tensor> found;
  std::vector<void*> written;
  for (const operators::KernelTensor& output : kernel->outputs()) {
    found.push_back(allocate(output.type, nullptr));
    written.push_back(found.back().storage->data());
  }
  REQUIRE(found.size() == expected->outputs.size());
  const auto done = kernel->run(given, written, 11);
  REQUIRE(done.ok());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Comparison comparison = compare(found[i], expected->outputs[i]);
    INFO("output " << i << ": " << comparison.problem);
    CHECK(comparison.ok);
  }
}

TEST_CASE("compile-op: a kernel's outputs are the interpreter's", "[native][aot]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  check_kernel("aten.add.Tensor", {"f32[2, 3]", "f32[3]"}, {"alpha=2"});
  check_kernel("aten.add", {"f32[2, 3]{1, 2}", "2.5"});
  check_kernel("aten::mul", {"f64[3]", "i64[3]"});
  check_kernel("aten.sum", {"f32[4, 5] grad", "[1]"}, {"keepdim=true"});
  check_kernel("aten.mm.default", {"f32[3, 4]", "f32[4, 5]{1, 4}"});
  check_kernel("aten.max.dim", {"f32[4, 5]", "1"});
  check_kernel("aten.cat", {"[f32[2, 3], f32[4, 3]]"});
  check_kernel("aten.clamp", {"f32[4]", "none", "0.5"});
  check_kernel("aten.div.Tensor_mode", {"f32[4]", "f32[4]"}, {"rounding_mode=floor"});
  check_kernel("aten.native_layer_norm", {"f32[2, 8]", "[8]", "f32[8]", "none", "1e-5"});
  check_kernel("aten.convolution", {"f32[1, 2, 6, 6]", "f32[3, 2, 3, 3]", "f32[3]", "[1, 1]",
                                    "[1, 1]", "[1, 1]", "false", "[0, 0]", "1"});
  check_kernel("aten.index_select", {"f32[4, 3]", "0", "i64[5]"});
  check_kernel("aten.linear", {"f32[4, 3]", "f32[2, 3]"}, {"bias=f32[2]"});  // a composite
  check_kernel("aten.multiply.Tensor", {"f32[4]", "f32[4]"});                // another name
}

// Kernels read dense inputs. Others are copied; views of an input are written out.
TEST_CASE("compile-op: inputs in any strides, views, no inputs, no elements", "[native][aot]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  check_kernel("aten.relu", {"f32[2, 3]{6, 2}"});
  check_kernel("aten.add.Tensor", {"f32[2, 3]{8, 2}", "i16[3]{4}"});
  check_kernel("aten.permute", {"f32[2, 3]", "[1, 0]"});
  check_kernel("aten.full", {"[2, 3]", "1.5"});
  check_kernel("aten.add.Tensor", {"f32[0, 3]", "f32[3]"});
  check_kernel("aten.exp", {"f32[]"});
  check_kernel("aten.rand", {"[8]"});
}

// What can go wrong with the data is said, as of a whole step.
TEST_CASE("compile-op: a kernel tells faults of the data", "[native][aot]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  const Texts inputs = {"f32[4]", "0", "i64[2]"};
  REQUIRE(compile_op("aten.index_select", inputs).code == native::kDone);
  const auto call = call_of("aten.index_select", inputs, {});
  const auto lookup =
      operators::OperatorStore(*cache::default_store_options()).find(facts_of(call));
  REQUIRE(lookup.kernel.has_value());
  const auto kernel = operators::Kernel::load(*lookup.kernel, call);
  REQUIRE(kernel.ok());
  const float values[4] = {1, 2, 3, 4};
  const std::int64_t indices[2] = {3, 4};
  float out[2] = {};
  const void* const given[] = {values, indices};
  void* const written[] = {out};
  const auto far = kernel->run(given, written, 0);
  REQUIRE_FALSE(far.ok());
  CHECK(far.diagnostics().front().message == "an index is out of range for size 4");
  const void* const nothing[] = {values, nullptr};
  const auto null = kernel->run(nothing, written, 0);
  REQUIRE_FALSE(null.ok());
  CHECK(null.diagnostics().front().message == "the input 'index' is null");
}

TEST_CASE("compile-op: an equal call is found, however it is written", "[native][aot][cache]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  const auto found = [](const Texts& inputs, const Texts& settings, const Texts& more = {}) {
    Texts options = {"--json"};
    options.insert(options.end(), more.begin(), more.end());
    const Ran ran = compile_op("aten.sum.dim_IntList", inputs, settings, options);
    INFO(ran.err);
    REQUIRE(ran.code == native::kDone);
    return nlohmann::json::parse(ran.out);
  };
  const auto first = found({"f32[4, 5]", "[1]"}, {});
  CHECK(first["found"] == false);
  CHECK(first["miss"]["kind"] == "nothing kept");
  CHECK(first["outputs"][0]["sizes"] == nlohmann::json({4}));
  CHECK(first["processor"] == "x86-64-v3");
  CHECK(found({"f32[4,5]{5,1} on cpu", "1"}, {"keepdim=false"})["found"] == true);
  CHECK(found({"f32[4, 5]"}, {"dim=[1]", "dtype=none"})["library"] == first["library"]);
  const auto other = found({"f32[4, 5] grad", "[1]"}, {"keepdim=true"});
  CHECK(other["found"] == false);
  CHECK(other["miss"]["differences"] == nlohmann::json({"self: requires_grad true, kept false",
                                                        "keepdim: value true, kept false"}));
  CHECK(found({"f32[4, 5]", "[1]"}, {}, {"--again"})["miss"]["reason"] == "--again was given");
  CHECK(found({"f32[4, 5]", "[1]"}, {}, {"--cpu", "x86-64-v2"})["processor"] == "x86-64-v2");
  CHECK(found({"f32[4, 5] grad", "[1]"}, {"keepdim=true"})["found"] == true);
}

TEST_CASE("compile-op: refusals give the reason", "[native][aot]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  const auto refused = [](const std::string& name, const Texts& inputs, const Texts& settings,
                          const std::string& reason, const Texts& more = {}) {
    const Ran ran = compile_op(name, inputs, settings, more);
    INFO(ran.err << ran.out);
    CHECK(ran.code == native::kBadInput);
    CHECK(ran.err.find(reason) != std::string::npos);
    CHECK(ran.out.empty());
  };
  refused("aten.relu", {"f32[n, 3]"}, {}, "size 0 is 'n': dynamic sizes are not compiled");
  refused("aten.relu", {"f32[2] on cuda"}, {}, "argument 'self' is on cuda");
  refused("aten.relu", {"c64[2]"}, {}, "'self' has the dtype c64");
  refused("aten.relu", {"f32[2]{-1}"}, {}, "a stride of -1");
  refused("aten.relu", {"f32[2]{1, 1}"}, {}, "2 strides for 1 dimensions");
  refused("aten.relu", {"i64[2] grad"}, {}, "a tensor of i64 has no gradient");
  refused("aten.relu", {"float32[2]"}, {}, "unknown dtype 'float32'");
  refused("aten.relu", {"f32[2] 3"}, {}, "expected the end of the argument");
  refused("aten.relu", {"f32[2]", "1"}, {}, "relu takes 1 arguments, found 2");
  refused("aten.relu", {"f32[2]"}, {"self=f32[2]"}, "'self' of relu is given twice");
  refused("aten.relu", {"f32[2]"}, {"inplace=true"}, "relu has no argument 'inplace'");
  refused("aten.relu", {"f32[2]"}, {"=2"}, "expected NAME=VALUE");
  refused("aten.relu", {}, {}, "argument 'self' of relu is nothing");
  refused("aten.reluu", {"f32[2]"}, {}, "did you mean");
  refused("aten.nonzero", {"f32[2]"}, {}, "depend on values");
  refused("aten.bernoulli", {"f32[2]"}, {"generator=mine"}, "generators are not compiled");
  refused("aten.full", {"[2]", "1.0"}, {"device=\"cuda:0\""}, "for the cpu alone");
  refused("aten.add", {"f32[2, 3]", "f32[4]"}, {}, "no overload of aten.add takes");
  refused("placeholder", {}, {}, "there is no operator");
  refused("aten.relu", {"f32[2]"}, {}, "--cpu znver4: expected x86-64", {"--cpu", "znver4"});
  refused("aten.relu", {"f32[2]"}, {}, "no-such-linker", {"--linker", "no-such-linker"});
}

TEST_CASE("compile-op: an operator without a lowering is named", "[native][aot]") {
  const TemporaryFolder folder;
  const CacheAt at(folder.path());
  int named = 0;
  for (const Operator& op : all_operators()) {
    const auto needed = std::count_if(op.parameters.begin(), op.parameters.end(),
                                      [](const auto& p) { return !p.has_default && !p.optional; });
    if (needed != 1 || op.is(kInput | kView | kDataDependent) || loop::has_lowering(op.op))
      continue;
    const Ran ran = compile_op(std::string(op.target), {"f32[3, 3]"});
    if (ran.err.find("no lowering") == std::string::npos) continue;
    INFO(ran.err);
    CHECK(ran.code == native::kBadInput);
    CHECK(ran.err.find(std::string(op.name)) != std::string::npos);
    ++named;
  }
  CHECK(named > 0);
}

}  // namespace
}  // namespace recut
