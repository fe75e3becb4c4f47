// recut calibrate: measures the rates that this machine sustains, as a device profile.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/support/table.h"
#include "engine/support/version.h"
#include "native/calibrated_profile.h"
#include "native/commands/calibrate_arguments.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/gpu_options.h"
#include "native/cpu/calibration.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMinCalibratedShare = 0.001;  // of a profile

// The system's name of the processor.
std::string processor_name() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "a processor without a name";
}

// The share of the f32 ceiling that products reach.
double products_share(const cpu::Calibration& c) {
  return std::clamp(c.products_f32 / c.multiply_adds_f32, kMinCalibratedShare, 1.0);
}

std::string note(const cpu::Calibration& c) {
  return fmt::format(
      "Memory and arithmetic are ceilings, the share of products is that of f32 matrix products. "
      "Also measured: products of f64 {:.4g} and convolutions of f32 {:.4g} operations a second, "
      "silu of f32 within caches {:.4g} elements a second. bf16, f16 and integers are not named: "
      "they are computed in f32 and priced like it.",
      c.products_f64, c.convolutions_f32, c.element_wise_f32);
}

Json profile_of(const cpu::Calibration& c, int threads) {
  return {
      {"name", "calibrated"},
      {"title", fmt::format("{}, {} thread{}", processor_name(), threads, threads == 1 ? "" : "s")},
      {"source", fmt::format("Measured by recut calibrate, version {}.", version())},
      {"note", note(c)},
      {"flops_per_second", {{"f64", c.multiply_adds_f64}, {"f32", c.multiply_adds_f32}}},
      {"f32_uses_tf32", false},
      {"bytes_per_second", c.triad_bytes},
      {"launch_micros", c.launch_micros},
      {"sustained", {{"products", products_share(c)}, {"memory", 1.0}}}};
}

std::string as_json(const cpu::Calibration& c, const CalibrateCommand& command) {
  return Json{{"profile", command.out},
              {"threads", command.threads},
              {"triad_bytes_per_second", c.triad_bytes},
              {"multiply_add_flops_per_second",
               {{"f32", c.multiply_adds_f32}, {"f64", c.multiply_adds_f64}}},
              {"product_flops_per_second", {{"f32", c.products_f32}, {"f64", c.products_f64}}},
              {"convolution_flops_per_second", {{"f32", c.convolutions_f32}}},
              {"element_wise_per_second", {{"f32", c.element_wise_f32}}},
              {"launch_micros", c.launch_micros}}
             .dump(2) +
         "\n";
}

std::string as_text(const cpu::Calibration& c, const CalibrateCommand& command) {
  Table table;
  for (int column = 0; column < 3; ++column)
    table.column("", column == 1 ? Table::Align::right : Table::Align::left);
  const auto row = [&](const char* what, double figure, const std::string& unit) {
    table.row({what, fmt::format("{:.2f}", figure), unit});
  };
  const auto share = [](double of, double ceiling) {
    return fmt::format("GFLOP/s, {:.0f} % of that", 100 * of / ceiling);
  };
  row("memory", 1e-9 * c.triad_bytes, "GB/s");
  row("multiply-adds, f32", 1e-9 * c.multiply_adds_f32, "GFLOP/s");
  row("multiply-adds, f64", 1e-9 * c.multiply_adds_f64, "GFLOP/s");
  row("matrix products, f32", 1e-9 * c.products_f32, share(c.products_f32, c.multiply_adds_f32));
  row("matrix products, f64", 1e-9 * c.products_f64, share(c.products_f64, c.multiply_adds_f64));
  row("convolutions, f32", 1e-9 * c.convolutions_f32,
      share(c.convolutions_f32, c.multiply_adds_f32));
  row("silu, f32", 1e-9 * c.element_wise_f32, "G elements/s");
  row("a launch", c.launch_micros, "µs");
  return fmt::format("{}, {} thread{}\n\n{}\nwritten to {}\n", processor_name(), command.threads,
                     command.threads == 1 ? "" : "s", table.format(), command.out);
}

