#include "net/library.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "net/collectives/slices.h"

namespace longhaul {
namespace {

// The rounds of a collective, cut as network.slice says.
Lowering plain(const NetworkSpec& network, const LibraryCall& call) {
  Lowering lowering;
  lowering.collective = &asked_or(call, find_collective("ring"));
  lowering.slices = slice_count(network.slice, *lowering.collective, call.exchange);
  return lowering;
}

}  // namespace

std::vector<std::string> library_names() {
  std::vector<std::string> names;
  for (const Library& library : libraries()) names.push_back(library.name);
  return names;
}

const Library& library_named(const std::string& name) {
  for (const Library& library : libraries())
    if (library.name == name) return library;
  const std::vector<std::string> names = library_names();
  throw InputError("network.library", "found \"" + name + "\"", "one of " + enumeration(names, "or"),
                   did_you_mean(name, names));
}

Lowering lowered(const NetworkSpec& network, const OperationRule& rule, const GroupExchange& exchange) {
  const LibraryCall call{rule.kind, rule.collective, exchange};
  const Library& library = library_named(network.library);
  return library.is_plain() ? plain(network, call) : library.lower(call);
}

const Collective& collective_of(const NetworkSpec& network, const OperationRule& rule,
                                const GroupExchange& exchange) {
  return *lowered(network, rule, exchange).collective;
}

std::int64_t transfers_of(const Lowering& lowering, const GroupExchange& exchange) {
  std::int64_t transfers = lowering.collective->totals(part_of_loop(exchange, 0, lowering.loops)).transfers *
                           lowering.slices * lowering.loops;
  if (lowering.rules.start == MessageStart::kAnnounced) transfers *= 2;
  if (lowering.rules.start == MessageStart::kRendezvous) transfers *= 3;
  return transfers;
}

GroupExchange part_of_loop(const GroupExchange& exchange, int loop, int loops) {
  GroupExchange part = exchange;
  if (loops > 1)
    part.bytes = part_begin(exchange.bytes, loop + 1, loops) - part_begin(exchange.bytes, loop, loops);
  return part;
}

const Collective& asked_or(const LibraryCall& call, const Collective& choice) {
  return call.collective == kLibraryChoice ? choice : find_collective(call.collective);
}

}  // namespace longhaul
