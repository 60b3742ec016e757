"""What trackers and tables hold: values by step, and times where a format has them."""
