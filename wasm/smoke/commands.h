// What the program of this folder does, each by a word (main.cpp). All of them end with 0 where
// everything holds, with 1 where it doesn't, with 2 where it can't be told.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace recut::smoke {

using Words = std::span<const std::string>;

int show_command(Words given);
int window_command(Words given);
int step_command(Words given);
int train_command(Words given);

Result<Done> write_text(const std::string& path, std::string_view text);

}  // namespace recut::smoke
