// Kept operators: look-ups say why they miss, and nothing damaged, old or foreign is ever found.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/support/version.h"
#include "native/operators/operator_store.h"
#include "native/operators/processor.h"
#include "tests/native/cache_at.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut::operators {
namespace {

using native::Ran;
using test::TemporaryFolder;

constexpr std::int64_t kPlentyOfRoom = 1 << 20;

OperatorStore kernels_in(const TemporaryFolder& folder, const std::string& build = "this",
                         std::int64_t limit = kPlentyOfRoom) {
  return OperatorStore({folder.path(), limit, build});
}

CallFacts facts(const std::string& first, const std::string& alpha = "1",
                const std::string& name = "aten.add.Tensor") {
  auto given = read_arguments({first, "f32[3]"}, {"alpha=" + alpha});
  REQUIRE(given.ok());
  const auto call = resolve_call(name, std::move(*given));
  REQUIRE(call.ok());
  return facts_of(*call);
}

void keep(const OperatorStore& store, const CallFacts& call, const std::string& library) {
  const auto kept = store.keep(call, library, default_processor(), 64);
  INFO((kept.ok() ? "" : kept.diagnostics().front().message));
  REQUIRE(kept.ok());
}

// "found", or the kind of the miss.
std::string looked_up(const OperatorStore& store, const CallFacts& call) {
  const Lookup lookup = store.find(call);
  return lookup.kernel ? "found" : std::string(name_of(lookup.miss.kind));
}

std::string kept_in(const TemporaryFolder& folder, const std::string& ending) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path()))
    if (file.path().string().ends_with(ending)) return file.path().string();
  FAIL("no file ends in " + ending);
  return "";
}

void overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_CASE("kept operators: a look-up says which argument differs, and how", "[native][cache]") {
  const TemporaryFolder folder;
  const OperatorStore store = kernels_in(folder);
  CHECK(store.find(facts("f32[2, 3]")).miss.reason == "no kernel of aten.add.Tensor is kept");
  keep(store, facts("f32[2, 3]"), "library");
  keep(store, facts("f32[4, 3]", "2"), "another");
  CHECK(looked_up(store, facts("f32[2, 3]")) == "found");
  CHECK(looked_up(store, facts("f32[4, 3]", "2")) == "found");
  const auto differ = [&](const std::string& first, const std::string& alpha = "1") {
    const Lookup lookup = store.find(facts(first, alpha));
    CHECK(lookup.miss.kind == MissKind::other_arguments);
    return lookup.miss.differences;
  };
  using Lines = std::vector<std::string>;
  CHECK(differ("f32[2, 3]{1, 2}") == Lines{"self: strides [1, 2], kept [3, 1]"});
  CHECK(differ("f64[2, 3]") == Lines{"self: dtype f64, kept f32"});
  CHECK(differ("f32[2, 3] grad") == Lines{"self: requires_grad true, kept false"});
  CHECK(differ("f32[2, 3]", "3") == Lines{"alpha: value 3, kept 1"});
  CHECK(differ("f32[2, 3]", "1.0") == Lines{"alpha: float 1.0, kept int 1"});
  CHECK(differ("f32[4, 3]", "3") == Lines{"alpha: value 3, kept 2"});  // the nearest
  CHECK(differ("7") == Lines{"self: int 7, kept tensor f32"});
}

TEST_CASE("kept operators: of lists, items differ", "[native][cache]") {
  const TemporaryFolder folder;
  const OperatorStore store = kernels_in(folder);
  const auto cat = [](const std::string& tensors) {
    auto given = read_arguments({tensors}, {});
    REQUIRE(given.ok());
    const auto call = resolve_call("aten.cat", std::move(*given));
    REQUIRE(call.ok());
    return facts_of(*call);
  };
  keep(store, cat("[f32[2], f32[3]]"), "library");
  CHECK(store.find(cat("[f32[2], f32[4]]")).miss.differences ==
        std::vector<std::string>{"tensors[1]: sizes [4], kept [3]"});
  CHECK(store.find(cat("[f32[2]]")).miss.differences ==
        std::vector<std::string>{"tensors: 1 items, kept 2"});
}

