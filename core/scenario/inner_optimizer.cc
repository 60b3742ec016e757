#include "core/scenario/inner_optimizer.h"

#include <fmt/core.h>

#include <utility>

#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

// The keys that only Muon reads, and what they are where it is chosen.
const Json& muon_defaults() {
  static const Json defaults = {{"momentum", 0.95}, {"newton_schulz_steps", 5}, {"update_scale", "adamw"}};
  return defaults;
}

std::string with_default(const char* key, const std::string& meaning) {
  return fmt::format("with muon: {}; default {}", meaning, plain(muon_defaults().at(key)));
}

InnerOptimizer name_in(const Json& section) {
  return from_word<InnerOptimizer>(section.value("name", word_of(InnerOptimizer::kAdamw)), "optimizer.name");
}

// Complete, in the order of the declaration.
Json canonical(Json section, const std::string& path) {
  if (name_in(section) == InnerOptimizer::kAdamw)
    section.erase("name");
  else
    for (const auto& [key, value] : muon_defaults().items())
      if (!section.contains(key)) section[key] = value;
  return resolve(optimizer_options(), section, path);
}

Json merged(const Json& base, const Json& own) {
  Json section = base;
  if (own.contains("name") && name_in(own) != name_in(base))
    for (const auto& [key, unused] : muon_defaults().items()) section.erase(key);
  for (const auto& [key, value] : own.items()) section[key] = value;
  return section;
}

}  // namespace

Node optimizer_options() {
  return section(
             "optimizer",
             {choice("name", words_of<InnerOptimizer>())
                  .means("adamw; muon: its steps on the matrices of the layers, AdamW's on embedding, output "
                         "and norms; default adamw, but for methods whose own default says otherwise"),
              number("lr").above(0).by_default(1e-3).means("peak learning rate"),
              number("min_lr").at_least(0).means("learning rate at the end of the cosine; default lr/10"),
              integer("warmup").at_least(0).in("steps").means("linear warm-up; default a tenth of the steps"),
              list_of("betas", number("").at_least(0).at_most(1))
                  .by_default({0.9, 0.95})
                  .means("decay of Adam's two moments"),
              number("weight_decay")
                  .at_least(0)
                  .by_default(0.1)
                  .means("decoupled weight decay of the matrices; norms are not decayed"),
              number("clip").at_least(0).by_default(1.0).means(
                  "largest norm of the gradient that enters the optimizer; 0: no clipping"),
              number("momentum")
                  .at_least(0)
                  .at_most(1)
                  .means(with_default("momentum", "decay μ of its momentum, below 1")),
              integer("newton_schulz_steps")
                  .at_least(1)
                  .at_most(20)
                  .means(with_default("newton_schulz_steps", "iterations that orthogonalize")),
              choice("update_scale", words_of<MuonScale>())
                  .means(with_default("update_scale",
                                      "its step times 0.2 sqrt(max(rows, columns)), the size of AdamW's, or "
                                      "aspect: times sqrt(max(1, rows/columns))"))})
      .filled()
      .means("the inner optimizer, with linear warm-up and a cosine");
}

Node method_optimizer_options(const Json& defaults) {
  Node own = optimizer_options().means("keys of train.optimizer that are others for this method");
  if (!defaults.empty()) own.meaning += "; default " + defaults.dump();
  own.fill_section = !defaults.empty();
  for (Node& key : own.children) {
    key.meaning.clear();
    key.fallback = defaults.contains(key.key) ? defaults[key.key] : Json();
  }
  return own;
}

Json with_effective_optimizer(Json resolved) {
  Json& method = resolved.at("method");
  const Json own = member(method, "optimizer");
  method.erase("optimizer");
  if (!resolved.contains("train")) return resolved;
  Json& train = resolved["train"];
  Json& section = train.at("optimizer");
  const int steps = train.at("steps");
  if (own.is_null() && !section.contains("name")) return resolved;
  parse_optimizer(section, steps, "train.optimizer");
  if (own.is_null()) {
    section = canonical(section, "train.optimizer");
    return resolved;
  }
  const std::string path = "method.optimizer";
  const Json both = merged(section, own);
  parse_optimizer(both, steps, path, "what it does not give it has from train.optimizer");
  section = canonical(both, path);
  return resolved;
}

OptimizerSpec parse_optimizer(const Json& section, int steps, const std::string& path,
                              const std::string& hint) {
  OptimizerSpec spec;
  spec.lr = section.at("lr");
  spec.min_lr = section.value("min_lr", spec.lr / 10);
  spec.warmup = section.value("warmup", steps / 10);
  const auto betas = section.at("betas").get<std::vector<double>>();
  if (betas.size() != 2 || betas[0] >= 1 || betas[1] >= 1)
    throw InputError(child_path(path, "betas"), "found " + section["betas"].dump(), "two numbers below 1");
  spec.beta1 = betas[0];
  spec.beta2 = betas[1];
  spec.weight_decay = section.at("weight_decay");
  spec.clip = section.at("clip");
  if (spec.min_lr > spec.lr)
    throw InputError(child_path(path, "min_lr"), "found " + format_number(spec.min_lr),
                     "at most lr, " + format_number(spec.lr), hint);
  if (name_in(section) == InnerOptimizer::kAdamw) {
    for (const auto& [key, unused] : muon_defaults().items())
      if (section.contains(key))
        throw InputError(child_path(path, key), fmt::format("found {} with AdamW", section[key].dump()),
                         "this key only with \"name\": \"muon\"", "leave it out, or name muon");
    return spec;
  }
  Json muon = muon_defaults();
  muon.update(section);
  spec.name = InnerOptimizer::kMuon;
  spec.momentum = muon["momentum"];
  if (spec.momentum >= 1)
    throw InputError(child_path(path, "momentum"), "found " + muon["momentum"].dump(), "a number below 1");
  spec.newton_schulz_steps = muon["newton_schulz_steps"];
  spec.update_scale = from_word<MuonScale>(muon["update_scale"], child_path(path, "update_scale"));
  return spec;
}

}  // namespace longhaul
