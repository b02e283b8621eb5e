"""Every study, by the name that it has on the command line. Loads no torch."""

from recsys.studies.ablations import ABLATIONS
from recsys.studies.sweeps import SWEEPS

PLANS = ABLATIONS | SWEEPS
COMPARED = ("protocols", "cost")  # those of `comparisons`, which train nothing
