// recut train: trains with the optimizer in the graph, on generated data.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "engine/eval/inputs.h"
#include "engine/support/units.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/training.h"
#include "engine/workspace/training_run.h"
#include "gui/pictures/loss_curve.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"
#include "native/commands/gpu_options.h"
#include "native/commands/picture_options.h"
#include "native/commands/plan_arguments.h"
#include "native/executors/cpu_executor.h"
#include "native/executors/cuda_executor.h"
#include "native/executors/gpu_plan.h"

// The optimizer is part of the graph, so the planner counts its state, and the new parameters
// replace the old ones at the end of a step. Parameters, optimizer state and data lie beside the
// arena. Any executor runs the step (CPU or CUDA) by the same interface. The command fails with
// exit code 1 where the measured peak is not the planned one, or the loss is not finite.

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kBetweenProgress = std::chrono::milliseconds(100);

struct TrainCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::string loss;  // empty: the only possible result
  std::string optimizer = "adam";
  std::optional<double> learning_rate, momentum, epsilon, weight_decay;
  std::vector<double> betas;
  std::vector<std::string> tensors;
  std::string target = "cpu", precision = "f32";
  int threads = 0;  // of a processor; unused on a GPU
  TrainingRequest request;
  std::string curve, out;
  PictureArguments picture;
  bool json = false;
};

// Fails for an option of another optimizer.
Result<Optimizer> optimizer_of(const TrainCommand& c) {
  Optimizer optimizer = find_optimizer(c.optimizer).value();
  if (c.learning_rate) set_learning_rate(optimizer, *c.learning_rate);
  if (Sgd* sgd = std::get_if<Sgd>(&optimizer)) {
    if (!c.betas.empty() || c.epsilon)
      return error("--betas and --eps are for adam and adamw, sgd has --momentum");
    sgd->momentum = c.momentum.value_or(sgd->momentum);
    sgd->weight_decay = c.weight_decay.value_or(sgd->weight_decay);
    return optimizer;
  }
  if (c.momentum) return error(fmt::format("--momentum is for sgd, {} has --betas", c.optimizer));
  Adam& adam = std::get<Adam>(optimizer);
  if (!c.betas.empty()) adam.beta1 = c.betas[0], adam.beta2 = c.betas[1];
  adam.epsilon = c.epsilon.value_or(adam.epsilon);
  adam.weight_decay = c.weight_decay.value_or(adam.weight_decay);
  return optimizer;
}

// Opens the file's graph with the optimizer in it, after the passes over both.
Result<Document> open(const GraphArguments& graph, const std::string& loss,
                      const Optimizer& optimizer, const Console& console) {
  auto file = graph.read(console);
  if (!file) return file.diagnostics();
  auto passes = graph.chosen_passes(*file);
  if (!passes) return passes.diagnostics();
  OpenOptions options;
  options.passes = std::move(passes->names);
  options.runner = std::move(passes->options);
  options.training = TrainingOptions{optimizer, loss};
  return open_document_graph(std::move(*file), graph.path, options);
}

bool holds(const Training& t) { return t.measured_peak_bytes == t.planned_peak_bytes; }

bool diverged(const Training& t) { return !std::isfinite(t.losses.back()); }

std::string as_json(const Training& t, const TrainCommand& command, const Optimizer& o,
                    std::int64_t budget_bytes) {
  return Json{{"optimizer", description_of(o)},
              {"steps", t.losses.size()},
              {"first_loss", t.losses.front()},
              {"last_loss", t.losses.back()},
              {"step_ms_median", t.step_ms_median},
              {"step_ms_min", t.step_ms_min},
              {"compile_ms", t.compile_ms},
              {"device", command.target},
              {"where", t.where},
              {"threads", command.threads},
              {"budget_bytes", budget_bytes},
              {"planned_peak_bytes", t.planned_peak_bytes},
              {"measured_peak_bytes", t.measured_peak_bytes},
              {"scratch_bytes", t.scratch_bytes},
              {"parameter_bytes", t.parameter_bytes},
              {"carried_bytes", t.carried_bytes},
              {"data_bytes", t.data_bytes},
              {"losses", t.losses}}
             .dump(2) +
         "\n";
}

std::string as_text(const Training& t, const TrainCommand& command, const Optimizer& o) {
  return fmt::format(
      "{}\n"
      "loss {:.6g} at first, {:.6g} after {} steps on {} batches\n"
      "step {:.3f} ms (median), {:.3f} ms at best on {}, compiled in {:.0f} ms\n"
      "peak {} bytes planned, {} bytes measured{}\n"
      "beside it {} of parameters, {} that go from step to step, {} of a batch, {} of scratch\n",
      description_of(o), t.losses.front(), t.losses.back(), t.losses.size(),
      command.request.batches, t.step_ms_median, t.step_ms_min, t.where, t.compile_ms,
      format_count(t.planned_peak_bytes), format_count(t.measured_peak_bytes),
      holds(t) ? "" : ": NOT AS PLANNED", format_bytes(t.parameter_bytes),
      format_bytes(t.carried_bytes), format_bytes(t.data_bytes), format_bytes(t.scratch_bytes));
}