TEST_CASE("kept operators: other devices, versions and processors miss", "[native][cache]") {
  const TemporaryFolder folder;
  const OperatorStore store = kernels_in(folder);
  const CallFacts call = facts("f32[2, 3]");
  keep(store, call, "library");
  const Lookup device = store.find(facts("f32[2, 3] on cuda"));
  CHECK(device.miss.kind == MissKind::other_device);
  CHECK(device.miss.reason == "no kernel of aten.add.Tensor is kept for cuda, but for cpu");
  CHECK(looked_up(store, facts("f32[2, 3] on \"../cpu\"")) == "other device");

  const Lookup build = kernels_in(folder, "another").find(call);
  CHECK(build.miss.kind == MissKind::other_version);
  CHECK(build.miss.reason == "the kernel was compiled by Recut this, this is another");
  CHECK(looked_up(kernels_in(folder, ""), call) == "found");  // any build of this version
  const std::string record = kept_in(folder, "record.json");
  auto entries = read_record(native::bytes_of(record), call.target, call.device);
  REQUIRE(entries.ok());
  entries->front().version = "0.0.1";
  overwrite(record, record_text(*entries, call.target, call.device));
  CHECK(looked_up(kernels_in(folder, ""), call) == "other version");
  entries->front().version = std::string(version());
  entries->front().processor = "x86-64-v99";
  overwrite(record, record_text(*entries, call.target, call.device));
  CHECK(looked_up(store, call) == "other processor");
  keep(store, call, "library");
  CHECK(looked_up(store, call) == "found");
}

