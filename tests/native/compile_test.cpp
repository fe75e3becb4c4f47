// recut compile: steps as shared libraries, held to the interpreter through their C interface.
#include <dlfcn.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/eval/compare.h"
#include "engine/eval/inputs.h"
#include "engine/runtime/program.h"
#include "engine/workspace/open_document.h"
#include "native/cpu/step.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut {
namespace {

using native::Ran;
using test::TemporaryFolder;

Ran compile(const TemporaryFolder& folder, const std::string& file,
            std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"compile", file, "-o", folder.path() + "/step.so", "--header",
                                   folder.path() + "/step.h", "--name", "step"});
  return native::run(options);
}

// Declarations of the generated header, the same for every step.
struct CTensor {
  const char *name, *kind, *dtype;
  std::int64_t rank;
  const std::int64_t *shape, *strides;
  std::int64_t bytes, mutates, storage;
};

class Library {
 public:
  explicit Library(const TemporaryFolder& folder)
      : library_(dlopen((folder.path() + "/step.so").c_str(), RTLD_NOW | RTLD_LOCAL)) {
    INFO((library_ == nullptr ? dlerror() : ""));
    REQUIRE(library_ != nullptr);
  }
  ~Library() { dlclose(library_); }

  bool has(const char* name) const { return dlsym(library_, name) != nullptr; }
  template <class Function>
  Function* find(const char* name) const {
    void* found = dlsym(library_, name);
    REQUIRE(found != nullptr);
    return reinterpret_cast<Function*>(found);
  }
  std::vector<const CTensor*> tensors(const char* name) const {
    auto* const get = find<const CTensor*(std::int32_t)>(name);
    std::vector<const CTensor*> all;
    while (const CTensor* tensor = get(static_cast<std::int32_t>(all.size())))
      all.push_back(tensor);
    CHECK(get(-1) == nullptr);
    return all;
  }

 private:
  void* library_;
};

// Runs parts of one grain each on two threads.
void in_threads(void* calls, std::int64_t extent, std::int64_t grain,
                void (*part)(void*, std::int64_t, std::int64_t), void* state) {
  ++*static_cast<int*>(calls);
  const std::int64_t middle = extent / 2 / grain * grain;
  std::thread other([&] {
    if (middle > 0) part(state, 0, middle);
  });
  part(state, middle, extent);
  other.join();
}

struct LibraryRun {
  int fault = 0;
  std::string fault_text;
  std::vector<Tensor> outputs;  // those that exist
};

LibraryRun run_library(const Library& library, const Graph& graph, const Inputs& inputs,
                       std::uint64_t seed, int* parallel_calls = nullptr) {
  std::vector<std::uint64_t> step;
  std::vector<Tensor> given;
  const auto word = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  for (const CTensor* tensor : library.tensors("step_input")) {
    const NodeId id = graph.find(tensor->name);
    given.push_back(as_kernels_read(graph.type(id), inputs.at(id)));
    CHECK(tensor->bytes == byte_size(graph.type(id)));
    CHECK(std::vector(tensor->strides, tensor->strides + tensor->rank) == given.back().strides);
    step.push_back(word(given.back().storage->data()));
  }
  LibraryRun ran;
  for (const CTensor* tensor : library.tensors("step_output")) {
    TensorType type{*dtype_from_short_name(tensor->dtype), {}, {}, {}};
    type.shape.assign(tensor->shape, tensor->shape + tensor->rank);
    type.strides.assign(tensor->strides, tensor->strides + tensor->rank);
    REQUIRE(is_dense(type));
    ran.outputs.push_back(allocate(type, nullptr));
    step.push_back(word(ran.outputs.back().storage->data()));
  }
  auto arena = cpu::Arena::reserve(1 << 20);
  REQUIRE(arena.ok());
  arena->fill(std::byte{0x5a});
  step.insert(step.end(), {word(arena->data()), seed, 0, 0});
  if (parallel_calls != nullptr) {
    step[step.size() - 2] = word(reinterpret_cast<const void*>(&in_threads));
    step.back() = word(parallel_calls);
  }
  ran.fault = library.find<int(const void*)>("step_forward")(step.data());
  if (ran.fault == 0) ran.fault = library.find<int(const void*)>("step_backward")(step.data());
  ran.fault_text = library.find<const char*(int)>("step_fault")(ran.fault);
  return ran;
}

