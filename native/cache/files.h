// Atomic files: a file is there whole or not at all, whichever writer is killed, and however many
// write at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/support/result.h"

namespace recut::cache {

// Makes the directory and its parents, for this user alone. Fails with the system's reason.
Result<Done> make_directory(const std::string& path);

// Writes to a temporary name beside `path`, then renames: readers see the old file, or all of the
// new one. Fails with the system's reason (a full disk, no permission) and leaves nothing. Without
// fsync: checksums find a file that a power cut left empty.
Result<Done> write_whole(const std::string& path, std::string_view bytes);

// The whole file; none where there is no such file. Fails where it can't be read, and where a user
// other than this one or root owns it or may write to it: such code isn't run.
Result<std::optional<std::string>> read_own(const std::string& path);

// Sets the file's time of last use, where that is allowed.
void mark_used(const std::string& path);

struct FileFacts {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t used = 0;  // last use, in nanoseconds since 1970
};

// An exclusive lock on a file, which it makes and leaves. It ends with this object or its process.
class FileLock {
 public:
  // Waits for the holder. Fails with the system's reason.
  static Result<FileLock> take(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& from) noexcept : file_(std::exchange(from.file_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;

 private:
  explicit FileLock(int file) : file_(file) {}

  int file_;
};

// The directory's plain files, by name; none where it can't be read.
std::vector<FileFacts> files_in(const std::string& directory);

// Removes temporary files that are a minute old and whose writers have ended.
void remove_abandoned(const std::string& directory);

}  // namespace recut::cache
