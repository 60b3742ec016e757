// Predictions beside figures that others published: the section `validation` of a scenario, judged on the
// records of its cases.
//
// Each figure has one prediction, at the point of the sweep that its `where` (what the source says) and its
// `assumed` (what it leaves open) single out. The other points that agree with `where` are the same figure
// under other assumptions. Nothing is fitted: a prediction that is far off stays, with its reason.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace longhaul {

// A prediction that is off by more than this fraction of the figure needs a sentence that says why.
constexpr double kNeedsAReason = 0.15;

struct Prediction {
  Json swept;        // the point
  double value = 0;  // mean over seeds; NaN where no case of it is done
  double ratio = 0;  // predicted over published
};

struct FigureVerdict {
  Json figure;  // as in the scenario
  Prediction prediction;
  std::vector<Prediction> others;  // under other assumptions, in the order of the sweep

  bool is_off() const;  // by more than kNeedsAReason, or not predicted at all
};

// One scenario with a section `validation`.
struct Validation {
  std::string name;
  Json about;  // the section
  std::vector<FigureVerdict> figures;
};

// Throws InputError (paths "validation.figures[i].KEY") for a figure that cannot be held against the cases:
// an unknown label or swept key, not exactly one of metric and ratio, a prediction at no or more than one
// point. `cases`: {label, swept, seed, case} of each.
void check_validation(const Json& section, const std::vector<std::string>& labels,
                      const std::set<std::string>& swept, const std::vector<Json>& cases);

Validation judge_validation(const std::string& name, const Json& section, const std::vector<Json>& records);

// As Markdown: published figures beside predictions, measurements apart from models; source, set-up and
// assumptions of each scenario, and the reasons of predictions that are off by more than kNeedsAReason.
std::string validation_markdown(const std::vector<Validation>& validations);

}  // namespace longhaul
