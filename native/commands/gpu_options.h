// Options of the commands that run on an NVIDIA GPU; they mean nothing on a processor.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "engine/support/result.h"

namespace recut::native {

// Adds --device ("cpu" or "cuda"), and --precision of the GPU's libraries.
void add_gpu_options(CLI::App& command, std::string& target, std::string& precision);

// The bytes of --workspace that libraries may take for a call; the default for "".
Result<std::int64_t> max_workspace(const std::string& workspace);

// Fails where one of these options was given for a processor.
Result<Done> refuse_gpu_options(const std::string& precision, const std::string& workspace);

}  // namespace recut::native
