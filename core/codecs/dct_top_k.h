// The largest coefficients of a cosine transform of each tile.
#pragma once

#include <algorithm>

#include "core/codecs/numbers.h"

namespace longhaul {

// Side by side tiles [height, width] of a matrix that they fill: `down` · `across` of them.
struct TileGrid {
  std::int64_t first = 0;  // column of the matrix's first element
  std::int64_t height = 0, width = 0, down = 0, across = 0;

  std::int64_t count() const { return down * across; }
  std::int64_t area() const { return height * width; }
};

// The `kept` largest coefficients of an orthonormal cosine transform (DCT-II) over both dimensions of each
// tile of a matrix: values, then places in the tile, as top-k of a chunk (DeMo, arXiv 2411.19870, which keeps
// 32 of 64 × 64). As in its authors' code a side of a tile is the largest divisor of the matrix's, at most
// `tile`, so that no tile is cut, and a vector has tiles [1, s]; a large prime has tiles of side 1. Without
// matrices, where no model is known, the columns are one vector whose tiles lie behind one another,
// row-major: of tile² columns while there are so many, then of whole rows, then what is left as one row.
struct DctTopK {
  static constexpr const char *kOption = "dct_top_k", *kKey = "tile";
  static constexpr bool kAddsUp = false, kChooses = true;

  int tile = 64;
  int kept = 32;
  Numbers values = Wire::kBf16;            // those of a tile together
  std::vector<MatrixShape> matrices = {};  // in the order of the columns, of which they have as many

  static Node option() {
    return section(
               kOption,
               {integer("tile").at_least(1).by_default(64).means("longest side of a tile"),
                integer("kept").at_least(1).by_default(32).means("how many coefficients of a tile travel"),
                Numbers::option("numbers", "wire")})
        .means("the largest coefficients of a cosine transform of each tile of a matrix");
  }
  static DctTopK from_option(const Json& given, const CodecColumns& columns) {
    return {given.at("tile"), given.at("kept"), Numbers::from_option(given.at("numbers"), columns.wire),
            columns.matrices()};
  }
  static DctTopK from_json(const Json& json) {
    const DctTopK format{codec_count(json, "tile"), codec_count(json, "top_k"), Numbers::from_json(json),
                         codec_matrices(json)};
    if (format.tile > 4096) refuse_codec("tile", json["tile"], "at most 4096");  // its square is a place
    if (format.kept > format.tile * format.tile)
      refuse_codec("top_k", json["top_k"], "at most all of a tile, its side squared");
    return format;
  }
  Json json() const {
    Json json = {{"top_k", kept}, {"tile", tile}};
    values.add_to(json);
    if (!matrices.empty()) json["matrices"] = json_of(matrices);
    return json;
  }
  std::string words() const {
    const std::string side = std::to_string(tile);
    return "DCT top-k " + std::to_string(kept) + " of tiles " + side + " × " + side + ", " + values.words();
  }
  std::int64_t bytes(std::int64_t columns) const {
    std::int64_t bytes = 0;
    for (const TileGrid& grid : grids(columns))
      bytes += grid.count() * largest_bytes(values, kept, grid.area(), grid.area());
    return bytes;
  }

  // In the order of the message.
  std::vector<TileGrid> grids(std::int64_t columns) const {
    std::vector<TileGrid> grids;
    std::int64_t first = 0;
    const auto add = [&](std::int64_t height, std::int64_t width, std::int64_t down, std::int64_t across) {
      if (down * across == 0) return;
      grids.push_back({first, height, width, down, across});
      first += height * width * down * across;
    };
    if (!matrices.empty()) {
      check_size(matrices, columns);
      for (const MatrixShape& matrix : matrices) {
        const std::int64_t height = largest_divisor(matrix.rows), width = largest_divisor(matrix.columns);
        add(height, width, matrix.rows / height, matrix.columns / width);
      }
      return grids;
    }
    const std::int64_t side = tile, rows = columns / side;
    add(side, side, rows / side, 1);
    add(rows % side, side, rows % side > 0, 1);
    add(1, columns % side, columns % side > 0, 1);
    return grids;
  }

 private:
  std::int64_t largest_divisor(std::int64_t number) const {
    std::int64_t divisor = std::min<std::int64_t>(number, tile);
    while (number % divisor != 0) --divisor;
    return divisor;
  }
};

}  // namespace longhaul
