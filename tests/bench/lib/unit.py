"""The systemd unit of the package, of which the environment is that of measured servers."""

from pathlib import Path

UNIT = Path(__file__).parents[3] / "deploy/systemd/waypost.service"


def unit_environment():
    """Returns the variables that the systemd unit sets."""
    lines = [line.partition("=") for line in UNIT.read_text().splitlines()]
    settings = [value for key, _, value in lines if key == "Environment"]
    return dict(setting.split("=", 1) for setting in " ".join(settings).split())