// Writes the requested files of a run that ended well.
Result<Done> write_outputs(const TrainCommand& command, const Training& training,
                           const Document& document, const Optimizer& optimizer) {
  if (!command.curve.empty()) {
    const gui::LossCurve curve{document.graph().name, description_of(optimizer), training.losses,
                               static_cast<std::size_t>(command.request.batches)};
    auto done = write_file(command.curve, gui::loss_curve_svg(curve, command.picture.look()));
    if (!done) return done;
  }
  if (command.out.empty()) return Done{};
  std::deque<std::string> bytes;
  std::vector<NamedTensor> tensors;
  for (const auto& [name, value] : training.trained)
    tensors.push_back(
        {"in." + name, value.dtype, value.shape, bytes.emplace_back(bytes_of(value))});
  return write_file(command.out, write_safetensors(tensors));
}

// The device that trains. A GPU is open already, since its profile prices the plan.
struct TrainingDevice {
  std::unique_ptr<Executor> executor;
  std::string gpu;  // the GPU's name; "" on a processor
};
Result<TrainingDevice> device_of(const TrainCommand& command) {
  if (command.target == "cpu") {
    if (auto given = refuse_gpu_options(command.precision, ""); !given) return given.diagnostics();
    return TrainingDevice{std::make_unique<CpuExecutor>(command.threads), ""};
  }
  auto access = std::make_shared<GpuAccess>();
  if (auto gpu = access->enter(); !gpu) return gpu.diagnostics();
  const std::string name = access->name();
  return TrainingDevice{
      std::make_unique<CudaExecutor>(std::move(access), cuda::parse_precision(command.precision)),
      name};
}

struct PlannedTraining {
  Document document;
  ScheduledPlan scheduled;
};

Result<PlannedTraining> plan_for_processor(const TrainCommand& command, const Executor& executor,
                                           const Optimizer& optimizer, const Console& console) {
  auto document = open(command.graph, command.loss, optimizer, console);
  if (!document) return document.diagnostics();
  PlanningRequest planning = command.plan.request();
  planning.cost_model = "fused";
  if (command.plan.device.empty() && !executor.device().empty())
    planning.device = executor.device();
  console.say("planning");
  auto scheduled = schedule_document(*document, {planning, {}});
  if (!scheduled) return scheduled.diagnostics();
  return PlannedTraining{std::move(*document), std::move(*scheduled)};
}

Result<PlannedTraining> plan(const TrainCommand& command, const TrainingDevice& device,
                             const Optimizer& optimizer, const Console& console) {
  if (device.gpu.empty()) return plan_for_processor(command, *device.executor, optimizer, console);
  GpuPlanRequest request;
  request.gpu = device.gpu;
  request.precision = cuda::parse_precision(command.precision);
  request.profile = command.plan.device;
  request.planning = command.plan.request();
  request.planning.cost_model = "fused";
  request.open = [&](const std::optional<Device>& passes_for, std::string_view skip) {
    return open(command.graph.for_gpu(passes_for, skip), command.loss, optimizer, console);
  };
  request.progress = [&](std::string_view phase) { console.say(std::string(phase)); };
  auto planned = plan_for_gpu(request);
  if (!planned) return planned.diagnostics();
  if (!planned->note.empty()) console.err << "note: " << planned->note << "\n";
  return PlannedTraining{std::move(planned->document), std::move(planned->scheduled)};
}

// Prints at most ten lines a second, on a terminal.
std::function<void(int, double)> progress(const Console& console, int steps) {
  const auto last = std::make_shared<std::chrono::steady_clock::time_point>();
  return [&console, steps, last](int step, double loss) {
    const auto now = std::chrono::steady_clock::now();
    if (now - *last < kBetweenProgress) return;
    *last = now;
    console.say(fmt::format("step {} of {}: loss {:.6g}", step + 1, steps, loss));
  };
}

