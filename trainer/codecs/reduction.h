// The mean of messages that are rounded on their way (Reduction of core/codecs/codec.h): what each member of
// a group gets. It is rounded block by block of the codec; the chunk that a ring ends at a member, 1/n of the
// columns, begins with a block, so that the message is as long as the plan says.
#pragma once

#include <functional>
#include <vector>

#include "trainer/codecs/message.h"

namespace longhaul {

// Contributions, as they are added up, of `members` in ascending order: out [members, end - begin] = columns
// [begin, end) of those that travel.
using ContributionsOf = std::function<void(std::int64_t begin, std::int64_t end, float* out)>;

// All `columns`. Not for kOnce. server_errors [columns], with kServers: what the last one left out, and then
// this one.
std::vector<float> reduced_mean(const Codec& codec, std::int64_t columns, int members,
                                const ContributionsOf& contributions, float* server_errors = nullptr);

// What a member contributes: with a ring its own numbers, of which no message is made; else its message.
Codec contributed_as(Codec codec);

}  // namespace longhaul
