// What the C library says where it is out of memory, or wrong itself.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <vector>

#include "native/c_api/attempt.h"
#include "tests/effort.h"
#include "tests/native/run_command.h"

namespace recut::c_api {
namespace {

// The status of some work, and what is said of it.
template <class Work>
std::pair<recut_status, std::string> tried(Work work) {
  char* error = nullptr;
  const recut_status status = attempt(&error, work);
  const std::string words = error != nullptr ? error : "";
  recut_text_free(error);
  return {status, words};
}

TEST_CASE("c_api: a failed check is a status, and the process lives on", "[native][c_api]") {
  const auto [status, words] = tried([]() -> recut_status {
    RECUT_CHECK(1 > 2, "one is not above two");
    return RECUT_OK;
  });
  CHECK(status == RECUT_INTERNAL);
  CHECK(words.find("one is not above two (1 > 2)") != std::string::npos);
  CHECK(words.find("c_api_faults_test.cpp") != std::string::npos);
}

TEST_CASE("c_api: whatever is thrown ends in a status", "[native][c_api]") {
  CHECK(tried([]() -> recut_status { throw std::bad_alloc(); }).first == RECUT_OUT_OF_MEMORY);
  CHECK(tried([]() -> recut_status { throw std::runtime_error("oh"); }).second == "oh");
  CHECK(tried([]() -> recut_status { throw 3; }).first == RECUT_INTERNAL);
  CHECK(attempt(nullptr, []() -> recut_status { throw 3; }) == RECUT_INTERNAL);
}

#if !RECUT_SANITIZED  // which takes all addresses for itself

// The stack's own growth counts as addresses, too, and ends the process where none are left: so it
// has grown before.
[[gnu::noinline]] void grow_stack() {
  volatile char pages[1 << 20];
  for (std::size_t i = 0; i < sizeof pages; i += 4096) pages[i] = 0;
}

// Reads and plans where no more than so many bytes of addresses are left; the worst status.
recut_status with_little_memory(const std::string& bytes, rlim_t left) {
  grow_stack();
  std::ifstream status("/proc/self/statm");
  rlim_t pages = 0;
  status >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + left;
  const rlimit limit{most, most};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return RECUT_INTERNAL;
  recut_graph* graph = nullptr;
  recut_plan* plan = nullptr;
  char* error = nullptr;
  recut_status worst = recut_graph_read(bytes.data(), bytes.size(), "f", nullptr, &graph, &error);
  recut_text_free(error);
  if (graph == nullptr) return worst;
  worst = recut_plan_make(graph, "{\"effort\": 0.01}", nullptr, &plan, nullptr);
  recut_plan_free(plan);
  recut_graph_free(graph);
  return worst;
}

// In a process of its own, which has to end by itself.
int in_child(const std::string& bytes, rlim_t left) {
  const pid_t child = fork();
  if (child == 0) _exit(with_little_memory(bytes, left));
  int state = 0;
  waitpid(child, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST_CASE("c_api: too little memory is a status", "[native][c_api]") {
  std::ifstream file(native::sample("gpt2.json.gz"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  int refused = 0;
  for (const rlim_t mebibytes : {0, 1, 2, 4, 8, 12, 16, 24, 32, 1000}) {
    INFO(mebibytes);
    const int status = in_child(bytes, mebibytes << 20);
    CHECK((status == RECUT_OK || status == RECUT_OUT_OF_MEMORY));
    refused += status == RECUT_OUT_OF_MEMORY ? 1 : 0;
  }
  CHECK(refused >= 3);
  CHECK(in_child(bytes, rlim_t{1} << 30) == RECUT_OK);
}

#endif

}  // namespace
}  // namespace recut::c_api
