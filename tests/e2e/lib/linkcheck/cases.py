"""The cases by name."""

CASES = {}


def case(function):
    """Adds a case, named after its function."""
    CASES[function.__name__.replace("_", " ")] = function
    return function