int train(TrainCommand command, const Console& console) {
  TrainingRequest& request = command.request;
  if (command.target == "cpu" && command.threads == 0)
    command.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto optimizer = optimizer_of(command);
  if (!optimizer) return console.report_error(optimizer.diagnostics());
  const auto device = device_of(command);
  if (!device) return console.report_error(device.diagnostics());
  const auto planned = plan(command, *device, *optimizer, console);
  if (!planned) return console.report_error(planned.diagnostics());
  const auto& [document, scheduled] = *planned;
  if (!scheduled.holds()) return refuse_arena(document, scheduled, command.json, console);
  const auto tensors = read_tensors(command.tensors, document.file);
  if (!tensors) return console.report_error(tensors.diagnostics());
  request.tensors = (*tensors)->tensors;
  request.progress = progress(console, request.steps);
  console.say("compiling");
  const auto training = train(document, scheduled, *device->executor, request);
  console.say("");
  if (!training) return console.report_error(training.diagnostics());
  const auto written = write_outputs(command, *training, document, *optimizer);
  if (!written) return console.report_error(written.diagnostics());
  const std::int64_t budget_bytes = scheduled.planned.report.budget_bytes;
  console.out << (command.json ? as_json(*training, command, *optimizer, budget_bytes)
                               : as_text(*training, command, *optimizer));
  if (diverged(*training))
    console.err << fmt::format("error: the loss is {} in step {}: try a smaller --lr\n",
                               training->losses.back(), training->losses.size());
  return holds(*training) && !diverged(*training) ? kDone : kCheckFailed;
}

void add_optimizer_to(CLI::App& command, TrainCommand& arguments) {
  command
      .add_option(
          "--optimizer", arguments.optimizer,
          "Optimizer with PyTorch's meaning and defaults: sgd, adam or adamw (default: adam)")
      ->check(CLI::IsMember({"sgd", "adam", "adamw"}))
      ->type_name("NAME");
  command.add_option("--lr", arguments.learning_rate, "Learning rate (default: 0.001)")
      ->type_name("RATE")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--momentum", arguments.momentum, "Momentum of sgd (default: 0)")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--betas", arguments.betas, "Betas of adam and adamw (default: 0.9,0.999)")
      ->delimiter(',')
      ->expected(2)
      ->type_name("B1,B2")
      ->check(CLI::Range(0.0, 0.9999999).description(""));
  command.add_option("--eps", arguments.epsilon, "Epsilon of adam and adamw (default: 1e-8)")
      ->type_name("NUMBER")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--weight-decay", arguments.weight_decay,
                  "Weight decay, added to gradients, or in adamw subtracted from weights (default: "
                  "0; adamw 0.01)")
      ->type_name("RATE")
      ->check(CLI::NonNegativeNumber);
}

void add_training_to(CLI::App& command, TrainCommand& arguments) {
  TrainingRequest& request = arguments.request;
  command.add_option("--steps", request.steps, "Number of steps (default: 100)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  command
      .add_option("--batches", request.batches,
                  "Number of batches of data, taken in turn (default: 8)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  command
      .add_option("--threads", arguments.threads,
                  "Number of threads of the processor (default: one per core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  command
      .add_option("--seed", request.seed,
                  "Seed of parameters, data and random numbers (default: 0)")
      ->type_name("N");
  add_gpu_options(command, arguments.target, arguments.precision);
  command
      .add_option("--tensors", arguments.tensors,
                  "Initial values of parameters and constants (safetensors, in.<name>). Missing "
                  "ones are generated")
      ->type_name("FILE");
}

}  // namespace

void add_train(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<TrainCommand>();
  CLI::App& command = *app.add_subcommand(
      "train", "Train a model with a loss on generated data, with the optimizer in its graph");
  arguments->graph.add_to(command);
  arguments->plan.add_search_to(command);
  add_profile(command, "--profile", arguments->plan.device, kProfileOfTheDevice);
  command
      .add_option("--loss", arguments->loss,
                  "Result to train on as the loss (default: the result with the only tangent, or "
                  "the only scalar real result)")
      ->type_name("NAME");
  add_optimizer_to(command, *arguments);
  add_training_to(command, *arguments);
  command.add_option("--curve", arguments->curve, "Draw the loss of every step (SVG)")
      ->type_name("FILE");
  arguments->picture.add_to(command);
  command
      .add_option("--out", arguments->out,
                  "Write the trained parameters and running statistics (safetensors, in.<name>)")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "Print one JSON value, with the loss of every step");
  command.footer(footer_with_examples(
      "A forward graph is differentiated first. The planned, scheduled and compiled graph has the "
      "update of every parameter. New values are copied over the old ones after each step. Exit "
      "code 1 if the loss is not finite.",
      {"train samples/mlp.recut --optimizer adam --lr 0.01 --curve build/loss.svg",
       "train samples/joint/tiny_lm.json.gz --optimizer sgd --lr 0.1 --momentum 0.9 --budget "
       "256KiB"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return train(*arguments, console); };
  });
}

}  // namespace recut::native
