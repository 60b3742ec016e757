// Errors, completion and man page, from a command line of two commands.
#include "cli/command_line.h"

#include <gtest/gtest.h>

#include "cli/validated_scenario.h"
#include "core/base/command_line_error.h"
#include "tests/support/files.h"

namespace longhaul {
namespace {

class CommandLine : public testing::Test {
 protected:
  CommandLine() : app_("A tool.", "longhaul") {
    app_.require_subcommand(1);
    CLI::App* run = app_.add_subcommand("run", "Do it; with care");
    run->add_option("SCENARIO", text_, "scenario file")->required();
    run->add_option("--only", text_, "a part: what's wanted")->check(CLI::IsMember({"train", "replay"}));
    run->add_option("--set", text_, "key=value");
    run->add_option("--jobs", jobs_, "at a time")->check(CLI::Range(1, 8));
    run->add_flag("--resume", flag_, "go on");
    CLI::App* list = app_.add_subcommand("list", "What there is");
    list->add_option("TOPIC", text_, "of what")->required()->check(CLI::IsMember({"methods", "models"}));
  }

  std::string error(const std::vector<std::string>& arguments) {
    try {
      app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::ParseError& error) {
      return command_line_error(app_, error, arguments).what();
    }
    return "none";
  }

  // What bash would offer for the last word.
  std::string completed(const std::string& words) {
    const TemporaryFolder folder;
    write_text(folder.file("c.sh"),
               completion_script(app_, scenario_declaration(), "bash") + "COMP_WORDS=(longhaul " + words +
                   ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_longhaul\necho \"${COMPREPLY[*]}\"\n");
    return output_of("cd " + folder.path + " && bash c.sh 2>&1");
  }

  CLI::App app_;
  std::string text_;
  int jobs_ = 1;
  bool flag_ = false;
};

TEST_F(CommandLine, SaysWhatIsWrongInOurForm) {
  EXPECT_EQ(error({"run", "a.json"}), "none");
  EXPECT_EQ(error({}), "a command is missing; allowed: run, list; longhaul --help");
  EXPECT_EQ(error({"runn", "x"}), "found the command \"runn\"; allowed: run, list; did you mean \"run\"?");
  EXPECT_EQ(error({"run"}), "SCENARIO: is missing; allowed: scenario file; longhaul run --help");
  EXPECT_EQ(error({"run", "a", "--only", "trian"}),
            "--only: found \"trian\"; allowed: train, replay; did you mean \"train\"?");
  EXPECT_EQ(error({"list", "method"}),
            "TOPIC: found \"method\"; allowed: methods, models; did you mean \"methods\"?");
  EXPECT_EQ(
      error({"run", "a", "--resum"}),
      "--resum: unknown option of run; allowed: -h, --help, --only, --set, --jobs, --resume; did you mean "
      "\"--resume\"?");
  EXPECT_EQ(
      error({"run", "a", "b"}),
      "found \"b\", which the command has no place for; allowed: longhaul run SCENARIO; longhaul run --help");
  EXPECT_EQ(error({"run", "a", "--jobs", "9"}), "--jobs: found 9; allowed: 1 to 8");
  EXPECT_NE(error({"--versoin"}).find("--versoin"), std::string::npos);
}

// A program without commands of its own before its options, as longhaul-train.
TEST_F(CommandLine, SaysWhatIsWrongWithAProgram) {
  CLI::App program("Trains.", "longhaul-train");
  std::string file, of;
  program.add_option("--case", file, "a resolved case (case.json)");
  program.add_option("--threads", jobs_, "how many")->check(CLI::PositiveNumber);
  CLI::App* step = program.add_subcommand("outer-step", "one step");
  step->add_option("--method", of, "which method")->required();
  const auto said = [&](const std::vector<std::string>& arguments) -> std::string {
    try {
      program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::ParseError& error) {
      return command_line_error(program, error, arguments).what();
    }
    return "none";
  };
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

TEST_F(CommandLine, BashCompletesWhatIsDeclared) {
  EXPECT_EQ(completed("''"), "run list -h --help\n");
  EXPECT_EQ(completed("li"), "list\n");
  EXPECT_EQ(completed("run --re"), "--resume\n");
  EXPECT_EQ(completed("run --only ''"), "train replay\n");
  EXPECT_EQ(completed("list mo"), "models\n");
  EXPECT_EQ(completed("run --set network.tcp.con"),
            "network.tcp.connections= network.tcp.congestion_control=\n");
  EXPECT_EQ(completed("run c."), "c.sh\n");
}

// Every command and option is in each of the three.
TEST_F(CommandLine, EveryShellHasAll) {
  for (const std::string& shell : completion_shells()) {
    const std::string script = completion_script(app_, scenario_declaration(), shell);
    for (const char* word :
         {"run", "list", "only", "resume", "train replay", "methods models", "train.steps"})
      EXPECT_NE(script.find(word), std::string::npos) << shell << ": " << word;
  }
}

TEST_F(CommandLine, KeysOfAScenarioAreItsOwn) {
  const std::vector<std::string> keys = dotted_keys(scenario_declaration());
  const auto has = [&](const char* key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  EXPECT_TRUE(has("replicas"));
  EXPECT_TRUE(has("train.optimizer.lr"));
  EXPECT_TRUE(has("network.topology.star.rtt"));
  EXPECT_FALSE(has("network"));
  EXPECT_FALSE(has("methods"));
}

TEST_F(CommandLine, TheManPageSaysAll) {
  const std::string page = man_page(app_, scenario_declaration(), "1.2");
  EXPECT_EQ(page.rfind(".TH LONGHAUL 1 \"\" \"longhaul 1.2\"", 0), 0u);
  for (const char* words :
       {".SS longhaul run SCENARIO\n", "\\fB\\-\\-only\\fR \\fItrain|replay\\fR\n", "a part: what's wanted\n",
        "\\fBnetwork.tcp.connections\\fR\n", ".SH EXIT STATUS\n"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.empty() || line[0] != '\'') << line << " would be a request";
}

}  // namespace
}  // namespace longhaul
