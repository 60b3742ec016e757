"""What programs print: step times in lines of a log, and text of benchmarks."""
