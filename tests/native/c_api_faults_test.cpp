// The C library's answers where memory runs out, or where it is wrong itself.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <stdexcept>
#include <vector>

#include "engine/ir/argument.h"
#include "native/c_api/attempt.h"
#include "tests/effort.h"
#include "tests/native/run_command.h"

namespace recut::c_api {
namespace {

// The status of some work, and its error message.
template <class Work>
std::pair<recut_status, std::string> tried(Work work) {
  char* error = nullptr;
  const recut_status status = attempt(&error, work);
  const std::string message = error != nullptr ? error : "";
  recut_text_free(error);
  return {status, message};
}

TEST_CASE("c_api: a failed check is a status, and the process lives on", "[native][c_api]") {
  const auto [status, message] = tried([]() -> recut_status {
    RECUT_CHECK(1 > 2, "one is not above two");
    return RECUT_OK;
  });
  CHECK(status == RECUT_INTERNAL);
  CHECK(message.find("one is not above two (1 > 2)") != std::string::npos);
  CHECK(message.find("c_api_faults_test.cpp") != std::string::npos);
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

// Leaves no more than so many bytes of addresses; false where that can't be had.
bool leave_addresses(rlim_t left) {
  grow_stack();
  std::ifstream status("/proc/self/statm");
  rlim_t pages = 0;
  status >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + left;
  const rlimit limit{most, most};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

// Reads and plans; the worst status.
recut_status read_and_plan(const std::string& bytes) {
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

// The deed's status in a process of its own, which has to end by itself.
int with_little_memory(rlim_t left, const std::function<recut_status()>& deed) {
  const pid_t child = fork();
  if (child == 0) _exit(leave_addresses(left) ? deed() : RECUT_INTERNAL);
  int state = 0;
  waitpid(child, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST_CASE("c_api: too little memory is a status", "[native][c_api]") {
  std::ifstream file(native::sample("gpt2.json.gz"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto deed = [&] { return read_and_plan(bytes); };
  int refused = 0;
  for (const rlim_t mebibytes : {0, 1, 2, 4, 8, 12, 16, 24, 32, 1000}) {
    INFO(mebibytes);
    const int status = with_little_memory(mebibytes << 20, deed);
    CHECK((status == RECUT_OK || status == RECUT_OUT_OF_MEMORY));
    refused += status == RECUT_OUT_OF_MEMORY ? 1 : 0;
  }
  CHECK(refused >= 3);
  CHECK(with_little_memory(rlim_t{1} << 30, deed) == RECUT_OK);
}

// What isn't copied isn't destroyed (engine/support/variant_copy.h).
TEST_CASE("c_api: a copy that memory is too little for is a status", "[native][c_api]") {
  const std::string text(std::size_t{32} << 20, 'x');
  const Argument argument(text);
  const ArgumentList list{1, 2.5, argument};
  const Argument nested(list);
  const Result<std::string> good(text);
  const Result<std::string> bad(error(text));
  const auto status_of_copying = [](const auto& from) {
    return with_little_memory(rlim_t{16} << 20, [&] {
      return attempt(nullptr, [&] {
        const auto copy = from;
        [[maybe_unused]] const volatile void* kept = &copy;
        return RECUT_OK;
      });
    });
  };
  CHECK(status_of_copying(argument) == RECUT_OUT_OF_MEMORY);
  CHECK(status_of_copying(list) == RECUT_OUT_OF_MEMORY);
  CHECK(status_of_copying(nested) == RECUT_OUT_OF_MEMORY);
  CHECK(status_of_copying(good) == RECUT_OUT_OF_MEMORY);
  CHECK(status_of_copying(bad) == RECUT_OUT_OF_MEMORY);
}

#endif

}  // namespace
}  // namespace recut::c_api
