#include "native/cuda/nvrtc.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace recut::cuda {
namespace {

constexpr std::size_t kShownLog = 2000;
constexpr std::string_view kNvrtcFile = "step.cu", kHead = "extern \"C\" __global__";

Result<Done> find_functions(const SharedLibrary& library, nvrtc::Functions& functions) {
#define RECUT_FUNCTION(name, ...) \
  if (auto done = library.find(#name, functions.name); !done) return done;
#include "native/cuda/nvrtc_functions.def"
#undef RECUT_FUNCTION
  return Done{};
}

// The name before the first bracket behind `from`, but for __launch_bounds__.
std::string name_behind(std::string_view text, std::size_t from) {
  for (std::size_t bracket = text.find('(', from); bracket != std::string_view::npos;
       bracket = text.find('(', bracket + 1)) {
    std::size_t begin = bracket;
    const auto is_identifier_char = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    while (begin > from && is_identifier_char(text[begin - 1])) --begin;
    const std::string_view name = text.substr(begin, bracket - begin);
    if (!name.empty() && name != "__launch_bounds__") return std::string(name);
  }
  return {};
}

}  // namespace

std::string function_of_error(std::string_view text, std::string_view log) {
  const std::string start = std::string(kNvrtcFile) + "(";
  const std::size_t position = log.find(start);
  if (position == std::string_view::npos) return {};
  const std::string number(log.substr(position + start.size(), 9));
  std::size_t end = 0;
  for (long line = std::strtol(number.c_str(), nullptr, 10); line > 0; --line) {
    end = text.find('\n', end);
    if (end == std::string_view::npos) return {};
    ++end;
  }
  const std::size_t head = text.substr(0, end).rfind(kHead);
  return head == std::string_view::npos ? "" : name_behind(text, head + kHead.size());
}

Result<Nvrtc> Nvrtc::load(int driver_major) {
  const std::vector<std::string> names = versioned_names("libnvrtc.so", driver_major);
  const auto library = SharedLibrary::open("CUDA's compiler", names, library_folders());
  if (!library) return library.diagnostics();
  Nvrtc compiler;
  if (auto done = find_functions(*library, compiler.functions_); !done) return done.diagnostics();
  return compiler;
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  functions_.nvrtcVersion(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

bool Nvrtc::knows(int capability) const {
  int count = 0;
  if (functions_.nvrtcGetNumSupportedArchs(&count) != nvrtc::kSuccess) return false;
  std::vector<int> known(static_cast<std::size_t>(count));
  functions_.nvrtcGetSupportedArchs(known.data());
  return std::find(known.begin(), known.end(), capability) != known.end();
}

std::string Nvrtc::log_of(nvrtc::ProgramHandle program) const {
  std::size_t bytes = 0;
  functions_.nvrtcGetProgramLogSize(program, &bytes);
  std::string log(bytes, '\0');
  if (bytes > 0) functions_.nvrtcGetProgramLog(program, log.data());
  return log.substr(0, std::min(log.find('\0'), kShownLog));
}

Result<std::string> Nvrtc::compile(const std::string& text, int capability) const {
  if (!knows(capability))
    return error(fmt::format("NVRTC {} makes no code for sm_{}: another CUDA is needed", version(),
                             capability));
  nvrtc::ProgramHandle program = nullptr;
  nvrtc::Status status =
      functions_.nvrtcCreateProgram(&program, text.c_str(), kNvrtcFile.data(), 0, nullptr, nullptr);
  const std::string target = fmt::format("--gpu-architecture=sm_{}", capability);
  const char* const options[] = {target.c_str(), "--fmad=false", "--std=c++17",
                                 "--device-as-default-execution-space"};
  if (status == nvrtc::kSuccess)
    status = functions_.nvrtcCompileProgram(program, std::size(options), options);
  std::size_t bytes = 0;
  std::string code;
  if (status == nvrtc::kSuccess) status = functions_.nvrtcGetCUBINSize(program, &bytes);
  code.resize(bytes);
  if (status == nvrtc::kSuccess) status = functions_.nvrtcGetCUBIN(program, code.data());
  const std::string log = status == nvrtc::kCompilation ? log_of(program) : "";
  if (program != nullptr) functions_.nvrtcDestroyProgram(&program);
  if (status == nvrtc::kSuccess) return code;
  if (log.empty())
    return error(
        fmt::format("NVRTC makes no code of the step: {}", functions_.nvrtcGetErrorString(status)));
  return error(
      fmt::format("kernel {} doesn't compile, NVRTC says: {}", function_of_error(text, log), log));
}

}  // namespace recut::cuda
