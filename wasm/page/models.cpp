#include "wasm/page/models.h"

#include <fmt/core.h>

#include <cstdlib>
#include <memory>

#include "engine/input/graph_file_reader.h"
#include "engine/support/shell_word.h"
#include "gui/backend/paths.h"
#include "wasm/onnx/model_reply.h"
#include "wasm/page/bridge.h"

namespace recut::page {
namespace {

constexpr std::string_view kEnding = ".onnx";

// The states of js/models.js.
enum class Reader : int { absent, loading, ready };

bool is_model(std::string_view path) { return path.ends_with(kEnding); }

Diagnostic no_reader(const std::string& path) {
  const std::string name = gui::file_name(path);
  const std::string stem = name.substr(0, name.size() - kEnding.size());
  return Diagnostic{
      fmt::format(
          "the reader of ONNX models can't be had: there is no connection, or no memory left. "
          "The command makes a .recut file of the model: `recut import {} --out {}`",
          shell_word(name), shell_word(stem + ".recut")),
      path, 0, 0};
}

// A reply of the reader, in this program's memory.
class Reply {
 public:
  explicit Reply(char* bytes, int count) : bytes_(bytes), count_(count) {}
  ~Reply() { std::free(bytes_); }
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

  bool there() const { return bytes_ != nullptr; }
  gui::Unpacker unpack() const { return gui::Unpacker({bytes_, static_cast<std::size_t>(count_)}); }

 private:
  char* const bytes_;
  const int count_;
};

Result<GraphFile> graph_file_of(ReadModel model, const std::string& path) {
  auto file = read_graph_bytes(model.text, path);
  if (!file) return file;
  const auto values = std::make_shared<const std::string>(std::move(model.tensors));
  auto tensors = parse_safetensors(*values, path);
  if (!tensors) return tensors.diagnostics();
  file->tensors = std::move(*tensors);
  file->storage = values;
  return file;
}

}  // namespace

bool awaits_reader(std::string_view path) {
  return is_model(path) && static_cast<Reader>(host_models_state()) == Reader::loading;
}

std::optional<Result<GraphFile>> read_model(const std::string& path, const std::string& bytes,
                                            const Dimensions& sizes) {
  if (!is_model(path)) return std::nullopt;
  int count = 0;
  const Reply reply(host_read_model(path.c_str(), bytes.data(), bytes.size(),
                                    write_dimensions(sizes).c_str(), &count),
                    count);
  if (!reply.there()) return no_reader(path);
  auto unpack = reply.unpack();
  auto model = unpack.result<ReadModel>();
  if (!model) return model.diagnostics();
  return graph_file_of(std::move(*model), path);
}

std::vector<std::string> open_dimensions(const std::string& path, const std::string& bytes) {
  if (!is_model(path)) return {};
  int count = 0;
  const Reply reply(host_open_dimensions(bytes.data(), bytes.size(), &count), count);
  if (!reply.there()) return {};
  auto unpack = reply.unpack();
  return unpack.get<std::vector<std::string>>();
}

}  // namespace recut::page
