#include "net/topologies/great_circle.h"

#include <algorithm>
#include <cmath>

namespace longhaul {

double great_circle_km(const Coordinates& coordinates, const Coordinates& other) {
  constexpr double kRadians = 3.14159265358979323846 / 180, kEarthRadiusKm = 6371;
  const double across = std::sin((other.latitude - coordinates.latitude) * kRadians / 2),
               around = std::sin((other.longitude - coordinates.longitude) * kRadians / 2);
  const double haversine = across * across + std::cos(coordinates.latitude * kRadians) *
                                                 std::cos(other.latitude * kRadians) * around * around;
  const double km = 2 * kEarthRadiusKm * std::asin(std::sqrt(std::min(1., haversine)));
  return std::round(km * 1e6) / 1e6;
}

}  // namespace longhaul
