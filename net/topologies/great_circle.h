// Places on the earth, and how far they are apart.
#pragma once

namespace longhaul {

struct Coordinates {
  double latitude = 0, longitude = 0;  // degrees, north and east positive
};

// Kilometres along the great circle, on a sphere of radius 6371 km, to the millimetre: the sines of one C
// library differ from another's in the last bit, and a scenario must say the same on each.
double great_circle_km(const Coordinates& coordinates, const Coordinates& other);

}  // namespace longhaul
