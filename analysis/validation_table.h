// Validations for people: published figures beside predictions, measurements apart from models.
#pragma once

#include <string>
#include <vector>

#include "analysis/validation.h"

namespace longhaul {

// A table a scenario, aligned UTF-8 without colour: what, published, predicted, ratio; below a figure its
// other assumptions, a line each, and below the table the reasons of predictions that are off by more than
// kNeedsAReason.
std::string validation_text(const std::vector<Validation>& validations);

// The same as Markdown, with source, set-up and assumptions of each scenario.
std::string validation_markdown(const std::vector<Validation>& validations);

}  // namespace longhaul
