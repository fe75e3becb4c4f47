// The commands of this folder's program (main.cpp). Each returns 0 where its checks hold, 1 where
// they fail, 2 where it can't tell.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut::smoke {

using CommandArguments = std::span<const std::string>;

int show_command(CommandArguments given);
int window_command(CommandArguments given);
int step_command(CommandArguments given);
int train_command(CommandArguments given);

Result<Done> write_text(const std::string& path, std::string_view text);

}  // namespace recut::smoke
