// What the replay of a case decides for its training, where times decide that: journal.jsonl
// (core/plan/journal.h).
#pragma once

#include <string>
#include <vector>

#include "core/plan/absences.h"
#include "core/plan/schedule.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"

namespace longhaul {

class TrainingJournal {
 public:
  // Of a case with a train section. Both must outlive it.
  TrainingJournal(const Case& config, const Trace& trace);

  // In the order in which they were done, and came back.
  void add_group(int rule, int step, const std::vector<int>& group);
  void add_merge(const Merge& merge) { schedule_.merges.push_back(merge); }
  void add_absence(const Absence& absence) { absences_.push_back(absence); }

  // When all is over. Throws RunError if the file cannot be written.
  void write(const std::string& file);

 private:
  const Case& case_;
  const Trace& trace_;
  Schedule schedule_;
  std::vector<Absence> absences_;
};

}  // namespace longhaul
