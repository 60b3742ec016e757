#include "core/case.h"

#include <fstream>

#include "core/case_parts.h"
#include "core/errors.h"
#include "core/hash.h"

namespace longhaul {

Case parse_case(const Json& resolved) {
  Case one;
  one.resolved = resolved;
  one.name = resolved.at("case").get<std::string>();
  one.scenario = resolved.at("scenario").get<std::string>();
  one.folder = resolved.at("folder").get<std::string>();
  one.swept = resolved.at("swept");
  one.seed = resolved.at("seed");
  one.replicas = resolved.at("replicas");
  one.method.options = resolved.at("method");
  one.method.name = one.method.options.at("name").get<std::string>();
  one.method.label = one.method.options.at("label").get<std::string>();
  if (resolved.contains("sites")) one.site_of = resolved["sites"].get<std::vector<int>>();
  if (resolved.contains("train")) one.train = parse_train(resolved["train"]);
  one.workload = parse_workload(resolved.at("workload"), one.train);
  one.workload.step_time_factors = parse_step_time_factors(resolved["workload"], one.replicas);
  one.network = parse_network(resolved.at("network"), one.replicas);
  one.network.variation = parse_variation(resolved["network"], one.folder);
  return one;
}

Case read_case(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw InputError({file, "", "cannot be read", "a case.json written by longhaul", ""});
  try {
    return parse_case(Json::parse(in));
  } catch (const Json::exception& error) {
    throw InputError({file, "", error.what(), "a case.json written by longhaul", ""});
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
}

}  // namespace longhaul
