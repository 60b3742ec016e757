// JSON with and without comments: what is read can be copied, written and read again.
#include "core/base/json.h"
#include "tests/fuzz/fuzz.h"

void longhaul::read_input(const std::string& input) {
  for (const JsonComments comments : {JsonComments::kNone, JsonComments::kAllowed})
    allow_errors([&] {
      const Json value = parse_json(input, comments), copy = value;
      if (parse_json(copy.dump(2)).dump() != value.dump()) abort();
      // Each scalar as each type that the readers ask for.
      for (const auto& item : value.items()) {
        const auto as = [&](auto type) { allow_errors([&] { item.value().get<decltype(type)>(); }); };
        if (item.value().is_structured()) continue;
        as(int{}), as(std::int64_t{}), as(std::uint64_t{}), as(std::size_t{}), as(double{});
      }
    });
}
