// A comparison as text for a terminal, Markdown, CSV and JSON. docs/formats.md describes the last two.
#pragma once

#include <string>

#include "analysis/comparison/comparison.h"

namespace longhaul {

std::string comparison_text(const ComparisonTable& table);
std::string comparison_markdown(const ComparisonTable& table);  // GitHub's
std::string comparison_csv(const ComparisonTable& table);
std::string comparison_json(const ComparisonTable& table);

}  // namespace longhaul
