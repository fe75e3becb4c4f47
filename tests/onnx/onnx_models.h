// The models of tests/onnx/models, and how to read them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/native/run_command.h"

namespace recut::native {

inline std::string onnx_folder() { return RECUT_SOURCE_DIR "/tests/onnx/models/"; }
inline std::string onnx_model(const std::string& name) { return onnx_folder() + name + ".onnx"; }
inline std::string onnx_tensors(const std::string& name) {
  return onnx_folder() + name + ".safetensors";
}

inline std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The command's words with what fixes the model's open dimensions.
inline std::vector<std::string> with_dimensions(std::vector<std::string> arguments,
                                                const std::string& name) {
  const auto add = [&](const char* word) { arguments.insert(arguments.end(), {"--dim", word}); };
  if (name == "tiny_bert" || name == "tiny_resnet") add("batch=2");
  if (name == "tiny_bert") add("tokens=5");
  return arguments;
}

inline std::vector<std::string> onnx_models_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(onnx_folder() + folder))
    if (entry.path().extension() == ".onnx") names.push_back(folder + entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Those with gradients by PyTorch, and those with values by onnxruntime alone.
inline std::vector<std::string> onnx_models() { return onnx_models_in(""); }
inline std::vector<std::string> all_onnx_models() {
  std::vector<std::string> names = onnx_models();
  for (std::string& name : onnx_models_in("forward/")) names.push_back(std::move(name));
  return names;
}

}  // namespace recut::native
