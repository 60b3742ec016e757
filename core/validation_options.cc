#include "core/validation_options.h"

#include "core/metrics.h"

namespace longhaul {
namespace {

Node figure_options() {
  return section(
      "", {text("what").required().means("what was measured, in words"),
           number("value").above(0).required().means("the published figure, in the unit of the metric"),
           number("low").above(0).means("smallest of repeated measurements, where they are published"),
           number("high").above(0).means("largest of repeated measurements"),
           text("unit").by_default("s").means("of the metric, for people"),
           choice("metric", metric_paths()).means("the number of a case record that predicts the figure"),
           choice("ratio", metric_paths())
               .means("instead of metric: that number of the method `of` over that of `to`"),
           text("of").required().means("label of a method"), text("to").means("label of a method"),
           table_of("where", anything(""))
               .means("{swept key: value}: what the source says of this figure; only these cases predict it"),
           table_of("assumed", anything(""))
               .means("{swept key: value}: what the source leaves open and the prediction assumes; the other "
                      "points of the sweep are shown as other assumptions"),
           text("why").means("a sentence that is shown if the prediction is off by more than 15 %")});
}

}  // namespace

Node validation_options() {
  return section(
             "validation",
             {choice("kind", {"measurement", "model"})
                  .by_default("measurement")
                  .means("measurement: taken on a real network; model: computed by the publication"),
              text("title").required().means("who measured what on what, in a few words"),
              text("source").required().means("the publication, with its address"),
              text("licence").required().means("of the publication, or what is known of it"),
              text("date").required().means("of the measurement, or of the publication"),
              text("read").required().means(
                  "how the figures were read: which files or tables, or from whom if not from the source"),
              text("setup").required().means("what the source says of hosts, network and traffic"),
              list_of("assumptions", text(""))
                  .means("what the source leaves open, and what the scenario takes instead"),
              list_of("figures", figure_options()).not_empty().required().means("the published figures")})
      .means("published figures to hold this scenario's predictions against: longhaul validate");
}

}  // namespace longhaul
