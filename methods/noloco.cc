// NoLoCo (arXiv 2506.10911): H inner steps, then an average within small random groups (pairs) instead of an
// all-reduce, with a modified momentum that pulls the group's slow weights together.
#include "methods/noloco.h"

#include <fmt/core.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/base/units.h"
#include "methods/common/waiting.h"

namespace longhaul {
namespace noloco {

std::vector<Node> options() {
  return {
      inner_steps_option(50),
      number("alpha").at_least(0).at_most(1).by_default(0.5).means("momentum α of the outer step"),
      number("beta").above(0).by_default(0.7).means("outer learning rate β on the group's mean Δ"),
      number("gamma").at_least(0).by_default(0.7).means(
          "pull γ of the slow weights towards the group's mean"),
      group_size_option(),
      choice("pairing", {"random", "sites"})
          .by_default("random")
          .means("random: any replicas are a group (the paper's); sites: replicas of one site, and at every "
                 "across_every-th outer step replicas of different sites"),
      integer("across_every")
          .at_least(1)
          .by_default(2)
          .in("outer steps")
          .means("with pairing sites: groups go across sites at each outer step whose number is a multiple "
                 "of it; 1: always"),
      choice("pattern", {"exchange", "presend", "root", "serial"})
          .by_default("exchange")
          .timing_only()
          .means("exchange: φ and Δ to the partner at the outer step; presend: φ to the next partner during "
                 "the inner steps before; root: to one of the group and back, tensor by tensor (the authors' "
                 "code); serial: Δ, then φ, each to all others of the group (the paper's two messages)"),
      grace_option()};
}

// φ and Δ at the outer step, or Δ alone with φ sent ahead to the group of the next outer step.
OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  const std::string pattern = method.options.at("pattern");
  const std::string collective = pattern == "root" || pattern == "serial" ? pattern : "pair";
  OperationRule outer{"outer", OperationKind::kGroupAverage, collective, method.options.at("inner_steps")};
  const bool by_sites = method.options.value("pairing", "random") == "sites";
  outer.grouping = by_sites ? Grouping::kSites : Grouping::kRandom;
  if (by_sites) outer.across_every = method.options.at("across_every");
  outer.group_size = method.options.at("group_size");
  outer.completion = completion_of(method.options);
  outer.payload = whole({"delta", "phi"}, model.wire);
  if (pattern != "presend") return {{outer}};
  OperationRule presend = outer;
  outer.payload = whole({"delta"}, model.wire);
  presend.name = "presend";
  presend.payload = whole({"phi"}, model.wire);
  presend.overlap_steps = outer.every;
  presend.is_sent_ahead = true;
  return {{outer, presend}};
}

void check(const Case& config) {
  if (config.method.options.value("grace", Json("unlimited")) != "unlimited" &&
      config.method.options.at("pattern") == "presend")
    throw InputError("method.grace", "found with pattern \"presend\"", "exchange, root, serial",
                     "φ would go ahead to a partner that may be passed by");
}

std::vector<std::string> warnings(const Case& config) {
  const double alpha = config.method.options.at("alpha"), gamma = config.method.options.at("gamma");
  const double bound = noloco_gamma_bound(alpha, config.method.options.at("group_size"), config.replicas);
  if (gamma > 0 && gamma < bound) return {};
  return {
      fmt::format("{}: gamma {} is outside (0, {:.6g}), where the disagreement between replicas stays "
                  "bounded at alpha {}",
                  config.name, format_number(gamma), std::floor(bound * 1e6) / 1e6, format_number(alpha))};
}

}  // namespace noloco

double noloco_gamma_bound(double alpha, int group_size, int replicas) {
  const int groups = replicas / group_size;  // whole ones
  const double k = groups * (group_size - 1.) / (replicas - 1.);
  return 2 * (1 - alpha * alpha) / (1 + alpha - 2 * alpha * k);
}

Method noloco_method() {
  using namespace noloco;
  return Method("noloco", "averages within random pairs every H steps (arXiv 2506.10911)", options(), plan,
                {check_inner_steps, check_group_size, check_waiting, check}, {warnings}, keeps_outer_step);
}

}  // namespace longhaul
