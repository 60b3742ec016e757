// Where nodes of a network stand on the earth.
#pragma once

#include <map>
#include <string>

namespace longhaul {

struct Coordinates {
  double latitude = 0, longitude = 0;  // degrees, north and east positive
};

// For a map: places by the names of nodes, and what the coordinates are of (a city, a data centre). Nodes
// that are missing stand nowhere known.
struct NodePlaces {
  std::string about;
  std::map<std::string, Coordinates> of;
};

// Kilometres along the great circle, on a sphere of radius 6371 km.
double great_circle_km(const Coordinates& coordinates, const Coordinates& other);

}  // namespace longhaul