void check_library(const std::string& file, const std::vector<std::string>& options) {
  INFO(file);
  const TemporaryFolder folder;
  const Ran ran = compile(folder, file, options);
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  const auto document = open_document(file, {});
  REQUIRE(document.ok());
  const Graph& graph = document->graph();
  const auto inputs = inputs_from(graph, {}, 3);
  REQUIRE(inputs.ok());
  EvaluateOptions evaluation;
  evaluation.seed = 11;
  const auto evaluated = evaluate(graph, *inputs, evaluation);
  REQUIRE(evaluated.ok());
  std::vector<Tensor> expected;
  for (const Tensor& output : evaluated->outputs)
    if (output.exists()) expected.push_back(output);

  const Library library(folder);
  int parallel_calls = 0;
  for (int* calls : {static_cast<int*>(nullptr), &parallel_calls}) {
    const LibraryRun once = run_library(library, graph, *inputs, 11, calls);
    REQUIRE(once.fault == 0);
    CHECK(once.fault_text.empty());
    REQUIRE(once.outputs.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Comparison comparison = compare(once.outputs[i], expected[i]);
      INFO("output " << i << ": " << comparison.problem);
      if (is_dense(TensorType{expected[i].dtype, expected[i].shape, expected[i].strides, {}}))
        CHECK(once.outputs[i].strides == expected[i].strides);
      CHECK((comparison.ok || comparison.relative_error < 1e-4));
    }
  }
  CHECK(parallel_calls > 0);
}

TEST_CASE("compile: a library's outputs are the interpreter's", "[native][aot]") {
  const std::string folder = RECUT_SOURCE_DIR "/samples/";
  check_library(folder + "mlp.recut", {});
  check_library(folder + "dropout.recut", {"--cpu", "native"});
  check_library(folder + "attention.recut", {"--budget", "60000"});
  check_library(folder + "recompute.recut", {"--budget", "45056", "--cpu", "x86-64-v2"});
}

// Outputs that are views of views, of a constant's storage, and of several dtypes.
TEST_CASE("compile: outputs keep their strides, whatever they are views of", "[native][aot]") {
  const native::TemporaryFile file("views.recut");
  file.write(R"(graph "views" {
  %x = parameter f32[4, 6]
  %n = input i64[6]
  %t = tangent f32[4, 6]
  %y = exp(%x)
  %turned = permute(%y, [1, 0])
  %flat = view(%y, [24])
  %some = slice.Tensor(%flat, 0, 3, 21, 2)
  %narrow = prims.convert_element_type(%y, bf16)
  %cut = slice.Tensor(%turned, 1, 1, 3)
  %odd = eq.Scalar(%n, 1)
  %grad = mul.Tensor(%t, %y)
  results %turned, %some, %narrow, %cut, %odd, %x
  gradients %grad, none
})");
  check_library(file.path(), {});
}

// A convolution that computes channels last, views of it, and a mean over a dimension.
constexpr const char* kChannelsLast = R"(graph "channels last" {
  %x = input f32[2, 3, 4, 5]{60, 1, 15, 3}
  %w = parameter f32[6, 3, 3, 3]
  %t = tangent f32[]
  %c = convolution(%x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
  %y = relu(%c)
  %rows = permute(%y, [0, 2, 3, 1])
  %m = mean.dim(%y, [2])
  %same = add.Tensor(%y, 1.0)
  %one = slice.Tensor(%y, 0, 0, 1)
  %x_grad = mul.Tensor(%x, %t)
  results %y, %rows, %m, %same, %one
  gradients %x_grad, none
})";

TEST_CASE("compile: channels last stays channels last", "[native][aot]") {
  const native::TemporaryFile file("channels_last.recut");
  file.write(kChannelsLast);
  check_library(file.path(), {});
}

TEST_CASE("compile: faults of the data have numbers and texts", "[native][aot]") {
  const native::TemporaryFile file("gather.recut");
  file.write(
      "graph \"gather\" {\n  %x = parameter f32[4, 3]\n  %i = input i64[5]\n"
      "  %t = tangent f32[5, 3]\n  %y = index_select(%x, 0, %i)\n"
      "  %g = mul.Tensor(%t, 2.0)\n  %h = sum(%g)\n  %k = expand(%h, [4, 3])\n"
      "  results %y\n  gradients %k, none\n}\n");
  const TemporaryFolder folder;
  const Ran compiled = compile(folder, file.path());
  INFO(compiled.err);
  REQUIRE(compiled.code == native::kDone);
  const auto document = open_document(file.path(), {});
  REQUIRE(document.ok());
  const Graph& graph = document->graph();
  auto inputs = inputs_from(graph, {}, 3);
  REQUIRE(inputs.ok());
  const Library library(folder);
  CHECK(run_library(library, graph, *inputs, 0).fault == 0);
  Tensor& indices = inputs->at(graph.find("i"));
  Integers far({5}, 1);
  far[2] = 4;
  pack(far, indices);
  const LibraryRun ran = run_library(library, graph, *inputs, 0);
  CHECK(ran.fault > 0);
  CHECK(ran.fault_text == "an index is out of range for size 4");
}

