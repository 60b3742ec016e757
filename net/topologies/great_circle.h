// Places on the earth, and how far they are apart.
#pragma once

namespace longhaul {

struct Coordinates {
  double latitude = 0, longitude = 0;  // degrees, north and east positive
};

// Kilometres along the great circle, on a sphere of radius 6371 km.
double great_circle_km(const Coordinates& coordinates, const Coordinates& other);

}  // namespace longhaul
