// A suite of cases without training, small enough for a test, and its runs.
#pragma once

#include <string>
#include <vector>

namespace longhaul {

constexpr int kSuiteCases = 24;

// Writes the scenario into `folder`; returns its file.
std::string write_suite(const std::string& folder);

// Runs it with two jobs; `more` are further arguments. Returns the exit status.
int run_suite(const std::string& scenario, const std::string& run, const std::vector<std::string>& more = {});

// So many of its cases are done.
int cases_done(const std::string& run);

}  // namespace longhaul
