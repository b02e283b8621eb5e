"""Words that flags may take, from the tables that own them."""

from typing import TYPE_CHECKING, Literal

from recsys.evaluation.protocols import PROTOCOLS
from recsys.studies.plans import COMPARISON_NAMES, PLANS

ALL = "all"

if TYPE_CHECKING:  # a type checker knows no Literal that is made at run time
    ProtocolName = str
    ProtocolOrAll = str
    ExperimentName = str
else:
    ProtocolName = Literal[tuple(PROTOCOLS)]
    ProtocolOrAll = Literal[(*PROTOCOLS, ALL)]
    ExperimentName = Literal[("thesis", "ties", *PLANS, *COMPARISON_NAMES)]
