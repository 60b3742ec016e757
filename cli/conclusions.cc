#include "cli/conclusions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "analysis/comparison/decision_words.h"
#include "analysis/runs/run_directory.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/printable.h"

namespace longhaul {

constexpr int kWidestText = 110;  // columns of a sentence

void print_conclusions(const std::string& folder, int columns) {
  try {
    const auto width = as_index(std::clamp(columns, 40, kWidestText));
    const std::string text =
        terminal_text(conclusions_markdown(conclusions_of(open_runs({folder}).runs)), width);
    if (!text.empty()) say(stdout, text);
  } catch (const InputError&) {
    return;  // no case is there
  } catch (const DamagedFile& error) {
    say(stderr, fmt::format("warning: {}\n", error.what()));
  }
}

}  // namespace longhaul
