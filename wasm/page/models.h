// ONNX models, read by a separate program (wasm/onnx) that js/models.js fetches with the first
// model. In the page and in its workers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/dimensions.h"
#include "engine/input/graph_file.h"
#include "engine/support/result.h"

namespace recut::page {

// True if files of this name need that program and it isn't loaded yet; the call starts loading it.
bool awaits_reader(std::string_view path);

// The model with its values; none where the name isn't a model's. Fails where the reader refuses
// the model, or couldn't be fetched.
std::optional<Result<GraphFile>> read_model(const std::string& path, const std::string& bytes,
                                            const Dimensions& sizes);

// The names of the dimensions that the model leaves open.
std::vector<std::string> open_dimensions(const std::string& path, const std::string& bytes);

}  // namespace recut::page
