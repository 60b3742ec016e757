"""How a number stands in a line of a log, so that what looks like one and is none is passed over."""

NUMBER = r"[+-]?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|nan|inf)(?![\w.])"
TIME = r"\d+(?:\.\d+)?"
