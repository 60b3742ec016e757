// A scenario: what a user writes. Reading, --set, and the expansion of its sweep into cases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/scenario/case.h"

namespace longhaul {

struct Scenario {
  std::string file;
  std::string name;
  Json written;   // as in the file, with --set applied
  Json resolved;  // with every default
  std::vector<Case> cases;
};

// The method that `key`, as "methods.LABEL.outer_lr", addresses, by its label; "" if it addresses none. A label
// may hold any characters: of several that fit, as "a" and "a.codec", the longest is meant.
std::string addressed_label(const std::string& key, const std::vector<std::string>& labels);

// "method.KEY" of a case is "methods[2].KEY" of its scenario. So is "SECTION.KEY" where the method has a key
// of its own there, or the scenario has no such section.
InputError in_scenario(const InputError& error, const Json& scenario, const std::string& label);

// `assignments`: "key.path=value" as given to --set; the value is JSON, or else a text.
// `expand`, if there is one, is called with what is written, and with what a point of the sweep makes of it,
// before defaults are filled in; its errors are said of the file. `check`, if there is one, is called with
// every case; the InputErrors that it throws are said of the point of the sweep. Throws InputError for
// anything wrong that can be known without the network or a method.
Scenario load_scenario(const std::string& file, const std::vector<std::string>& assignments,
                       const Node& declaration, const std::function<void(const Case&)>& check = {},
                       const std::function<void(Json& scenario, const std::string& folder)>& expand = {});

// Its two halves: what stands in the file, with `assignments`; and what that is, of any JSON that could stand
// there.
Json read_scenario(const std::string& file, const std::vector<std::string>& assignments);
Scenario scenario_of(Json written, const std::string& file, const Node& declaration,
                     const std::function<void(const Case&)>& check = {},
                     const std::function<void(Json& scenario, const std::string& folder)>& expand = {});

// Sets what a dotted key names, as --set does. Throws InputError at `where`.
void assign_in_scenario(Json& scenario, const std::string& dotted, const Json& value,
                        const std::string& where);

}  // namespace longhaul
