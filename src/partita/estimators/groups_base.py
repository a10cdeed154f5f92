"""What CRPMixture and AClass share beside their ensemble: groups whose number is not known, and streams of rows."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..data.telling import tell
from ..inference.runner import Runner
from ..models.mixtures.group_numbers import GroupNumbers
from ..models.mixtures.online import Online
from .mixture_base import MixtureEstimator


def warn_forgotten(estimator: Any) -> None:
    """Chains of a batch fit are not continued by a stream: say so rather than forget them silently."""
    if getattr(estimator, "_built", None) is not None:
        tell(
            f"{type(estimator).__name__}.partial_fit starts a stream anew: what fit() learnt with inference='gibbs' is "
            "forgotten. To go on from a fit, fit with inference='smc', or begin with partial_fit.",
            UserWarning,
        )


class GroupsEstimator(MixtureEstimator):
    """A mixture whose number of groups is inferred, in batch or from a stream."""

    _online: Online | None
    _numbers: list[Any]  # the fields of what `_group_numbers` gives

    @property
    def n_components_posterior_(self) -> dict[int, float]:
        """Number of groups to probability; of a classifier, of the groups of all classes together."""
        return self._group_numbers().together

    def _group_numbers(self) -> GroupNumbers:
        """A stream's are found when they are asked for."""
        check_is_fitted(self, "schema_")
        if "_numbers" not in vars(self):
            assert self._online is not None
            self._keep_numbers(self._online.group_numbers(self._ensemble))
        return GroupNumbers(*self._numbers)

    def _keep_numbers(self, found: GroupNumbers) -> None:
        self._numbers = [found.together, found.of_class]

    def _part_runner(self) -> Runner:
        """How a part of a stream is learnt: a checkpoint is of a whole fit; a stream is saved by `save`."""
        if self.checkpoint is not None and not self.__dict__.get("_checkpoint_told"):
            self._checkpoint_told = True
            tell(
                f"{type(self).__name__}.partial_fit writes no checkpoint: checkpoint={os.fspath(self.checkpoint)!r} is "
                "of use to fit only. To keep a stream, call partita.save(model, path) between its parts.",
                UserWarning,
            )
        return replace(self._runner(), checkpoint=None)

    @property
    def log_evidence_(self) -> float:
        """Log probability of all that a plain filter has seen, in the units of the table, estimated when asked for."""
        online = self.__dict__.get("_online")
        evidence = None if online is None else online.log_evidence()
        if evidence is None:
            raise AttributeError("log_evidence_ is there after inference='smc' or partial_fit with n_sweeps=0 only.")
        return evidence
