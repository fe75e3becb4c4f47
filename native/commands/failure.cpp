#include "native/commands/failure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "engine/passes/pass_table.h"

namespace recut::native {
namespace {

// Signs of a failure in the output of Recut, of compilers' sanitizers and of Python. Behind a
// verdict stands the name of an output, which may be another one in a smaller graph.
struct Sign {
  std::string_view words;
  bool is_verdict = false;
};
constexpr Sign kSigns[] = {{"DIFFERS", true},
                           {"NOT AS PLANNED", true},
                           {"NOT the planned", true},
                           {"runtime error:"},
                           {"error:"},
                           {"Error:"},
                           {"ERROR:"},
                           {"Assertion"},
                           {"terminate called"},
                           {"check failed"}};
constexpr double kKeptShare = 0.1;  // of the first error

constexpr std::string_view kQuotes = "'\"`";

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/';
}

// Numbers, quoted names but for those of passes, and %names become "#" and "…".
std::string general_form(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const std::size_t close =
        kQuotes.find(c) == std::string_view::npos ? std::string_view::npos : line.find(c, i + 1);
    if (close != std::string_view::npos) {
      const std::string name(line.substr(i + 1, close - i - 1));
      text += find_pass(name) != nullptr ? name : "…";
      i = close;
    } else if (c == '%' && i + 1 < line.size() && is_name(line[i + 1])) {
      while (i + 1 < line.size() && is_name(line[i + 1])) ++i;
      text += "…";
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (i + 1 < line.size() && (is_name(line[i + 1]) || line[i + 1] == '-' ||
                                     line[i + 1] == '+' || line[i + 1] == ','))
        ++i;
      text += "#";
    } else {
      text += c;
    }
  }
  return text;
}

// The first line with a sign, from the sign on: before it stand files and positions.
std::string message_in(std::string_view output) {
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    for (const Sign& sign : kSigns)
      if (const std::size_t at = line.find(sign.words); at != std::string_view::npos)
        return sign.is_verdict ? std::string(sign.words) : general_form(line.substr(at));
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return {};
}

// The largest number behind "error ".
double error_in(std::string_view output) {
  double largest = 0;
  for (std::size_t at = output.find("error "); at != std::string_view::npos;
       at = output.find("error ", at + 1)) {
    const std::string number(output.substr(at + std::strlen("error "), 32));
    largest = std::max(largest, std::strtod(number.c_str(), nullptr));
  }
  return largest;
}

}  // namespace

std::string Failure::text() const {
  std::string kind = slow         ? "longer than the limit"
                     : code > 128 ? fmt::format("signal {} ({})", code - 128, strsignal(code - 128))
                                  : fmt::format("exit code {}", code);
  if (!message.empty()) kind += fmt::format(", \"{}\"", message);
  if (error > 0) kind += fmt::format(", error {:.1e}", error);
  return kind;
}

std::optional<Failure> failure_of(const ShellRun& run, std::optional<double> limit_seconds) {
  if (limit_seconds && run.seconds > *limit_seconds) return Failure{0, true, "", 0};
  if (run.code == 0) return std::nullopt;
  return Failure{run.code, false, message_in(run.output), error_in(run.output)};
}

bool is_same(const Failure& first, const Failure& other) {
  return first.code == other.code && first.slow == other.slow && first.message == other.message &&
         other.error >= kKeptShare * first.error;
}

}  // namespace recut::native
