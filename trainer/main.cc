// longhaul-train: trains the replicas of one case.
#include <fmt/core.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/printable.h"
#include "core/base/program_main.h"
#include "core/base/source_commit.h"
#include "core/plan/journal.h"
#include "core/plan/journal_file.h"
#include "methods/common/python_child.h"
#include "methods/common/registry.h"
#include "trainer/commands.h"
#include "trainer/device/cuda_device.h"
#include "trainer/model/gemm.h"
#include "trainer/model/libtorch.h"
#include "trainer/ranks/mpi_ranks.h"
#include "trainer/training.h"

namespace longhaul {
namespace {

struct Arguments {
  std::string case_file, journal_file, out, device, backend, outer_state = "auto";
  int threads = 0;  // 0: all there are
  int progress_fd = -1;
  int rank_timeout_s = 600;
  double peak_flops = 0;  // 0: of a known card its own
  bool quiet = false, resume = false;
};

Case checked_case(const std::string& file) {
  Case config = read_case(file);
  if (!config.train)
    throw InputError(
        {file, "train", "this key is missing", "a train section", "without one there is nothing to train"});
  try {
    check_method_options(config);
    method_named(config.method.name).check(config);
  } catch (const Json::exception& error) {
    throw in_our_words(error).in_file(file);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  return config;
}

// The memory of activations and of packed matrices is asked for and given back all the time: keep it instead
// of returning it to the system. 32 MiB is the largest threshold that glibc takes; and in one pool for all
// threads, since the others consist of heaps of 64 MiB that are returned whatever the threshold.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_ARENA_MAX, 1);
}

// Needed where times decide what the training does.
Training::MakeJournal journal_of(const Case& config, const std::string& file) {
  return [&config, file](const JournalSpec& spec) -> std::unique_ptr<Journal> {
    if (file.empty() && times_decide(config))
      throw InputError("--journal",
                       "missing: with method \"" + config.method.name +
                           "\" and these faults times decide who takes part in what",
                       "journal.jsonl of the replay of this case", "longhaul run replays such a case first");
    if (file.empty()) return make_journal(spec, {});
    std::ifstream in(file);
    if (!in) throw InputError("--journal", file + " cannot be read", "a journal (docs/formats.md)");
    return read_journal(in, file, spec.plan, spec.context);
  };
}

// Ranks of one machine take its GPUs in turn.
int gpu_of(const RankHere& here) {
  return here.number % device_count();
}

// Without a wish: stacked on a GPU, a pool on the CPU.
std::unique_ptr<Backend> backend_for(std::string wanted, Device device, int threads, const RankHere& here) {
  if (threads == 0) threads = std::max(1, available_threads() / here.size);
  prepare_products();
  const auto prepare_thread = [device, gpu = device == Device::kCuda ? gpu_of(here) : 0] {
    use_one_thread();
    if (device == Device::kCuda) use_device(gpu);
  };
  prepare_thread();
  const std::string usual = device == Device::kCuda ? "stacked" : "threads";
  if (wanted.empty()) wanted = usual;
  if (wanted == "loop") return make_loop_backend();
  if (wanted != usual)
    throw InputError(
        "--backend",
        fmt::format("found \"{}\" {}", wanted, device == Device::kCuda ? "with a GPU" : "without a GPU"),
        "loop or " + usual);
  auto pool = make_thread_backend(threads, prepare_thread);
  return wanted == "stacked" ? make_stacked_backend(std::move(pool)) : std::move(pool);
}

OuterState outer_state_of(const std::string& name) {
  return name == "card" ? OuterState::kCard : name == "host" ? OuterState::kHost : OuterState::kAuto;
}

void resume(Training& training, bool is_first) {
  std::vector<std::string> refused;
  const int step = training.resume(refused);
  if (!is_first) return;
  for (const std::string& reason : refused)
    say(stderr, "longhaul-train: checkpoint not used: " + reason + "\n");
  std::fprintf(stderr, "longhaul-train: %s\n",
               step > 0 ? ("resumes after step " + std::to_string(step)).c_str()
                        : "resumes from the start: no step is in a checkpoint");
}

// The first of several ranks writes all files.
Json train_as(Ranks& ranks, const RankHere& here, const Case& config, const Arguments& arguments,
              ProgressReporter& reporter) {
  const Device device = arguments.device.empty() ? choose_device(config.train->device, "train.device")
                                                 : choose_device(arguments.device, "--device");
  std::optional<FolderLock> lock;
  if (ranks.is_first()) lock.emplace(arguments.out);
  keep_freed_memory();
  TrainingFiles files(arguments.out, ranks.is_first());
  try {
    if (device == Device::kCpu && config.train->precision != Precision::kFloat32)
      libtorch();  // before the threads of the back-end begin
    Training training(config, device, backend_for(arguments.backend, device, arguments.threads, here), files,
                      reporter, ranks, journal_of(config, arguments.journal_file),
                      outer_state_of(arguments.outer_state));
    if (arguments.peak_flops > 0) training.use_peak(arguments.peak_flops);
    if (arguments.resume) resume(training, ranks.is_first());
    const Json result = training.run();
    files.finish(result);
    return result;
  } catch (const InputError& error) {
    throw error.in_file(arguments.case_file);
  }
}

// As rank 3 of several, "longhaul-train, rank 3": what the ranks say may end on one terminal.
std::string name_of(const LaunchedRank& launched) {
  return launched.size == 1 ? "longhaul-train" : "longhaul-train, rank " + std::to_string(launched.rank);
}

// What all ranks find, as wrong input, is said once: by the first, which ends the others before they say it.
[[noreturn]] void end_all(LaunchedRanks& ranks, const std::string& reason, int status,
                          const Arguments& arguments, ProgressReporter& reporter) {
  if (!ranks.is_first()) std::this_thread::sleep_for(std::chrono::seconds(2));
  reporter.failed(reason, status);
  if (!ranks.is_first() && arguments.progress_fd >= 0)
    ProgressReporter("longhaul-train", arguments.progress_fd, true)
        .failed("rank " + std::to_string(ranks.rank()) + ": " + reason, status);
  ranks.abort(status);
  std::_Exit(status);
}

// The first rank has the reporter of the training; another one whose progress goes somewhere says it there.
RankWords words_of(const LaunchedRank& launched, const Arguments& arguments, ProgressReporter& reporter) {
  const std::string who = "rank " + std::to_string(launched.rank) + ": ";
  const bool has_own = launched.rank > 0 && arguments.progress_fd >= 0;
  const auto with_reporter = [=, &reporter](const std::function<void(ProgressReporter&)>& say_it) {
    if (!has_own) return say_it(reporter);
    ProgressReporter own("longhaul-train", arguments.progress_fd, true);
    say_it(own);
  };
  const bool is_named = !has_own && arguments.progress_fd < 0;  // by the name of the program
  return {[=](const std::string& text) {
            with_reporter([&](ProgressReporter& to) { to.note((is_named ? "" : who) + text); });
          },
          [=](const std::string& reason, int status) {
            with_reporter([&](ProgressReporter& to) { to.failed((is_named ? "" : who) + reason, status); });
            std::_Exit(status);
          }};
}

Json train_as_rank(const LaunchedRank& launched, const Arguments& arguments, ProgressReporter& reporter) {
  const std::unique_ptr<LaunchedRanks> ranks =
      make_mpi_ranks(launched, arguments.rank_timeout_s, words_of(launched, arguments, reporter));
  try {
    const Case config = checked_case(arguments.case_file);
    check_ranks_divide(ranks->size(), trained_case(config).replicas);
    const Json result = train_as(*ranks, ranks->here(), config, arguments, reporter);
    ranks->finish();
    return result;
  } catch (const Interrupted&) {  // all of them, after the same step
    ranks->finish();
    throw;
  } catch (const InputError& error) {
    end_all(*ranks, error.what(), kInputWrong, arguments, reporter);
  } catch (const std::exception& error) {
    end_all(*ranks, error.what(), kRunFailed, arguments, reporter);
  }
}

Json train(const LaunchedRank& launched, const Arguments& arguments, ProgressReporter& reporter) {
  if (launched.size > 1) return train_as_rank(launched, arguments, reporter);
  return train_as(one_rank(), RankHere(), checked_case(arguments.case_file), arguments, reporter);
}

void add_training_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--case", arguments.case_file, "a resolved case (case.json)");
  app.add_option("--out", arguments.out, "folder that the files of the training are written to");
  app.add_option("--journal", arguments.journal_file,
                 "what the training does and in which order, where times decide that: journal.jsonl of the "
                 "case's replay, or one written by hand");
  app.add_option("--device", arguments.device, "instead of the case's train.device")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  app.add_option("--backend", arguments.backend,
                 "loop, threads or stacked; default threads on a CPU, stacked on a GPU")
      ->check(CLI::IsMember({"loop", "threads", "stacked"}));
  app.add_option("--outer-state", arguments.outer_state,
                 "where slow weights and outer momentum lie on a GPU: card, host (pinned memory) or auto "
                 "(default: on the host where a step's sequences would not fit on the card together)")
      ->check(CLI::IsMember({"auto", "card", "host"}));
  app.add_option("--threads", arguments.threads, "default: all that this process may use")
      ->check(CLI::PositiveNumber);
  app.add_option("--rank-timeout", arguments.rank_timeout_s,
                 "seconds that one of several ranks (mpirun, srun) may keep the others waiting, default 600")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--peak-flops", arguments.peak_flops,
         "FLOP/s of one card (or of this process) in the training's precision, for the utilization in "
         "speed.json; default: of cards that are known")
      ->check(check_above_zero, "POSITIVE");
  app.add_option("--progress-fd", arguments.progress_fd, "descriptor for progress as JSON lines");
  app.add_flag("--resume", arguments.resume,
               "continue after the newest whole checkpoint in --out, to the bytes of an undisturbed run");
  app.add_flag("--quiet", arguments.quiet, "no progress on the terminal");
}

