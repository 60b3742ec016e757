#include <cstdio>
#include <filesystem>

#include "analysis/run_files.h"
#include "cli/commands.h"
#include "cli/output_place.h"
#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/json.h"

namespace longhaul {

int new_command(const std::string& out) {
  namespace fs = std::filesystem;
  if (fs::exists(out)) throw InputError({out, "", "exists already", "the name of a new file (-o)", ""});
  const fs::path folder = fs::absolute(needed_scenario_folder()).lexically_normal();
  const std::string original = folder / "new.jsonc";
  const std::optional<std::string> text = read_file(original);
  if (!text)
    throw InputError({original, "", why_unreadable(original), "the file that longhaul new copies", ""});
  // The copy is somewhere else: an editor finds the schema beside the original.
  const std::string here = "\"scenario.schema.json\"",
                    there = Json("file://" + (folder / "scenario.schema.json").string()).dump();
  std::string copy = *text;
  if (const std::size_t place = copy.find(here); place != std::string::npos)
    copy.replace(place, here.size(), there);
  check_output_file("--output", out);
  write_file(out, copy);
  std::printf("%s is written; next: longhaul check %s\n", out.c_str(), out.c_str());
  return kDone;
}

}  // namespace longhaul
