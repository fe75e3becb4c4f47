// The cache's directory: nothing wrong is ever given back, whatever happens to it, and nothing is
// lost but time.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "engine/support/hash.h"
#include "native/cache/build.h"
#include "native/cache/entry.h"
#include "native/cache/store.h"
#include "tests/native/temporary_folder.h"

namespace recut::cache {
namespace {

using test::TemporaryFolder;

constexpr std::int64_t kPlenty = 1 << 30;

Store store_in(const TemporaryFolder& folder, std::int64_t limit = kPlenty,
               const std::string& build = "0.1.0 (this)") {
  return Store({folder.path(), limit, build});
}

Digest key_of(std::uint64_t number) { return digest_of({"test", std::to_string(number)}); }

// Contents that name their key, so that any result can be checked.
std::string contents_of(std::uint64_t number) {
  std::string bytes = std::to_string(number) + ":";
  for (std::uint64_t i = 0; bytes.size() < 4'000; ++i)
    bytes += static_cast<char>(hash_mix(number, i));
  return bytes;
}

Result<Done> keep(const Store& store, std::uint64_t number) {
  return store.keep("steps", key_of(number), contents_of(number), "{}");
}

// "" where nothing is found, "right", or the fault.
std::string found(const Store& store, std::uint64_t number) {
  const auto payload = store.find("steps", key_of(number));
  if (!payload) return payload.diagnostics().front().message;
  if (!*payload) return "";
  return **payload == contents_of(number) ? "right" : "WRONG";
}

std::string entry_path(const TemporaryFolder& folder, std::uint64_t number,
                       const std::string& ending = ".entry") {
  return folder.path() + "/steps/" + key_of(number).hex() + ending;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::size_t files_in(const std::string& directory) {
  std::size_t count = 0;
  std::error_code gone;
  for (auto at = std::filesystem::directory_iterator(directory, gone);
       at != std::filesystem::directory_iterator(); at.increment(gone))
    ++count;
  return count;
}

// Runs the work in a child that ends without the test program's own cleanup.
pid_t in_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_CASE("cache: digests are BLAKE3, and lists of texts don't run together", "[native][cache]") {
  CHECK(digest_of({}).hex() == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  CHECK(digest_of({"ab", "c"}) != digest_of({"a", "bc"}));
  CHECK(Digest::from_hex(key_of(1).hex()) == key_of(1));
  CHECK_FALSE(Digest::from_hex("abc").has_value());
  CHECK_FALSE(Digest::from_hex(std::string(64, 'x')).has_value());
  CHECK(this_build().starts_with("0.1.0 ("));
}

TEST_CASE("cache: what was kept is found, and replaced", "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder);
  CHECK(found(store, 1) == "");
  REQUIRE(keep(store, 1).ok());
  REQUIRE(keep(store, 2).ok());
  CHECK(found(store, 1) == "right");
  CHECK(found(store, 2) == "right");
  CHECK(found(store, 3) == "");
  REQUIRE(store.keep("steps", key_of(1), "new", "{}").ok());
  CHECK(**store.find("steps", key_of(1)) == "new");
  CHECK(store.list(true).size() == 2);
  CHECK(store.clear() == 2);
  CHECK(found(store, 2) == "");
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("cache: an entry with any byte changed, cut off or lengthened is not used",
          "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder);
  REQUIRE(store.keep("steps", key_of(1), "some machine code", "{}").ok());
  const std::string path = entry_path(folder, 1), sound = read(path);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    std::string flipped = sound;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
    REQUIRE_FALSE(read_entry(flipped, key_of(1)).ok());
    REQUIRE_FALSE(read_entry(sound.substr(0, i), key_of(1)).ok());
  }
  CHECK_FALSE(read_entry(sound + "x", key_of(1)).ok());
  CHECK(read_entry(sound, key_of(1)).ok());
  for (const std::string& bytes : {std::string(), std::string("{}"), sound.substr(0, 90),
                                   sound + sound, std::string(sound.size(), '\0')}) {
    write(path, bytes);
    CHECK_FALSE(store.find("steps", key_of(1)).ok());
    CHECK(store.list(true).front().fault != "");
  }
  REQUIRE(keep(store, 1).ok());  // built anew in its place
  CHECK(found(store, 1) == "right");
  CHECK(store.list(true).front().fault == "");
}

TEST_CASE("cache: an entry under another key, or of another build, is not used",
          "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder), older = store_in(folder, kPlenty, "0.0.9 (that)");
  REQUIRE(keep(store, 1).ok());
  REQUIRE(keep(store, 2).ok());
  std::filesystem::rename(entry_path(folder, 1), folder.path() + "/steps/aside");
  std::filesystem::rename(entry_path(folder, 2), entry_path(folder, 1));
  std::filesystem::rename(folder.path() + "/steps/aside", entry_path(folder, 2));
  CHECK(found(store, 1) == "the entry is another one's: it was kept elsewhere");
  CHECK(found(store, 2) == "the entry is another one's: it was kept elsewhere");
  REQUIRE(keep(older, 3).ok());
  CHECK(found(older, 3) == "right");
  CHECK(found(store, 3) == "the entry was written by Recut 0.0.9 (that), this is 0.1.0 (this)");
}

TEST_CASE("cache: descriptions are for people: garbage in them is told and changes nothing",
          "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder);
  REQUIRE(keep(store, 1).ok());
  CHECK(store.list(true).front().fault == "");
  write(entry_path(folder, 1, ".json"), "{\"kind\": ");
  CHECK(store.list(true).front().fault == "its description is no JSON");
  CHECK(found(store, 1) == "right");
  std::filesystem::remove(entry_path(folder, 1, ".json"));
  CHECK(found(store, 1) == "right");
}

TEST_CASE("cache: what others may write to is not used", "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder);
  REQUIRE(keep(store, 1).ok());
  REQUIRE(chmod(entry_path(folder, 1).c_str(), 0666) == 0);
  CHECK(found(store, 1) == "another user could have written this, so it isn't used");
  std::filesystem::remove(entry_path(folder, 1));
  write(folder.path() + "/elsewhere", "x");
  std::filesystem::create_symlink(folder.path() + "/elsewhere", entry_path(folder, 1));
  CHECK_FALSE(store.find("steps", key_of(1)).ok());
}

TEST_CASE("cache: a directory that can't be written or read costs time alone", "[native][cache]") {
  const TemporaryFolder folder;
  write(folder.path() + "/file", "");
  const Store store({folder.path() + "/file/within", kPlenty, "build"});
  CHECK(found(store, 1) != "right");
  CHECK_FALSE(keep(store, 1).ok());
  CHECK(store.list(true).empty());
  CHECK(store.clear() == 0);
  if (geteuid() == 0) return;  // root may write everywhere
  const Store closed = store_in(folder);
  REQUIRE(keep(closed, 1).ok());
  REQUIRE(chmod((folder.path() + "/steps").c_str(), 0500) == 0);
  CHECK_FALSE(keep(closed, 2).ok());
  CHECK(found(closed, 1) == "right");
  REQUIRE(chmod((folder.path() + "/steps").c_str(), 0) == 0);
  CHECK(found(closed, 1) != "right");
  REQUIRE(chmod((folder.path() + "/steps").c_str(), 0700) == 0);
}

TEST_CASE("cache: a full disk keeps nothing and leaves nothing", "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder);
  REQUIRE(keep(store, 1).ok());
  const std::size_t files = files_in(folder.path() + "/steps");
  const int status = status_of(in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    for (const rlim_t most : {0, 1, 1'000, 3'900}) {
      const rlimit limit{most, 100'000};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || keep(store, 2).ok() || keep(store, 1).ok())
        _exit(1);
    }
  }));
  CHECK(status == 0);
  CHECK(files_in(folder.path() + "/steps") == files);
  CHECK(found(store, 1) == "right");
  CHECK(found(store, 2) == "");
}

TEST_CASE("cache: a writer that is killed at any moment leaves what was there, or all of it anew",
          "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder);
  REQUIRE(keep(store, 0).ok());  // on a slow machine none of the children may come so far
  for (std::uint64_t round = 0; round < 60; ++round) {
    const pid_t child = in_child([&] {
      for (std::uint64_t i = 0;; ++i) (void)keep(store, i % 5);
    });
    usleep(static_cast<useconds_t>(300 + hash_mix(1, round) % 4'000));
    kill(child, SIGKILL);
    REQUIRE(WIFSIGNALED(status_of(child)));
    for (std::uint64_t i = 0; i < 5; ++i) {
      const std::string state = found(store, i);
      REQUIRE((state == "" || state == "right"));
    }
  }
  for (const auto& file : std::filesystem::directory_iterator(folder.path() + "/steps"))
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  REQUIRE(keep(store, 9).ok());
  for (const auto& file : std::filesystem::directory_iterator(folder.path() + "/steps"))
    CHECK(file.path().filename().string().front() != '.');
}

TEST_CASE("cache: two hundred processes at once", "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder, 30 * 4'200);  // not enough for all: they make room, too
  std::vector<pid_t> children;
  for (std::uint64_t process = 0; process < 200; ++process)
    children.push_back(in_child([&, process] {
      for (std::uint64_t i = 0; i < 3; ++i) {
        const std::uint64_t number = hash_mix(process, i) % 40;
        if (!keep(store, number).ok()) _exit(1);
        for (const std::uint64_t other : {number, (number + process) % 40}) {
          const std::string state = found(store, other);
          if (state != "" && state != "right") _exit(2);
        }
      }
    }));
  for (const pid_t child : children) CHECK(status_of(child) == 0);
  std::int64_t bytes = 0;
  for (const EntryFacts& entry : store.list(true)) {
    CHECK(entry.fault == "");
    bytes += entry.bytes;
  }
  CHECK(bytes <= store.limit_bytes());
  CHECK(store.list(false).size() > 20);
}

TEST_CASE("cache: what was used least lately makes room", "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder, 3 * 4'200);
  for (const std::uint64_t number : {1, 2, 3}) {
    REQUIRE(keep(store, number).ok());
    usleep(20'000);
  }
  CHECK(found(store, 1) == "right");
  usleep(20'000);
  REQUIRE(keep(store, 4).ok());
  CHECK(found(store, 1) == "right");
  CHECK(found(store, 2) == "");
  CHECK(found(store, 3) == "right");
  CHECK(found(store, 4) == "right");
  const auto refused = store_in(folder, 3'000).keep("steps", key_of(5), contents_of(5), "{}");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.diagnostics().front().message.find("more than the cache may hold") !=
        std::string::npos);
  CHECK(found(store, 4) == "right");
}

TEST_CASE("cache: clearing takes entries and nothing else", "[native][cache]") {
  const TemporaryFolder folder;
  const Store store = store_in(folder);
  REQUIRE(keep(store, 1).ok());
  write(folder.path() + "/steps/notes.txt", "mine");
  write(folder.path() + "/other", "mine");
  CHECK(store.clear() == 1);
  CHECK(files_in(folder.path()) == 2);
  CHECK(read(folder.path() + "/steps/notes.txt") == "mine");
}

}  // namespace
}  // namespace recut::cache
