// Options of the commands that run on an NVIDIA card, which mean nothing to a processor.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "engine/support/result.h"

namespace recut::native {

// --device, "cpu" or "cuda"; and --precision, of the card's libraries.
void add_card_options(CLI::App& command, std::string& target, std::string& precision);

// Bytes that libraries may take for a call, as --workspace has them; the usual where it is "".
Result<std::int64_t> most_workspace(const std::string& workspace);

// Fails where one of them was given for a processor.
Result<Done> refuse_card_options(const std::string& precision, const std::string& workspace);

}  // namespace recut::native
