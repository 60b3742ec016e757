"""What ranks traced: torch's profiler, execution traces, the flight recorder; and the exchanges that several ranks make of it."""