TEST_CASE("compile: the example trains a model to a falling loss", "[native][aot]") {
  const TemporaryFolder folder;
  const Ran ran = native::run({"compile", RECUT_SOURCE_DIR "/samples/mlp.recut", "-o",
                               folder.path() + "/libmlp.so", "--header", folder.path() + "/mlp.h"});
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  const std::string cc = "cd " + folder.path() +
                         " && cc -std=c11 -Wall -Wextra -pedantic -Werror -I. " RECUT_SOURCE_DIR
                         "/samples/aot/train.c ./libmlp.so -lm -o train";
  REQUIRE(std::system(cc.c_str()) == 0);
  CHECK(std::system(("cd " + folder.path() + " && ./train > losses").c_str()) == 0);
  std::ifstream losses(folder.path() + "/losses");
  std::vector<double> values;
  for (std::string line; std::getline(losses, line);)
    values.push_back(std::stod(line.substr(line.rfind(' '))));
  REQUIRE(values.size() == 10);
  CHECK(values.back() < 0.5 * values.front());
  const std::string header = "echo '#include \"mlp.h\"' | c++ -Wall -Wextra -Werror -pedantic -I" +
                             folder.path() + " -x c++ -fsyntax-only -";
  CHECK(std::system(header.c_str()) == 0);
}

// A state that a step adds to, in transposed strides: after two steps the caller's tensor has both.
TEST_CASE("compile: new values of inputs are written back", "[native][aot]") {
  const native::TemporaryFile file("state.recut");
  file.write(R"(graph "state" {
  %x = input f32[2, 3]
  %state = input f32[2, 3]{1, 2}
  %next = add.Tensor(%state, %x) : f32[2, 3]{1, 2}
  %y = mul.Tensor(%next, 2) : f32[2, 3]{1, 2}
  %v = permute(%next, [1, 0]) : f32[3, 2]{2, 1}
  %w = permute(%x, [1, 0]) : f32[3, 2]{1, 3}
  results %next, %y, %v, %w
  mutation 0 %state
}
)");
  const TemporaryFolder folder;
  const Ran ran = compile(folder, file.path());
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  const Library library(folder);
  const auto outputs = library.tensors("step_output");
  REQUIRE(outputs.size() == 4);
  CHECK(outputs[0]->kind == std::string("mutation"));
  CHECK(outputs[1]->kind == std::string("result"));
  const std::int64_t mutates[] = {1, -1, -1, -1}, storages[] = {1, -1, 1, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(outputs[i]->mutates == mutates[i]);
    CHECK(outputs[i]->storage == storages[i]);
  }
  float x[6] = {1, 2, 3, 4, 5, 6}, state[6] = {0, 0, 0, 0, 0, 0};  // the state column by column
  float next[6], y[6];
  alignas(64) std::byte arena[4096];
  struct {
    const void* inputs[2];
    void* outputs[4];
    void *arena, *seed, *parallel_for, *context;
  } step = {{x, state}, {next, y, nullptr, nullptr}, arena, nullptr, nullptr, nullptr};
  auto* const forward = library.find<int(const void*)>("step_forward");
  auto* const write_back = library.find<void(const void*)>("step_write_back");
  REQUIRE(forward(&step) == 0);
  CHECK(state[1] == 0);  // only write_back writes inputs
  write_back(&step);
  const float columns[6] = {1, 4, 2, 5, 3, 6};
  for (int i = 0; i < 6; ++i) CHECK(state[i] == columns[i]);
  REQUIRE(forward(&step) == 0);
  for (int i = 0; i < 6; ++i) CHECK(y[i] == 4 * columns[i]);
  step.outputs[0] = nullptr;  // not wanted: nothing to write back
  REQUIRE(forward(&step) == 0);
  write_back(&step);
  for (int i = 0; i < 6; ++i) CHECK(state[i] == columns[i]);
  const TemporaryFolder other;
  REQUIRE(compile(other, RECUT_SOURCE_DIR "/samples/mlp.recut").code == native::kDone);
  CHECK_FALSE(Library(other).has("step_write_back"));
}

