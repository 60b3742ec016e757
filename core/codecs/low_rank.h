// Matrices as products of two factors.
#pragma once

#include "core/codecs/quantized.h"

namespace longhaul {

// A matrix M [m, n] as P Qᵀ, P [m, rank] orthonormal and Q = Mᵀ P, by power iteration (PowerSGD, arXiv
// 1905.13727; DiLoCoX, arXiv 2506.21263, which sends int4 factors). Each direction, a column of P or of Q, is
// a row of numbers of its own: first those of P, then those of Q. What has no fewer numbers as factors, a
// vector always, travels plain.
struct LowRank {
  static constexpr const char *kOption = "low_rank", *kKey = "rank";
  static constexpr bool kAddsUp = false, kChooses = false;

  int rank = 4;
  RowNumbers factors = Wire::kBf16;
  Wire plain = Wire::kBf16;
  int iterations = 1;                      // P = orthonormal(M Q), Q = Mᵀ P
  std::vector<MatrixShape> matrices = {};  // in the order of the columns, of which they have as many

  static Node option() {
    return section(kOption, {integer("rank").at_least(1).by_default(4).means("columns of both factors"),
                             integer("iterations").at_least(1).by_default(1).means("of the power iteration"),
                             Numbers::option("factors", "wire")})
        .means("each matrix as the product of two factors");
  }
  static LowRank from_option(const Json& given, const CodecColumns& columns) {
    return LowRank{given.at("rank"), row_from_option(given.at("factors"), columns.wire), columns.wire,
                   given.at("iterations"), columns.matrices()}
        .checked("method.codec.low_rank");
  }
  static LowRank from_json(const Json& json) {
    LowRank format;
    format.rank = codec_count(json, "rank");
    format.factors = row_from_json(json);
    if (json.contains("plain")) format.plain = from_word<Wire>(longhaul::plain(json["plain"]), "codec.plain");
    if (json.contains("iterations")) format.iterations = codec_count(json, "iterations");
    format.matrices = codec_matrices(json);
    return format.checked("codec.matrices");
  }
  Json json() const {
    Json json = {{"rank", rank}, {"iterations", iterations}};
    json.update(json_of(factors));
    json["plain"] = word_of(plain);
    json["matrices"] = json_of(matrices);
    return json;
  }
  std::string words() const {
    const std::string times = iterations == 1 ? "" : " by " + std::to_string(iterations) + " iterations";
    return "rank " + std::to_string(rank) + times + ", " + words_of(factors) + ", " + word_of(plain) +
           " where plain";
  }
  std::int64_t bytes(std::int64_t columns) const {
    check_size(matrices, columns);
    std::int64_t all = 0;
    for (const MatrixShape& matrix : matrices) all += bytes(matrix);
    return all;
  }

  std::int64_t bytes(const MatrixShape& matrix) const {
    if (is_plain(matrix)) return bytes_of(plain, matrix.rows * matrix.columns);
    return rank * (bytes_of(factors, matrix.rows) + bytes_of(factors, matrix.columns));
  }
  bool is_plain(const MatrixShape& matrix) const {
    return matrix.rows * matrix.columns <= rank * (matrix.rows + matrix.columns);
  }

 private:
  const LowRank& checked(const char* path) const {
    if (matrices.empty())
      throw InputError(path, "no matrices are known", "the shapes of the model's matrices",
                       "describe the model by its shape (workload.model), not by a number of parameters "
                       "alone");
    return *this;
  }
};

}  // namespace longhaul
