// Archives of torch.export.save, `.pt2`: a program, and the values of its weights beside it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/exported_program.h"
#include "engine/input/safetensors.h"
#include "engine/support/result.h"

namespace recut {

struct ExportedFile {
  ExportedProgram program;
  std::string text, member;             // the program's JSON, and the member that has it
  std::string key, note;                // GraphFile has them
  std::vector<std::string> keys;        // names of the archive's models
  std::vector<NamedTensor> tensors;     // in.<placeholder>
  std::shared_ptr<const void> storage;  // owner of the bytes of `tensors`
};

// Reads the model `key` of a zip archive; kDefaultGraphKey is the one named "model", or the first.
// Pickled members are never run: weights in them (archives up to PyTorch 2.8) have no values, and a
// note says so. Fails if the archive is damaged or holds no program, as that of torch.save or of
// AOTInductor, and if a weight lies outside its member.
Result<ExportedFile> read_exported_archive(std::string_view bytes, std::string_view file_name,
                                           std::string_view key);

}  // namespace recut
