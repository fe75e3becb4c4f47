#include "native/cache/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace recut::cache {
namespace {

constexpr std::string_view kTemporary = ".writing-";
constexpr std::int64_t kYoung = 60'000'000'000;  // nanoseconds

Diagnostic system_fault(const std::string& path) { return {std::strerror(errno), path, 0, 0}; }

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  operator int() const { return number_; }

 private:
  int number_;
};

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool read_all(int file, std::string& bytes) {
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(file, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return true;
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<Done> make_directory(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    struct stat facts {};
    if (mkdir(part.c_str(), 0700) != 0 && stat(part.c_str(), &facts) != 0)
      return system_fault(part);
    if (end == std::string::npos) return Done{};
  }
}

// The writer holds a lock on its temporary file; a file without a lock is abandoned.
Result<Done> write_whole(const std::string& path, std::string_view bytes) {
  std::string temporary = path.substr(0, path.rfind('/') + 1);
  temporary += std::string(kTemporary) + "XXXXXX";
  const Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file < 0) return system_fault(path);
  if (flock(file, LOCK_EX | LOCK_NB) == 0 && write_all(file, bytes) &&
      rename(temporary.c_str(), path.c_str()) == 0)
    return Done{};
  Diagnostic fault = system_fault(path);
  unlink(temporary.c_str());
  return fault;
}

Result<std::optional<std::string>> read_own(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file < 0 && errno == ENOENT) return std::optional<std::string>();
  struct stat facts {};
  if (file < 0 || fstat(file, &facts) != 0) return system_fault(path);
  const bool own = facts.st_uid == geteuid() || facts.st_uid == 0;
  if (!S_ISREG(facts.st_mode) || !own || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Diagnostic{"another user could have written this, so it isn't used", path, 0, 0};
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  if (!read_all(file, bytes)) return system_fault(path);
  return std::optional(std::move(bytes));
}

Result<FileLock> FileLock::take(const std::string& path) {
  FileLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.file_ < 0) return system_fault(path);
  while (flock(lock.file_, LOCK_EX) != 0)
    if (errno != EINTR) return system_fault(path);
  return lock;
}

FileLock::~FileLock() {
  if (file_ >= 0) close(file_);
}

void mark_used(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

std::vector<FileFacts> files_in(const std::string& directory) {
  std::vector<FileFacts> files;
  DIR* open = opendir(directory.c_str());
  if (open == nullptr) return files;
  while (const dirent* entry = readdir(open)) {
    struct stat facts {};
    const bool there = fstatat(dirfd(open), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && S_ISREG(facts.st_mode))
      files.push_back({entry->d_name, facts.st_size, nanoseconds(facts.st_mtim)});
  }
  closedir(open);
  std::sort(files.begin(), files.end(),
            [](const FileFacts& a, const FileFacts& b) { return a.name < b.name; });
  return files;
}

// A young file may be unlocked: its writer creates it first and locks it next.
void remove_abandoned(const std::string& directory) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  for (const FileFacts& found : files_in(directory)) {
    if (!found.name.starts_with(kTemporary) || nanoseconds(now) - found.used < kYoung) continue;
    const std::string path = directory + "/" + found.name;
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  }
}

}  // namespace recut::cache
