#include "methods/common/fragments.h"

#include "core/index.h"

namespace longhaul {
namespace {

// Behind what the part has; ranges that touch become one.
void add(Columns& part, const ColumnRange& range) {
  if (range.size() == 0) return;
  if (!part.empty() && part.back().end == range.begin)
    part.back().end = range.end;
  else
    part.push_back(range);
}

}  // namespace

std::vector<Columns> fragments(const PlannedModel& model, int count) {
  std::vector<Columns> parts(as_index(count));
  if (model.layers.empty()) {
    for (int part = 0; part < count; ++part)
      add(parts[as_index(part)], {part * model.parameters / count, (part + 1) * model.parameters / count});
    return parts;
  }
  add(parts.front(), {0, model.layers.front().begin});
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer)
    add(parts[layer % parts.size()], model.layers[layer]);
  add(parts.back(), {model.layers.back().end, model.parameters});
  return parts;
}

}  // namespace longhaul
