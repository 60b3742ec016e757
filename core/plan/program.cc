#include "core/plan/program.h"

#include <algorithm>

namespace longhaul {
namespace {

using Kind = Instruction::Kind;

class Builder {
 public:
  Builder(const OperationPlan& plan, int steps, int step) : plan_(plan), steps_(steps), step_(step) {}

  Program build() {
    compute();
    for_each_posted([&](const OperationRule& rule, int index) {
      if (rule.is_blocking() && rule.before_optimizer) block(rule, index);
    });
    add({Kind::kOptimize});
    program_.waits_end = program_.instructions.size();
    post_overlapped(true);
    for (std::size_t i = 0; i < plan_.local.size(); ++i)
      if (is_taken_at(plan_.local[i], step_)) add({Kind::kLocal, 0, static_cast<int>(i), step_});
    for_each_posted([&](const OperationRule& rule, int index) {
      if (rule.is_blocking() && !rule.before_optimizer) block(rule, index);
    });
    for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
      const OperationRule& rule = plan_.rules[i];
      const int posted = step_ - rule.overlap_steps;
      const bool may_come = rule.kind == OperationKind::kMerge && posted > 0;  // whatever was posted by then
      if (may_come || (!rule.is_blocking() && is_posted_at(rule, steps_, posted)))
        await(static_cast<int>(i), posted);
    }
    post_overlapped(false);
    return std::move(program_);
  }

 private:
  template <typename Work>
  void for_each_posted(const Work& work) {
    for (std::size_t i = 0; i < plan_.rules.size(); ++i)
      if (is_posted_at(plan_.rules[i], steps_, step_)) work(plan_.rules[i], static_cast<int>(i));
  }

  void post_overlapped(bool first) {
    for_each_posted([&](const OperationRule& rule, int index) {
      if (!rule.is_blocking() && rule.posts_first == first)
        add({Kind::kPost, 0, index, step_, last_bucket(rule)});
    });
  }

  // What the end of the step releases: the last bucket, or none.
  static int last_bucket(const OperationRule& rule) {
    return left_at_release(rule, rule.buckets - 1) > 0 ? rule.buckets : rule.buckets - 1;
  }

  // The buckets that are released before the end of the step.
  void compute() {
    std::vector<Instruction> releases;
    for_each_posted([&](const OperationRule& rule, int index) {
      for (int bucket = 0; bucket < last_bucket(rule); ++bucket)
        releases.push_back({Kind::kPost, left_at_release(rule, bucket), index, step_, bucket});
    });
    std::stable_sort(releases.begin(), releases.end(),
                     [](const Instruction& a, const Instruction& b) { return a.left > b.left; });
    for (Instruction& release : releases) {
      add({Kind::kCompute, release.left});
      release.left = 0;
      add(release);
    }
    add({Kind::kCompute});
  }

  void block(const OperationRule& rule, int index) {
    add({Kind::kPost, 0, index, step_, last_bucket(rule)});
    await(index, step_);
  }

  void await(int index, int posted) {
    add({Kind::kAwait, 0, index, posted});
    program_.waits_end = program_.instructions.size();
  }
  void add(const Instruction& instruction) { program_.instructions.push_back(instruction); }

  const OperationPlan& plan_;
  int steps_, step_;
  Program program_;
};

}  // namespace

Program program_of_step(const OperationPlan& plan, int steps, int step) {
  return Builder(plan, steps, step).build();
}

}  // namespace longhaul
