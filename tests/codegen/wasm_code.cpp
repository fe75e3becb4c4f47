#include "tests/codegen/wasm_code.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/codegen/loop/legalize.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

using Json = nlohmann::json;
using loop::ScalarOp;

constexpr const char* kScript = RECUT_SOURCE_DIR "/tests/codegen/run_wasm.mjs";

// A node that runs until this program ends.
class Node {
 public:
  Node() {
    std::signal(SIGPIPE, SIG_IGN);
    if (!start({"node", "--experimental-wasm-relaxed-simd", kScript, nullptr})) return;
    const auto hello = answer();
    if (hello) relaxed_ = hello->first["relaxed"];
    running_ = hello.has_value();
  }
  ~Node() {
    if (child_ <= 0) return;
    close(to_);
    close(from_);
    waitpid(child_, nullptr, 0);
  }

  bool running() const { return running_; }
  bool relaxed() const { return relaxed_; }

  using Message = std::pair<Json, std::string>;
  std::optional<Message> ask(const Json& request, const std::string& bytes) {
    send(request.dump());
    send(bytes);
    return answer();
  }

 private:
  bool start(std::array<const char*, 4> words) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) return false;
    child_ = fork();
    if (child_ == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      execvp(words[0], const_cast<char* const*>(words.data()));
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
    return child_ > 0;
  }

  void send(const std::string& text) {
    std::string bytes(4, '\0');
    for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(text.size() >> (8 * i));
    bytes += text;
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t wrote = write(to_, bytes.data() + done, bytes.size() - done);
      if (wrote <= 0) return;
      done += static_cast<std::size_t>(wrote);
    }
  }

  std::optional<std::string> receive(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t have = 0; have < count;) {
      const ssize_t got = read(from_, bytes.data() + have, count - have);
      if (got <= 0) return std::nullopt;
      have += static_cast<std::size_t>(got);
    }
    return bytes;
  }

  std::optional<std::string> receive_sized() {
    const auto length = receive(4);
    if (!length) return std::nullopt;
    std::size_t count = 0;
    for (std::size_t i = 0; i < 4; ++i)
      count |= std::size_t{static_cast<unsigned char>((*length)[i])} << (8 * i);
    return receive(count);
  }

  std::optional<Message> answer() {
    const auto words = receive_sized();
    const auto bytes = words ? receive_sized() : std::nullopt;
    if (!bytes) return std::nullopt;
    return Message(Json::parse(*words), *bytes);
  }

  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
  bool running_ = false, relaxed_ = false;
};

Node& node() {
  static Node node;
  return node;
}

template <class Visit>
void for_each_statement(const loop::Block& block, Visit visit) {
  for (const loop::Statement& statement : block) {
    visit(statement);
    if (const auto* loop = std::get_if<loop::Loop>(&statement.value))
      for_each_statement(loop->body, visit);
    if (const auto* branch = std::get_if<loop::If>(&statement.value))
      for_each_statement(branch->body, visit);
  }
}

bool has_products_in_sums(const loop::Kernel& kernel) {
  bool found = false;
  for_each_statement(kernel.body, [&](const loop::Statement& statement) {
    const auto* update = std::get_if<loop::Update>(&statement.value);
    found |= update != nullptr && update->times.valid();
  });
  return found;
}

// Whether a function of the host's computes it, not to the bit.
bool is_of_host(ScalarOp op) {
  static constexpr std::array kExact{ScalarOp::div,      ScalarOp::sqrt,     ScalarOp::floor,
                                     ScalarOp::ceil,     ScalarOp::trunc,    ScalarOp::nearest,
                                     ScalarOp::copysign, ScalarOp::nextafter};
  const loop::Signature signature = loop::scalar_operator(op).signature;
  const bool real = signature == loop::Signature::reals1 || signature == loop::Signature::reals2;
  return real && std::find(kExact.begin(), kExact.end(), op) == kExact.end();
}

// Last places that the host's functions may be off.
int places_of_host(const loop::Kernel& kernel) {
  int places = 0;
  const loop::Kernel expanded = loop::legalize(kernel);
  for_each_statement(expanded.body, [&](const loop::Statement& statement) {
    const auto* define = std::get_if<loop::Define>(&statement.value);
    if (define == nullptr) return;
    const auto* apply = std::get_if<loop::Apply>(&define->expression);
    if (apply != nullptr && is_of_host(apply->op))
      places = std::max(places, expanded[define->value].type == DType::f64 ? 256 : 2);
  });
  return places;
}

}  // namespace

bool has_node() { return node().running(); }
bool has_relaxed_node() { return has_node() && node().relaxed(); }

Result<std::int64_t> run_wasm(const wasm::Module& module, std::size_t kernel,
                              std::span<const std::span<std::byte>> buffers, std::uint64_t seed) {
  Json request{{"scratch", module.scratch_bytes},
               {"seed", std::to_string(seed)},
               {"stages", Json::array()},
               {"lengths", {module.bytes.size()}}};
  for (const loop::Stage& stage : module.kernels[kernel])
    request["stages"].push_back({stage.symbol, stage.extent, stage.grain, stage.parallel});
  std::string bytes = module.bytes;
  for (const std::span<std::byte> buffer : buffers) {
    request["lengths"].push_back(buffer.size());
    if (!buffer.empty()) bytes.append(reinterpret_cast<const char*>(buffer.data()), buffer.size());
  }
  const auto answered = node().ask(request, bytes);
  if (!answered) return error("node is gone");
  const auto& [words, left] = *answered;
  if (words.contains("error")) return error(words["error"].get<std::string>());
  const char* from = left.data();
  for (const std::span<std::byte> buffer : buffers) {
    if (!buffer.empty()) std::memcpy(buffer.data(), from, buffer.size());
    from += buffer.size();
  }
  return words["fault"].get<std::int64_t>();
}

std::string wasm_difference(const loop::Kernel& kernel, const KernelMemory& memory,
                            int last_places) {
  if (!has_node() || (has_products_in_sums(kernel) && !has_relaxed_node())) return "";
  const wasm::Module module = wasm::emit({&kernel, 1}, {has_relaxed_node()});
  const Machine machine = [&](KernelMemory& on) {
    return run_wasm(module, 0, on.spans(), kCodeSeed);
  };
  const std::string what = difference_to_interpreter(kernel, memory, machine,
                                                     std::max(last_places, places_of_host(kernel)));
  return what.empty() ? "" : "WebAssembly: " + what;
}

}  // namespace recut::test
