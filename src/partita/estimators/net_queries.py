"""Questions to a posterior over networks: every network answers, and what it thinks of the evidence is its weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..data.schema import Schema
from ..models.discrete_law import DiscreteLaw
from .net_question import Question


class AveragedQueries:
    """`query` from the drawn networks of a structure learner."""

    schema_: Schema
    _networks: Any

    def query(
        self, variables: Any, evidence: Mapping[Any, Any] | None = None, do: Mapping[Any, Any] | None = None
    ) -> DiscreteLaw:
        """The joint law of `variables` given `evidence`, averaged over networks drawn from the posterior.

        `do` sets columns from outside: in every network the edges into them are cut. Columns are named, or given by
        position; evidence and do are dicts from columns to levels.
        """
        check_is_fitted(self, "_posterior")
        question = Question.read(self.schema_, type(self).__name__, variables, evidence, do)
        return question.answer(self._networks().joint(question.asked, question.row, question.forced))
