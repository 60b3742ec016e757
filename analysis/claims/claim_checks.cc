#include "analysis/claims/claim_checks.h"

#include <fmt/core.h>

#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

void check_one_of(const Json& claim, const std::string& path, const std::vector<std::string>& keys) {
  const auto count = count_if(keys, [&](const std::string& key) { return claim.contains(key); });
  if (count != 1)
    throw InputError(path, fmt::format("found {} of {}", count, join(keys)), "exactly one of them");
}

void check_form(const Json& claim, const std::string& path, const std::vector<std::string>& labels) {
  check_one_of(claim, path, {"metric", "ratio"});
  check_one_of(claim, path, {"at_least", "at_most", "equals"});
  if (claim.contains("within") != claim.contains("equals"))
    throw InputError(path, "found one of equals and within", "both or none");
  if (claim.contains("ratio") && !(claim.contains("of") && claim.contains("to")))
    throw InputError(path, "found ratio without of and to",
                     labels.empty() ? "labels of two methods" : "labels of two methods: " + join(labels));
}

}  // namespace

void check_claim_forms(const Json& claims) {
  for (std::size_t i = 0; i < claims.size(); ++i) check_form(claims[i], element_path("claims", i), {});
}

void check_label(const Json& claim, const std::string& path, const char* key,
                 const std::vector<std::string>& labels) {
  if (!claim.contains(key)) return;
  const std::string found = claim[key];
  if (!contains(labels, found))
    throw InputError(child_path(path, key), "found \"" + found + "\"", join(labels),
                     did_you_mean(found, labels));
}

void check_swept(const Json& claim, const std::string& path, const char* table,
                 const std::set<std::string>& swept) {
  const std::vector<std::string> keys(swept.begin(), swept.end());
  const auto check = [&](const Json& section, const std::string& where) {
    for (const auto& [key, value] : section.items())
      if (!swept.count(key))
        throw InputError(child_path(where, key), "is not swept",
                         keys.empty() ? "nothing: the scenario has no sweep" : join(keys),
                         did_you_mean(key, keys));
  };
  const Json section = claim.value(table, Json::object());
  if (!section.is_array()) return check(section, child_path(path, table));
  for (std::size_t i = 0; i < section.size(); ++i)
    check(section[i], element_path(child_path(path, table), i));
}

void check_claims(const Json& claims, const std::vector<std::string>& labels,
                  const std::set<std::string>& swept) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Json& claim = claims[i];
    const std::string path = element_path("claims", i);
    if (!ids.insert(claim["id"]).second)
      throw InputError(path + ".id", fmt::format("found \"{}\" twice", plain(claim["id"])),
                       "an id of its own");
    check_form(claim, path, labels);
    if (claim.contains("metric") && claim.contains("to"))
      throw InputError(path + ".to", "found beside metric", "only with ratio");
    for (const char* key : {"of", "to"}) check_label(claim, path, key, labels);
    check_swept(claim, path, "where", swept);
  }
}

}  // namespace longhaul
