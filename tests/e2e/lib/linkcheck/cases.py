"""The cases by name."""

CASES = {}


def case(function=None, *, nightly=False):
    """Adds a case, named after its function. A slow one runs every night, or if it is named."""
    def add(function):
        function.nightly = nightly
        CASES[function.__name__.replace("_", " ")] = function
        return function
    return add(function) if function else add
