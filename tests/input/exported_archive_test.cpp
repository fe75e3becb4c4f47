// Archives of torch.export.save: real ones give the values that PyTorch computed, however they are
// zipped, and other archives are refused with words.
#include "engine/input/exported_archive.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/input/bytes.h"
#include "engine/input/graph_file_reader.h"
#include "engine/input/zip_archive.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "engine/workspace/evaluation.h"
#include "tests/input/zip_writer.h"
#include "tests/paths.h"

namespace recut {
namespace {

const std::string kArchives = RECUT_SOURCE_DIR "/tests/input/exported/";
const std::string kSharedArchives = RECUT_SOURCE_DIR "/../shared/inputs/pt2/";

// The archive's own values, and those of the caller beside it, give PyTorch's results.
void check_values(const std::string& bytes, const std::string& tensors_path) {
  const auto file = read_graph_bytes(bytes, "m.pt2");
  if (!file) FAIL(format(file.diagnostics()));
  REQUIRE(verify(file->graph).empty());
  const auto beside = read_file(tensors_path);
  std::vector<NamedTensor> tensors = *parse_safetensors(*beside, tensors_path);
  tensors.insert(tensors.end(), file->tensors.begin(), file->tensors.end());
  EvaluationRequest request;
  request.tensors = tensors;
  const auto report = evaluate_graph(file->graph, request);
  if (!report) FAIL(format(report.diagnostics()));
  REQUIRE_FALSE(report->outputs.empty());
  CHECK(report->agrees());
}

TEST_CASE("exported archives: values are PyTorch's") {
  for (const char* name :
       {"buffers_mutated", "cond", "conv_bn_train", "gru", "layers", "lstm", "mlp_batch"}) {
    INFO(name);
    check_values(*read_file(kArchives + name + ".pt2"), kArchives + name + ".safetensors");
  }
}

TEST_CASE("exported archives: values of all shared programs are PyTorch's") {
  if (!std::filesystem::exists(kSharedArchives)) SKIP("there is no folder ../shared/inputs/pt2");
  for (const char* name :
       {"buffers_mutated", "cond", "conv_bn", "conv_bn_train", "gpt2_tiny", "mlp_batch"}) {
    INFO(name);
    check_values(*read_file(kSharedArchives + name + ".pt2"),
                 kSharedArchives + name + ".safetensors");
  }
}

// The same members, zipped in another way, under another root, without the named ones.
std::string zipped_anew(const std::string& bytes, ZipStyle style, const std::string& root,
                        const std::string& without = "") {
  const auto archive = ZipArchive::open(bytes);
  ZipWriter writer(style);
  for (const ZipMember& member : archive->members()) {
    const std::string name = member.name.substr(member.name.find('/') + 1);
    if (without.empty() || name.find(without) == std::string::npos)
      writer.add(root + name, *archive->unpack(member, 1 << 20));
  }
  return writer.finish();
}

TEST_CASE("exported archives: the way of zipping changes nothing") {
  const std::string bytes = *read_file(kArchives + "conv_bn_train.pt2");
  for (const bool deflated : {false, true})
    for (const bool descriptors : {false, true})
      check_values(zipped_anew(bytes, {deflated, descriptors, deflated}, "archive/"),
                   kArchives + "conv_bn_train.safetensors");
}

TEST_CASE("exported archives: a program without its values says so") {
  const std::string bytes = *read_file(kArchives + "mlp_batch.pt2");
  const auto file = read_graph_bytes(zipped_anew(bytes, {}, "m/", "weights"), "m.pt2");
  if (!file) FAIL(format(file.diagnostics()));
  CHECK(file->tensors.empty());
  CHECK(file->printed_note.find("the file has no values of 4 of its weights, 0.weight, 0.bias, "
                                "2.weight, …: they are pickled") != std::string::npos);

  const auto archive = ZipArchive::open(bytes);
  ZipWriter old;
  old.add("serialized_exported_program.json",
          *archive->unpack(*archive->find("mlp_batch/models/model.json"), 1 << 20));
  old.add("serialized_state_dict.pt", "pickle");
  old.add("version", "8.2");
  const auto flat = read_graph_bytes(old.finish(), "m.pt2");
  if (!flat) FAIL(format(flat.diagnostics()));
  CHECK(print(flat->graph) == print(file->graph));
  CHECK(flat->graph_keys == std::vector<std::string>{"model"});
}

std::string archive_fault(const std::string& bytes, std::string_view key = kDefaultGraphKey) {
  const auto file = read_graph_bytes(bytes, "m.pt2", key);
  return file ? "" : format(file.diagnostics());
}

TEST_CASE("exported archives: other archives are refused with words") {
  const auto with = [](std::initializer_list<std::pair<const char*, const char*>> members) {
    ZipWriter writer;
    for (const auto& [name, text] : members) writer.add(name, text);
    return writer.finish();
  };
  CHECK(
      archive_fault(with({{"m/data.pkl", "x"}})).find("written by torch.save: it holds a pickle") !=
      std::string::npos);
  CHECK(archive_fault(with({{"m/data.pkl", "x"}, {"m/code/a.py", "x"}})).find("TorchScript") !=
        std::string::npos);
  CHECK(archive_fault(with({{"m/data/aotinductor/model/a.so", "x"}})).find("AOTInductor package") !=
        std::string::npos);
  CHECK(archive_fault(with({{"m/a.txt", "x"}})).find("without a program of torch.export") !=
        std::string::npos);
  CHECK(archive_fault(with({{"m/a.txt", "x"}, {"n/a.txt", "x"}})).find("several roots") !=
        std::string::npos);
  CHECK(archive_fault(with({{"m/models/model.json", "{}"}, {"m/archive_format", "pt3"}}))
            .find("says 'pt3', expected 'pt2'") != std::string::npos);
  CHECK(archive_fault(with({{"m/models/model.json", "{}"}, {"m/byteorder", "big"}}))
            .find("says 'big', expected 'little'") != std::string::npos);
  CHECK(archive_fault(with({{"m/models/model.json", "{"}})).find("m.pt2/m/models/model.json:1:") ==
        0);
  CHECK(archive_fault(with({{"m/models/a.json", "{}"}, {"m/models/b.json", "{}"}}), "c")
            .find("there is no graph 'c', expected one of: a, b") != std::string::npos);
}

// mlp_batch with another configuration of its weights.
std::string with_weights(const std::string& config) {
  const std::string bytes = *read_file(kArchives + "mlp_batch.pt2");
  const auto archive = ZipArchive::open(bytes);
  ZipWriter writer;
  for (const ZipMember& member : archive->members())
    writer.add(member.name, member.name.find("weights_config") == std::string::npos
                                ? *archive->unpack(member, 1 << 20)
                                : config);
  return writer.finish();
}

std::string weight(std::string_view path, std::string_view sizes, std::string_view strides,
                   int offset) {
  return fmt::format(
      R"({{"config": {{"2.bias": {{"path_name": "{}", "is_param": true, "use_pickle": false, "tensor_meta": {{"dtype": 7, "sizes": [{}], "strides": [{}], "storage_offset": {{"as_int": {}}}, "device": {{"type": "cpu"}}, "layout": 7}}}}}}}})",
      path, sizes, strides, offset);
}

TEST_CASE("exported archives: weights view their member, and never beyond") {
  // weight_0 has 192 elements.
  const std::string four = R"({"as_int": 4})";
  const auto file =
      read_graph_bytes(with_weights(weight("weight_0", four, R"({"as_int": 3})", 182)), "m.pt2");
  if (!file) FAIL(format(file.diagnostics()));
  REQUIRE(file->tensors.size() == 1);
  CHECK(file->tensors[0].name == "in.p_2_bias");
  const std::string bytes = *read_file(kArchives + "mlp_batch.pt2");
  const auto archive = ZipArchive::open(bytes);
  const std::string whole =
      *archive->unpack(*archive->find("mlp_batch/data/weights/weight_0"), 1 << 20);
  std::string expected;
  for (const std::size_t element : {182, 185, 188, 191}) expected += whole.substr(4 * element, 4);
  CHECK(file->tensors[0].bytes == expected);

  const std::string beyond =
      archive_fault(with_weights(weight("weight_0", four, R"({"as_int": 3})", 183)));
  INFO(beyond);
  CHECK(beyond.find("it is f32[4]{3} on cpu from element 183, and its member has 192 elements") !=
        std::string::npos);
  CHECK_FALSE(
      archive_fault(with_weights(weight("weight_0", four, R"({"as_int": 1})", -1))).empty());
  CHECK_FALSE(archive_fault(with_weights(weight("weight_9", four, R"({"as_int": 1})", 0))).empty());
  CHECK_FALSE(
      archive_fault(with_weights(weight("../constants/x", four, R"({"as_int": 1})", 0))).empty());
  // A view that repeats one element for more bytes than any archive of this size may take.
  CHECK(archive_fault(
            with_weights(weight("weight_0", R"({"as_int": 1000000000})", R"({"as_int": 0})", 0)))
            .find("far more memory than the file") != std::string::npos);
}

}  // namespace
}  // namespace recut
