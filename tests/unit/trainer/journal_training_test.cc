// A journal written by hand (docs/reference/formats/journal.md), carried out.
#include <sstream>

#include "core/plan/journal.h"
#include "core/plan/journal_file.h"
#include "tests/support/said.h"
#include "tests/unit/trainer/reference_replicas.h"

namespace longhaul::journal_training_test {

Training::MakeJournal journal_of(const std::string& lines) {
  return [lines](const JournalSpec& spec) {
    std::istringstream in(lines);
    return read_journal(in, "journal.jsonl", spec.plan, spec.context);
  };
}

TEST(JournalByHand, TrainsAsItSaysAndItsCheckpointsAreOfNoOther) {
  const CaseInFolder in(scenario_of({{"name", "diloco"}, {"inner_steps", 6}}));
  std::istringstream page(read_text(LONGHAUL_SOURCE_DIR "/docs/reference/formats/journal.md"));
  std::string lines;
  for (std::string line; std::getline(page, line);)
    if (line.rfind("    {", 0) == 0) lines += line.substr(4) + "\n";  // those of the page that are indented
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 10);
  const Trained found =
      train_with(in.config, in.folder, Device::kCpu, make_loop_backend(), false, journal_of(lines));
  Reference reference(in.config);
  for (int step = 1; step <= 6; ++step) reference.step({0, 1, 2}, step);
  reference.outer_of({0, 1}, {0, 1}, 0.7F, 0.9F);
  const Replica held = reference.replicas[0];
  for (int step = 7; step <= 12; ++step) reference.step({0, 1}, step);
  reference.replicas[2] = held;
  reference.outer_of({0, 1, 2}, {0, 1, 2}, 0.7F, 0.9F);
  expect_weights(found, reference);
  EXPECT_EQ(found.summary["tokens"], (6 * 3 + 6 * 2) * 2 * 12) << "two sequences of twelve";

  // A checkpoint is a place in one journal: in another one it would be that of something else.
  const auto resumed_with = [&](const std::string& of) {
    ProgressReporter silent("test", -1, true);
    TrainingFiles files(in.folder.file("out"));
    std::vector<std::string> refused;
    return Training(in.config, Device::kCpu, make_loop_backend(), files, silent, one_rank(), journal_of(of))
        .resume(refused);
  };
  EXPECT_EQ(resumed_with(lines), 12);
  std::string other = lines;
  other.replace(lines.find("\"hold\": 0"), 9, "\"hold\": 1");
  const InputErrorParts error = thrown_by([&] { resumed_with(other); }).parts();
  EXPECT_EQ(error.path, "--journal");
  EXPECT_EQ(error.hint, "remove " + in.folder.file("out") + "/checkpoints to begin anew");
}

}  // namespace longhaul::journal_training_test