CLI::App* add_outer_step(CLI::App& app, OuterStepArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("outer-step", "one outer step of a method on the tensors of a safetensors file");
  command->add_option("--method", arguments.method, "any that exchanges something")->required();
  command
      ->add_option(
          "--in", arguments.in,
          "float32 theta, phi, momentum … [R, P], as the method needs; int64 groups [G, n] or targets [R, s]")
      ->required();
  command->add_option("--out", arguments.out, "the same tables after the step")->required();
  command->add_option("--wire", arguments.wire, "what the exchanged rows are rounded to; default fp32")
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}));
  command->add_option("--step", arguments.step, "the inner step, where that matters; default 1")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", arguments.seed, "of what is drawn, with the step; default 1");
  command
      ->add_option("--lr", arguments.lr,
                   "of methods with an optimizer of their own, which has no weight decay and no clipping "
                   "here; default 0.001")
      ->check(check_above_zero, "POSITIVE");
  command->add_option("--model", arguments.model,
                      "its dimensions as in train.model, JSON, for methods that have to know them");
  command->add_flag("--first", arguments.first,
                    "the first round of eager-diloco, dilocox or co2, in which nothing has arrived");
  command->add_option("--set", arguments.assignments, "key=value: an option of the method");
  return command;
}

CLI::App* add_export(CLI::App& app, ExportArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "export", "one replica, or the mean, as a folder that transformers loads (LlamaForCausalLM)");
  command->add_option("--run", arguments.run, "a run directory, its train/KEY, or a checkpoint's step-N.json")
      ->required();
  command->add_option("--method", arguments.method, "of a run directory: the label of the method");
  command->add_option("--seed", arguments.seed, "of a run directory: the seed of the training");
  command->add_option("--replica", arguments.replica, "which replica, from 0");
  command->add_flag("--mean", arguments.mean, "the mean of all replicas");
  command->add_option("--out", arguments.out, "folder for model.safetensors, config.json and the tokenizer")
      ->required();
  return command;
}

