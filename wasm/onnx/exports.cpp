// The reader of ONNX models, as the page calls it: bytes in, a packed ModelReply out.
#include <emscripten/emscripten.h>

#include <new>
#include <string>

#include "engine/ir/printer.h"
#include "engine/onnx/read_onnx.h"
#include "wasm/onnx/model_reply.h"

namespace {

using namespace recut;

std::string reply;  // valid until the next call

// The model, or the reason of a failure; missing memory is a reason as well.
Result<page::ReadModel> read(const char* name, std::string_view bytes, const char* sizes) {
  const auto dimensions = read_dimensions(sizes);
  if (!dimensions) return dimensions.diagnostics();
  onnx::Options options;
  options.dimensions = *dimensions;
  const auto file = onnx::read_onnx(bytes, name, options);
  if (!file) return file.diagnostics();
  return page::ReadModel{print(file->graph), write_safetensors(file->tensors)};
}

}  // namespace

extern "C" {

// `sizes`: as write_dimensions writes them. The caller owns the bytes, this program the answer.
EMSCRIPTEN_KEEPALIVE const char* onnx_read(const char* name, const char* bytes, std::size_t count,
                                           const char* sizes) {
  gui::Packer pack;
  try {
    pack(read(name, {bytes, count}, sizes));
  } catch (const std::bad_alloc&) {
    pack(Result<page::ReadModel>(Diagnostic{
        "the model is too large for this page: open it in the desktop's window", name, 0, 0}));
  }
  reply = pack.take();
  return reply.data();
}

EMSCRIPTEN_KEEPALIVE const char* onnx_open_dimensions(const char* bytes, std::size_t count) {
  gui::Packer pack;
  pack(onnx::open_dimensions({bytes, count}));
  reply = pack.take();
  return reply.data();
}

EMSCRIPTEN_KEEPALIVE std::size_t onnx_reply_size() { return reply.size(); }
}
