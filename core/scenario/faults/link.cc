// A link fails, or is worse than it was.
#include "core/base/errors.h"
#include "core/scenario/fault.h"

namespace longhaul {
namespace link {
namespace {

void read(const FaultEntry& entry, Fault& fault) {
  fault.link = entry.json.at("link").get<std::string>();
  fault.rate = entry.json.value("rate", 1.);
  fault.delay = entry.json.value("delay", 1.);
  fault.loss = entry.json.value("loss", 0.);
  if (fault.rate == 1 && fault.delay == 1 && fault.loss == 0)
    throw InputError(entry.path, "found neither rate nor delay nor loss", "one of them at least",
                     "rate 0 is a link that fails");
}

}  // namespace
}  // namespace link

FaultKind link_fault() {
  return {
      section("link",
              {text("link").required().means("name of a link, or a glob of names, each by itself"),
               number("rate").at_least(0).at_most(1).means(
                   "it has so many times its rate; 0: it carries nothing; default 1"),
               number("delay").at_least(1).at_most(1000).means("it has so many times its delay; default 1"),
               number("loss").at_least(0).at_most(0.5).means(
                   "share of its packets that it loses, each by itself, besides network.tcp.loss and to the "
                   "same limit; default 0")})
          .means("a link fails or is worse than it was"),
      link::read};
}

}  // namespace longhaul