int command(int argc, char** argv) {
  CLI::App app("Trains the replicas of one case of a Longhaul scenario.", "longhaul-train");
  app.footer(
      "Started by mpirun or srun --mpi=pmix each process is a rank, and rank 0 writes the files "
      "(docs/howto/many-machines.md).\n"
      "Environment: LONGHAUL_PRODUCTS=onednn or tensors: what multiplies on a CPU (default onednn on "
      "x86-64);\n"
      "LONGHAUL_NCCL=0: GPUs exchange through host memory; LONGHAUL_GPU=nograph,nolt,noflash: without "
      "graphs,\n"
      "cuBLASLt, fused attention; LONGHAUL_STEP_LIMIT=10min: how long a step in Python may take.\n"
      "docs/reference/trainer.md, docs/howto/gpu.md and docs/howto/method-in-python.md explain them.");
  Arguments arguments;
  OuterStepArguments outer_step;
  add_training_options(app, arguments);
  const CLI::App* outer_step_command = add_outer_step(app, outer_step);
  ExportArguments exported;
  const CLI::App* export_command = add_export(app, exported);
  app.set_version_flag("--version",
                       std::string("longhaul-train " LONGHAUL_VERSION " (") + source_commit() + ")");
  try {
    app.parse(argc, argv);
    if (!*outer_step_command && !*export_command)
      for (const char* needed : {"--case", "--out"})
        if (app.count(needed) == 0) throw CLI::RequiredError(needed);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "error: %s\n", command_line_error(app, error, {argv + 1, argv + argc}).what());
    return kInputWrong;
  }
  // Of several ranks the first one tells the progress of all.
  const LaunchedRank launched = launched_rank();
  const bool is_first = launched.rank == 0;
  ProgressReporter reporter(name_of(launched), is_first ? arguments.progress_fd : -1,
                            arguments.quiet || !is_first);
  return child_main(reporter, [&]() -> Json {
    if (*export_command) {
      const int step = run_export(exported);
      const std::string which =
          exported.replica ? "replica " + std::to_string(*exported.replica) : "the mean of the replicas";
      say(stdout,
          fmt::format("{}/model.safetensors and config.json: {} after step {}\n", exported.out, which, step));
      return {{"step", step}, {"out", exported.out}};
    }
    if (*outer_step_command) {
      run_outer_step(outer_step);
      return {{"out", outer_step.out}};
    }
    tell_of_slow_steps([&](const std::string& text) { reporter.note(text); });
    return train(launched, arguments, reporter);
  });
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  return longhaul::program_main("longhaul-train", [&] { return longhaul::command(argc, argv); });
}