// Fails for options that mean nothing on a processor.
Result<Done> refuse_calibration_options_of_gpus(const CalibrateCommand& command) {
  if (!command.graph.path.empty())
    return error("kernels of a graph are measured on a GPU: --device cuda");
  return refuse_gpu_options(command.precision, command.workspace);
}

// The target: a processor, a GPU, or a graph on a GPU.
void add_target(CLI::App& command, CalibrateCommand& arguments) {
  arguments.graph.add_to(command);
  command.get_option("FILE")->required(false)->description(
      "Graph for measuring each of its kernels, with --device cuda. Its plans are then priced by "
      "the measured times");
  command
      .add_option("--device", arguments.target,
                  "Device to measure: cpu, or cuda for the first NVIDIA GPU (default: cpu)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("TARGET");
  command
      .add_option("--precision", arguments.precision,
                  "Matmul precision of f32 on a GPU: f32 or tf32 (default: f32). A graph's times "
                  "hold for runs of that precision")
      ->check(CLI::IsMember({"f32", "tf32"}))
      ->type_name("TYPE");
  command
      .add_option("--workspace", arguments.workspace,
                  "Largest workspace of a GPU library's call (default: 256MiB)")
      ->type_name("BYTES");
}

}  // namespace

Diagnostic no_settings_folder() {
  return error(
      "neither XDG_CONFIG_HOME nor HOME names a folder: -o FILE says where the profile is written");
}

int calibrate_cpu(CalibrateCommand command, const Console& console) {
  if (auto done = refuse_calibration_options_of_gpus(command); !done)
    return console.report_error(done.diagnostics());
  if (command.threads == 0)
    command.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (command.out.empty()) command.out = calibrated_profile_path();
  if (command.out.empty()) return console.report_error({no_settings_folder()});
  cpu::CalibrationRequest request{command.threads, command.seconds, command.triad_bytes, {}};
  request.progress = [&](std::string_view what) { console.say(fmt::format("measuring {}", what)); };
  const auto calibration = cpu::calibrate(request);
  console.say("");
  if (!calibration) return console.report_error(calibration.diagnostics());
  const Json profile = profile_of(*calibration, command.threads);
  const auto written = write_file(command.out, profile.dump(2) + "\n");
  if (!written) return console.report_error(written.diagnostics());
  console.out << (command.json ? as_json(*calibration, command) : as_text(*calibration, command));
  return kDone;
}

void add_calibrate(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<CalibrateCommand>();
  CLI::App& command = *app.add_subcommand(
      "calibrate",
      "Measure the rates that this machine sustains, and write them as a device profile");
  add_target(command, *arguments);
  command
      .add_option("--out,-o", arguments->out,
                  "Profile to write (default: device.json, or the GPU's name, in the user's "
                  "settings folder for Recut). recut run finds the default")
      ->type_name("FILE");
  command
      .add_option("--threads", arguments->threads,
                  "Number of threads of the processor (default: one per core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command
      .add_option("--seconds", arguments->seconds,
                  "Approximate time of each measurement in seconds (default: 0.3)")
      ->check(CLI::Range(0.0, 600.0))
      ->type_name("S");
  command
      .add_option("--triad-bytes", arguments->triad_bytes,
                  "Bytes of each of the three arrays of the memory triad (default: twice the last "
                  "cache, at least 64 MiB). On a GPU: four times its cache, at least 256 MiB")
      ->check(CLI::Range(std::int64_t{4}, std::int64_t{1} << 36))
      ->type_name("BYTES");
  command.add_flag("--json", arguments->json, "Print one JSON value instead of the table");
  command.footer(footer_with_examples(
      "The ceilings follow the roofline model: memory by a triad larger than the caches, "
      "arithmetic by multiply-adds in registers. Run nothing else meanwhile.",
      {"calibrate --seconds 0.05 --triad-bytes 8388608 -o build/mine.json",
       "calibrate --seconds 0.05 --triad-bytes 8388608 --threads 1 -o build/one.json --json"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) {
      return arguments->target == "cuda" ? calibrate_cuda(*arguments, console)
                                         : calibrate_cpu(*arguments, console);
    };
  });
}

}  // namespace recut::native
