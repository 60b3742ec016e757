#include <algorithm>
#include <cstring>
#include <set>

#include "core/errors.h"
#include "core/index.h"
#include "methods/common/registry.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/commands.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

const std::pair<const char*, Slot> kTables[] = {
    {"theta", Slot::kWeights}, {"phi", Slot::kSlowWeights}, {"momentum", Slot::kOuterMomentum}};

// The method's options, checked and with its defaults, as in a scenario.
MethodSpec method_spec(const OuterStepArguments& arguments) {
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    names.push_back(method.name);
    if (method.name != arguments.method) continue;
    Json options = Json::object();
    for (const std::string& assignment : arguments.assignments) {
      const std::size_t equals = assignment.find('=');
      if (equals == std::string::npos) throw InputError("--set", "found \"" + assignment + "\"", "key=value");
      const Json value = Json::parse(assignment.substr(equals + 1), nullptr, false);
      options[assignment.substr(0, equals)] =
          value.is_discarded() ? Json(assignment.substr(equals + 1)) : value;
    }
    return {method.name, method.name, resolve(section("", method.options), options, "--set")};
  }
  const std::string near = nearest(arguments.method, names);
  throw InputError("--method", "found \"" + arguments.method + "\"", "one of " + join(names),
                   near.empty() ? "" : "did you mean \"" + near + "\"?");
}

const StoredTensor& tensor(const StoredTensors& tensors, const std::string& file, const std::string& name,
                           const std::string& dtype) {
  const auto found = tensors.find(name);
  if (found == tensors.end())
    throw InputError({file, name, "is missing", "tensors theta, phi, momentum and groups", ""});
  if (found->second.dtype != dtype || found->second.shape.size() != 2)
    throw InputError({file, name, "is " + found->second.dtype + Json(found->second.shape).dump(),
                      dtype + " with two dimensions", ""});
  return found->second;
}

std::vector<std::vector<int>> groups_from(const StoredTensor& stored, const std::string& file, int replicas) {
  std::vector<std::int64_t> flat(as_index(stored.elements()));
  std::memcpy(flat.data(), stored.bytes.data(), stored.bytes.size());
  std::vector<std::vector<int>> groups(as_index(stored.shape[0]));
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < flat.size(); ++i) {
    if (flat[i] < 0 || flat[i] >= replicas || !seen.insert(flat[i]).second)
      throw InputError({file, "groups", "has replica " + std::to_string(flat[i]) + " at " + std::to_string(i),
                        "replicas 0 … " + std::to_string(replicas - 1) + ", each in one group at most", ""});
    groups[i / as_index(stored.shape[1])].push_back(static_cast<int>(flat[i]));
  }
  return groups;
}

void check_shape(const StoredTensor& stored, const StoredTensor& theta, const std::string& file,
                 const std::string& name) {
  if (stored.shape != theta.shape)
    throw InputError({file, name, "is " + Json(stored.shape).dump(),
                      "the shape of theta, " + Json(theta.shape).dump(), ""});
}

}  // namespace

void run_outer_step(const OuterStepArguments& arguments) {
  const MethodSpec method = method_spec(arguments);
  const std::unique_ptr<Update> update = make_update(method);
  const std::vector<Slot> rows = update->rows();
  if (std::find(rows.begin(), rows.end(), Slot::kOuterMomentum) == rows.end())
    throw InputError("--method", "\"" + method.name + "\" has no outer step", "diloco or noloco");
  StoredTensors tensors = read_safetensors(arguments.in);
  const StoredTensor& theta = tensor(tensors, arguments.in, "theta", "F32");
  const int replicas = static_cast<int>(theta.shape[0]);
  Arena arena(slots_with(rows), replicas, theta.shape[1]);
  for (const auto& [name, slot] : kTables) {
    const StoredTensor& stored = tensor(tensors, arguments.in, name, "F32");
    check_shape(stored, theta, arguments.in, name);
    std::memcpy(arena.row(slot, 0), stored.bytes.data(), stored.bytes.size());
  }
  OperationRule rule;
  rule.name = "outer";
  rule.kind = OperationKind::kGroupAverage;
  rule.payload = whole({"delta", "phi"}, parse_wire(arguments.wire));
  Operation operation;
  operation.rule = &rule;
  operation.groups = groups_from(tensor(tensors, arguments.in, "groups", "I64"), arguments.in, replicas);
  const std::unique_ptr<Backend> backend = make_loop_backend();
  ExchangeLog log;
  Replicas all{arena, *backend, log};
  if (!operation.groups.empty())
    OperationRunner(*update, all).run(operation);  // no groups would mean one of all replicas
  tensors.erase("groups");
  for (const auto& [name, slot] : kTables)
    std::memcpy(tensors[name].bytes.data(), arena.row(slot, 0), tensors[name].bytes.size());
  write_safetensors(arguments.out, tensors);
}

}  // namespace longhaul
