// Errors of a command line, from one of two commands.
#include <gtest/gtest.h>

#include "core/base/program_main.h"

namespace longhaul::command_line_test {

std::string said_of(CLI::App& app, const std::vector<std::string>& arguments) {
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command_line_error(app, error, arguments).what();
  }
  return "none";
}

TEST(CommandLine, SaysWhatIsWrongInOurForm) {
  CLI::App app("A tool.", "longhaul");
  std::string text;
  int jobs = 1;
  std::uint64_t seed = 1;
  bool flag = false;
  app.require_subcommand(1);
  CLI::App* run = app.add_subcommand("run", "Do it; with care");
  run->add_option("SCENARIO", text, "scenario file")->required();
  run->add_option("--only", text, "a part: what's wanted")->check(CLI::IsMember({"train", "replay"}));
  run->add_option("--set", text, "key=value");
  run->add_option("--jobs", jobs, "at a time")->check(CLI::Range(1, 8));
  run->add_flag("--resume", flag, "go on");
  run->add_option("--seed", seed, "of what");
  CLI::App* list = app.add_subcommand("list", "What there is");
  list->add_option("TOPIC", text, "of what")->required()->check(CLI::IsMember({"methods", "models"}));
  const auto error = [&](const std::vector<std::string>& arguments) { return said_of(app, arguments); };
  EXPECT_EQ(error({"run", "a.json"}), "none");
  EXPECT_EQ(error({}), "a command is missing; allowed: run, list; longhaul --help");
  EXPECT_EQ(error({"runn", "x"}), "found the command \"runn\"; allowed: run, list; did you mean \"run\"?");
  EXPECT_EQ(error({"run"}), "SCENARIO: is missing; allowed: scenario file; longhaul run --help");
  EXPECT_EQ(error({"run", "a", "--only", "trian"}),
            "--only: found \"trian\"; allowed: train, replay; did you mean \"train\"?");
  EXPECT_EQ(error({"list", "method"}),
            "TOPIC: found \"method\"; allowed: methods, models; did you mean \"methods\"?");
  EXPECT_EQ(error({"run", "a", "--resum"}),
            "--resum: unknown option of run; allowed: -h, --help, --only, --set, --jobs, --resume, --seed; "
            "did you mean "
            "\"--resume\"?");
  EXPECT_EQ(
      error({"run", "a", "b"}),
      "found \"b\", which the command has no place for; allowed: longhaul run SCENARIO; longhaul run --help");
  EXPECT_EQ(error({"run", "a", "--jobs", "9"}), "--jobs: found 9; allowed: 1 to 8");
  EXPECT_EQ(error({"run", "a", "--seed", "one"}), "--seed: found one; allowed: a whole number of at least 0");
  EXPECT_NE(error({"--versoin"}).find("--versoin"), std::string::npos);
}

// A program without commands of its own before its options, as longhaul-train.
TEST(CommandLine, SaysWhatIsWrongWithAProgram) {
  CLI::App program("Trains.", "longhaul-train");
  std::string file, of;
  int threads = 1;
  program.add_option("--case", file, "a resolved case (case.json)");
  program.add_option("--threads", threads, "how many")->check(CLI::PositiveNumber);
  CLI::App* step = program.add_subcommand("outer-step", "one step");
  step->add_option("--method", of, "which method")->required();
  const auto said = [&](const std::vector<std::string>& arguments) { return said_of(program, arguments); };
  EXPECT_EQ(said({"--case", "a.json"}), "none");
  EXPECT_EQ(
      said({"--case", "a.json", "--thread", "2"}),
      "--thread: unknown option of longhaul-train; allowed: -h, --help, --case, --threads; did you mean "
      "\"--threads\"?");
  EXPECT_EQ(said({"--threads", "0"}), "--threads: found 0; allowed: a number above 0");
  EXPECT_EQ(said({"--case"}),
            "--case: found no value; allowed: a resolved case (case.json); longhaul-train --help");
  EXPECT_EQ(said({"outer-stap"}),
            "found the command \"outer-stap\"; allowed: outer-step; did you mean \"outer-step\"?");
  EXPECT_EQ(
      said({"outer-step", "--methd", "x"}),
      "--methd: unknown option of outer-step; allowed: -h, --help, --method; did you mean \"--method\"?");
  EXPECT_EQ(said({"outer-step"}),
            "--method: is missing; allowed: which method; longhaul-train outer-step --help");
}

TEST(NumberAboveZero, IsNotNan) {
  CLI::App program("Compares.", "longhaul");
  double margin = 0;
  program.add_option("--margin", margin, "how much")->check(check_above_zero);
  for (const char* text : {"nan", "NaN", "0", "inf"})
    EXPECT_EQ(said_of(program, {"--margin", text}),
              std::string("--margin: found ") + text + "; allowed: a number above 0");
  EXPECT_EQ(said_of(program, {"--margin", "0.5"}), "none");
}

}  // namespace longhaul::command_line_test
