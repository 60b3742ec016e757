// In place of c10d_ranks.cc in a build without Gloo's headers: one process only.
#include "core/errors.h"
#include "trainer/ranks/rank_environment.h"

namespace longhaul {

std::unique_ptr<Ranks> make_c10d_ranks(const RankEnvironment& environment, int) {
  throw InputError(
      {"", "WORLD_SIZE", "found " + std::to_string(environment.size) + ", but this build has no Gloo",
       "1, or not set", "install Gloo's headers (Debian: libgloo-dev), configure and build again"});
}

}  // namespace longhaul