TEST_CASE("kept operators: no damaged byte is found", "[native][cache]") {
  const TemporaryFolder folder;
  const OperatorStore store = kernels_in(folder);
  const CallFacts call = facts("f32[2, 3]");
  keep(store, call, "library");
  const std::string record = kept_in(folder, "record.json"), library = kept_in(folder, ".so");
  const std::string text = native::bytes_of(record);
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {  // its last byte ends the line
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    overwrite(record, damaged);
    const Lookup lookup = store.find(call);
    // White space may change; whatever is found is what was kept.
    if (lookup.kernel) CHECK(lookup.kernel->arena_bytes == 64);
    if (lookup.kernel) CHECK(lookup.kernel->path == library);
    overwrite(record, text.substr(0, at));
    CHECK(looked_up(store, call) != "found");
  }
  std::string altered = text;
  altered.replace(altered.find("\"arena_bytes\": 64"), 17, "\"arena_bytes\": 16");
  overwrite(record, altered);
  CHECK(store.find(call).miss.reason == "the entry is damaged");
  CHECK(store.list(true).front().fault == "the entry is damaged");
  overwrite(record, "[]");
  CHECK(store.find(call).miss.reason == "the record is damaged: it is no JSON object");
  CHECK(store.list(true).size() == 1);

  keep(store, call, "library");
  CHECK(looked_up(store, call) == "found");
  CHECK(store.list(true).front().fault.empty());
  overwrite(library, "librarx");
  CHECK(store.find(call).miss.reason == "its library is damaged");
  CHECK(store.list(true).front().fault == "its library is damaged");
  std::filesystem::remove(library);
  CHECK(store.find(call).miss.reason == "its library is gone: it was evicted or removed");
  overwrite(library, "library");
  std::filesystem::permissions(library, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  CHECK(looked_up(store, call) == "damaged");
}

TEST_CASE("kept operators: libraries are replaced, evicted and cleared", "[native][cache]") {
  const TemporaryFolder folder;
  const OperatorStore store = kernels_in(folder, "this", 250);
  keep(store, facts("f32[2, 3]"), std::string(100, 'a'));
  keep(store, facts("f32[2, 3]"), std::string(100, 'b'));
  CHECK(store.list(true).size() == 1);
  keep(store, facts("f32[4, 3]"), std::string(100, 'c'));
  keep(store, facts("f32[4, 3]", "1", "aten.sub.Tensor"), std::string(100, 'd'));
  CHECK(looked_up(store, facts("f32[2, 3]")) == "damaged");  // the least recently used one
  CHECK(looked_up(store, facts("f32[4, 3]")) == "found");
  CHECK(looked_up(store, facts("f32[4, 3]", "1", "aten.sub.Tensor")) == "found");
  CHECK_FALSE(store.keep(facts("f32[5, 3]"), std::string(300, 'e'), "x86-64", 0).ok());
  CHECK(store.list(false).size() == 3);
  CHECK(store.clear() == 3);
  CHECK(store.list(false).empty());
  CHECK(looked_up(store, facts("f32[4, 3]")) == "nothing kept");
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/operators/aten"));
}

// Writers of one record take turns; a killed one leaves it as it was, or with its entry.
TEST_CASE("kept operators: many writers at once lose nothing", "[native][cache]") {
  const TemporaryFolder folder;
  constexpr int kWriters = 12;
  std::vector<CallFacts> calls;
  for (int i = 0; i < kWriters; ++i) calls.push_back(facts("f32[2, 3]", std::to_string(i)));
  std::vector<pid_t> children;
  for (int i = 0; i < kWriters; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      const OperatorStore store = kernels_in(folder);
      for (int again = 0; again < 20; ++again)
        if (!store.keep(calls[static_cast<std::size_t>(i)], "library " + std::to_string(i),
                        default_processor(), i))
          _exit(1);
      _exit(0);
    }
    if (i % 4 == 3) {
      usleep(2'000);
      kill(children.back(), SIGKILL);
    }
  }
  const OperatorStore store = kernels_in(folder);
  for (int i = 0; i < kWriters; ++i) {
    int status = 0;
    waitpid(children[static_cast<std::size_t>(i)], &status, 0);
    if (i % 4 == 3) continue;
    CHECK(status == 0);
    const Lookup lookup = store.find(calls[static_cast<std::size_t>(i)]);
    INFO(lookup.miss.reason);
    REQUIRE(lookup.kernel.has_value());
    CHECK(lookup.kernel->arena_bytes == i);
  }
  for (const KeptOperator& kept : store.list(true)) CHECK(kept.fault.empty());
}

TEST_CASE("cache: operators are listed, verified, looked up and cleared", "[native][cache]") {
  const TemporaryFolder folder;
  const test::CacheAt at(folder.path());
  const std::vector<std::string> call = {"--inputs", "f32[2, 3]", "f32[3]"};
  const auto with_call = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), call.begin(), call.end());
    return native::run(arguments);
  };
  const Ran missing = with_call({"cache", "list", "--operator", "aten.add.Tensor"});
  CHECK(missing.code == native::kCheckFailed);
  CHECK(missing.out.find("nothing kept: no kernel of aten.add.Tensor") != std::string::npos);
  REQUIRE(with_call({"compile-op", "aten.add.Tensor"}).code == native::kDone);
  const Ran kept = with_call({"cache", "list", "--operator", "aten.add"});
  CHECK(kept.code == native::kDone);
  CHECK(kept.out.find("aten.add.Tensor(f32[2, 3], f32[3], 1): kept") == 0);
  const Ran other = native::run({"cache", "list", "--json", "--operator", "aten.add.Tensor",
                                 "--inputs", "f32[2, 4]", "f32[4]"});
  CHECK(other.code == native::kCheckFailed);
  const auto json = nlohmann::json::parse(other.out);
  CHECK(json["found"] == false);
  CHECK(json["miss"]["kind"] == "other arguments");
  CHECK(json["miss"]["differences"].size() == 3);
  CHECK(native::run({"cache", "list", "--inputs", "1"}).code == native::kBadInput);

  CHECK(native::run({"cache", "list"}).out.find("aten.add.Tensor(f32[2, 3]") != std::string::npos);
  const auto entries =
      nlohmann::json::parse(native::run({"cache", "verify", "--json"}).out)["entries"];
  REQUIRE(entries.size() == 1);
  CHECK(entries[0]["kind"] == "operators");
  CHECK(entries[0]["fault"].is_null());
  CHECK(entries[0]["description"]["arguments"][1]["sizes"] == nlohmann::json({3}));
  overwrite(kept_in(folder, ".so"), "no library");
  const Ran verified = native::run({"cache", "verify"});
  CHECK(verified.code == native::kCheckFailed);
  CHECK(verified.out.find("its library is damaged") != std::string::npos);
  CHECK(native::run({"cache", "clear"}).out.find("removed 1 entry") == 0);
}

}  // namespace
}  // namespace recut::operators
