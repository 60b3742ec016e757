#include "cli/list_command.h"

#include <cstdio>

#include "cli/validated_scenario.h"
#include "core/errors.h"
#include "core/units.h"
#include "methods/registry.h"
#include "net/collectives/registry.h"
#include "net/matrix.h"

namespace longhaul {
namespace {

void list_methods() {
  for (const Method& method : methods()) {
    std::printf("%s: %s\n", method.name.c_str(), method.about.c_str());
    for (const Node& option : method.options)
      std::printf("    %-16s %s; %s, default %s\n", option.key.c_str(), option.meaning.c_str(),
                  allowed(option).c_str(), option.fallback.dump().c_str());
  }
}

void list_collectives() {
  for (const auto& collective : collectives())
    std::printf("%-18s %s\n", collective->name().c_str(), collective->about().c_str());
}

void list_networks() {
  std::printf(
      "star      replicas on access links around one core: {\"star\": {\"rate\": \"1Gbps\", \"rtt\": "
      "\"50ms\"}}\n");
  std::printf(
      "mesh      every two replicas on a link of their own: {\"mesh\": {\"rate\": \"1Gbps\", \"rtt\": "
      "\"50ms\"}}; with message_time {mean, std} each message takes a log-normal time instead\n");
  std::printf(
      "regions   replicas at the sites of a measured matrix: {\"regions\": {\"matrix\": NAME, \"replicas\": "
      "{SITE: COUNT}}}\n\nmatrices:\n");
  for (const NetworkInfo& network : built_in_networks())
    std::printf("%s: %s\n    source: %s\n    sites: %s\n", network.name.c_str(), network.about.c_str(),
                network.source.c_str(), join(network.sites).c_str());
}

void list_models() {
  for (const ModelPreset& preset : model_presets()) {
    const ModelShape& shape = preset.shape;
    std::printf(
        "%-13s %s\n              hidden %d, layers %d, heads %d, ffn %d, context %d, vocabulary %d: %lld "
        "parameters, %s in bf16\n",
        preset.name.c_str(), preset.about.c_str(), shape.hidden, shape.layers, shape.heads, shape.ffn,
        shape.context, shape.vocabulary, static_cast<long long>(shape.parameters()),
        human_bytes(2. * static_cast<double>(shape.parameters())).c_str());
  }
}

Json schema() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Longhaul scenario"}};
  schema.update(json_schema(scenario_declaration()));
  return schema;
}

}  // namespace

const std::vector<std::string>& list_topics() {
  static const std::vector<std::string> topics = {"methods", "collectives", "networks",
                                                  "models",  "options",     "schema"};
  return topics;
}

int list_command(const std::string& topic) {
  if (topic == "methods") list_methods();
  if (topic == "collectives") list_collectives();
  if (topic == "networks") list_networks();
  if (topic == "models") list_models();
  if (topic == "options") std::printf("%s", help_text(scenario_declaration()).c_str());
  if (topic == "schema") std::printf("%s\n", schema().dump(2).c_str());
  return 0;
}

}  // namespace longhaul
