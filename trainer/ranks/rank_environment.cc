#include "trainer/ranks/rank_environment.h"

#include <charconv>
#include <cstdlib>

#include "core/base/errors.h"

namespace longhaul {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string needed(const char* name, const std::string& allowed) {
  const std::string value = variable(name);
  if (value.empty())
    throw InputError(
        name, "is not set, but WORLD_SIZE is " + variable("WORLD_SIZE"), allowed,
        "each rank needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT (docs/howto/many-machines.md); "
        "without WORLD_SIZE there is one process");
  return value;
}

int number(const char* name, int least, int most) {
  const std::string allowed = "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  const std::string text = needed(name, allowed);
  int value = 0;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most)
    throw InputError(name, "found \"" + text + "\"", allowed, "it is read from the environment");
  return value;
}

}  // namespace

RankEnvironment rank_environment() {
  RankEnvironment environment;
  if (variable("WORLD_SIZE").empty()) return environment;
  environment.size = number("WORLD_SIZE", 1, 65536);
  if (environment.size == 1) return environment;
  environment.rank = number("RANK", 0, environment.size - 1);
  environment.address = needed("MASTER_ADDR", "the name or address of the machine of rank 0");
  environment.port = number("MASTER_PORT", 1, 65535);
  if (!variable("LOCAL_WORLD_SIZE").empty())
    environment.size_here = number("LOCAL_WORLD_SIZE", 1, environment.size);
  if (!variable("LOCAL_RANK").empty()) environment.number_here = number("LOCAL_RANK", 0, 65535);
  environment.is_agents_store = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  environment.attempt = variable("TORCHELASTIC_RESTART_COUNT");
  environment.interface = variable("GLOO_SOCKET_IFNAME");
  return environment;
}

void check_ranks_divide(const RankEnvironment& environment, int replicas) {
  if (replicas % environment.size == 0) return;
  std::string divisors;
  for (int size = 1; size <= replicas; ++size)
    if (replicas % size == 0) divisors += (divisors.empty() ? "" : ", ") + std::to_string(size);
  throw InputError("WORLD_SIZE",
                   "found " + std::to_string(environment.size) + ", but the case has " +
                       std::to_string(replicas) + (replicas == 1 ? " replica" : " replicas"),
                   "a divisor of the replicas: " + divisors,
                   "each rank holds equally many replicas; start as many ranks as that");
}

}  // namespace longhaul
