#include "trainer/checkpoint/agreement.h"

#include "core/errors.h"

namespace longhaul {

void check_agreement(Ranks& ranks, const Json& mine) {
  if (ranks.size() == 1) return;
  const std::vector<std::string> all = gather(ranks, mine.dump());
  const Json expected = Json::parse(all[0]);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const Json other = Json::parse(all[rank]);
    for (const auto& [what, value] : expected.items())
      if (other.value(what, Json()) != value)
        throw InputError(
            {"", "", "rank " + std::to_string(rank) + " has " + what + " " + other.value(what, Json()).dump(),
             value.dump() + ", as rank 0",
             "all ranks need the same case, text, device and libraries, or their bits differ"});
  }
}

void share_checkpoint(Ranks& ranks, std::optional<Checkpoint>& checkpoint) {
  if (ranks.size() == 1) return;
  const Json mine = checkpoint ? Json{{"step", checkpoint->step}, {"state", checkpoint->state}} : Json();
  const Json shared = Json::parse(broadcast(ranks, 0, mine.dump()));
  if (!ranks.is_first() && !shared.is_null()) checkpoint = Checkpoint{shared["step"], shared["state"], ""};
}

}  // namespace longhaul
