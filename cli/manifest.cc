#include "cli/manifest.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/hash.h"

namespace longhaul {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

Manifest::Manifest(const Scenario& scenario, std::vector<std::string> command) : start_(seconds_now()) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  json_ = {{"format", 1},
           {"name", scenario.name},
           {"command", line},
           {"version", LONGHAUL_VERSION},
           {"build", {{"type", LONGHAUL_BUILD_TYPE}, {"compiler", LONGHAUL_COMPILER}}},
           {"scenario_hash", hex64(fnv1a(scenario.written.dump()))},
           {"scenario", scenario.resolved},
           {"host", host_name()},
           {"cores", std::thread::hardware_concurrency()},
           {"started", utc_now()}};
}

void Manifest::set_option(const std::string& key, Json value) {
  json_["options"][key] = std::move(value);
}

void Manifest::add_wall_time(const std::string& kind, const std::string& name, double seconds) {
  json_["wall_times_s"][kind][name] = seconds;
}

void Manifest::write(const RunLayout& layout, const WorkPlan& plan, const std::string& status) {
  for (const Training& training : plan.trainings) {
    std::ifstream in(layout.training_folder(training.key) + "/training.json");
    const Json said = in ? Json::parse(in, nullptr, false) : Json();
    if (said.is_object()) json_["trainings"][training.key] = said;
  }
  json_["status"] = status;
  json_["finished"] = utc_now();
  json_["wall_s"] = seconds_now() - start_;
  write_file(layout.file("manifest.json"), json_.dump(2) + "\n");
}

}  // namespace longhaul
