// A replica is gone from one moment to the next.
#include <fmt/core.h>

#include <filesystem>

#include "core/base/errors.h"
#include "core/scenario/fault.h"
#include "core/scenario/network_spec.h"

namespace longhaul {
namespace crash {
namespace {

void read(const FaultEntry& entry, Fault& fault) {
  fault.absence = true;
  if (!entry.json.contains("file")) {
    if (!entry.json.contains("replicas"))
      throw InputError(entry.path + ".replicas", "this key is missing",
                       "a replica or a range of them, as \"0-3\", or a file");
    fault.replicas = parse_replica_range(entry.json["replicas"], entry.workers, entry.path + ".replicas");
    return;
  }
  for (const char* key : {"replicas", "at", "every", "for", "for_sigma"})
    if (entry.json.contains(key))
      throw InputError(entry.path, fmt::format("found both file and {}", key), "one of them",
                       "the file says who is gone, and when");
  fault.file = (std::filesystem::path(entry.folder) / entry.json["file"].get<std::string>()).string();
}

}  // namespace
}  // namespace crash

FaultKind crash_fault() {
  return {section("crash", {either("replicas", {integer("").at_least(0), text("")})
                                .means("a replica, a range of them, as \"0-3\", or \"all\"; each by itself"),
                            text("file").means(
                                "instead of replicas and times: a CSV file with columns "
                                "replica,left_s,back_s, relative to the scenario's folder; replicas that it "
                                "does not name stay")})
              .means("a replica is gone, and what it computed since its last step is lost; the "
                     "section recovery says what follows"),
          crash::read};
}

}  // namespace longhaul