// The buffers of a module whose values are inside the library are its state, as a module's are.
TEST_CASE("compile: values inside the library are written back, too", "[native][aot]") {
  const std::string file = RECUT_SOURCE_DIR "/tests/input/exported/buffers_mutated.pt2";
  const TemporaryFolder folder;
  const Ran ran = compile(folder, file);
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  const Library library(folder);
  const auto inputs = library.tensors("step_input"), outputs = library.tensors("step_output");
  std::vector<std::uint64_t> step(inputs.size() + outputs.size() + 4);
  std::vector<std::vector<std::byte>> memory;
  const auto point_at = [&](std::size_t place, std::int64_t bytes) {
    memory.emplace_back(static_cast<std::size_t>(bytes));
    step[place] = reinterpret_cast<std::uint64_t>(memory.back().data());
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) point_at(i, inputs[i]->bytes);
  for (std::size_t i = 0; i < outputs.size(); ++i) point_at(inputs.size() + i, outputs[i]->bytes);
  auto arena = cpu::Arena::reserve(1 << 20);
  REQUIRE(arena.ok());
  step[inputs.size() + outputs.size()] = reinterpret_cast<std::uint64_t>(arena->data());
  library.find<void(const void*)>("step_set_weights")(step.data());
  int written = 0;
  for (int steps = 0; steps < 2; ++steps) {
    REQUIRE(library.find<int(const void*)>("step_forward")(step.data()) == 0);
    library.find<void(const void*)>("step_write_back")(step.data());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i]->mutates < 0) continue;
      const auto* from = reinterpret_cast<const std::byte*>(step[inputs.size() + i]);
      const auto* to =
          reinterpret_cast<const std::byte*>(step[static_cast<std::size_t>(outputs[i]->mutates)]);
      CHECK(std::equal(from, from + outputs[i]->bytes, to));
      ++written;
    }
  }
  CHECK(written >= 2);
}

TEST_CASE("compile: says what it made, and shows nothing but its interface", "[native][aot]") {
  const TemporaryFolder folder;
  const native::TemporaryFile file("sine.recut");
  file.write(
      "graph \"sine\" {\n  %x = parameter f64[9]\n  %t = tangent f64[9]\n  %y = sin(%x)\n"
      "  %c = cos(%x)\n  %g = mul.Tensor(%t, %c)\n  results %y\n  gradients %g\n}\n");
  check_library(file.path(), {});  // by the C library's sine
  const Ran ran = compile(folder, file.path(), {"--json"});
  REQUIRE(ran.code == native::kDone);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["name"] == "step");
  CHECK(json["processor"] == "x86-64-v3");
  CHECK(json["inputs"] == 2);
  CHECK(json["gradients"] == 1);
  CHECK(json["library_bytes"] > 1000);
  const Library library(folder);
  CHECK_FALSE(library.has("kernel_0_0"));
  CHECK_FALSE(library.has("run"));
  CHECK(library.has("step_backward"));
}

TEST_CASE("compile: what can't be done is said", "[native][aot]") {
  const TemporaryFolder folder;
  const std::string mlp = RECUT_SOURCE_DIR "/samples/mlp.recut";
  const auto fault = [&](std::vector<std::string> options, int code) {
    const Ran ran = compile(folder, mlp, std::move(options));
    CHECK(ran.code == code);
    return ran.err;
  };
  CHECK(fault({"--budget", "1B"}, native::kCheckFailed).find("least") != std::string::npos);
  CHECK(fault({"--cpu", "abacus"}, native::kBadInput).find("'abacus'") != std::string::npos);
  CHECK(fault({"--linker", "no-such-linker"}, native::kBadInput).find("binutils") !=
        std::string::npos);
  CHECK(fault({"--linker", "false"}, native::kBadInput).find("can't link") != std::string::npos);
  CHECK(native::run({"compile", mlp, "-o", folder.path() + "/a.so", "--header",
                     folder.path() + "/a.h", "--name", "no good"})
            .err.find("no_good") != std::string::npos);
  CHECK(native::run({"compile", mlp, "-o", "/dev/null/step.so", "--header", "/dev/null/step.h"})
            .code == native::kBadInput);
}

}  // namespace
}  // namespace recut
