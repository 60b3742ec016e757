// What the replay of a case draws from the seed. Where it draws nothing, a simulated time is the same in
// every seed: only the network model's error is uncertain about it, and more seeds would say nothing new.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/case.h"

namespace longhaul {

// In words ("step times", "who meets whom"); empty where nothing is drawn.
std::vector<std::string> draws_of(const Case& config);
// The same of a file (case.json): {kUnknownDraws} where it cannot be read or is of another version.
constexpr const char* kUnknownDraws = "what is not known";
std::vector<std::string> draws_of(const std::string& case_file);

// Of a metric that follows from a training, beside what the replay draws.
constexpr const char* kTheTraining = "the training";

}  // namespace longhaul
