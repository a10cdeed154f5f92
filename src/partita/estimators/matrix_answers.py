"""What a fitted matrix model answers: cells, intervals, probabilities, lists, and what to ask next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.containers import wide_frame
from ..data.entries import is_frame, nth_column, read_triplets
from ..data.entry_checks import check_trials, level_codes
from ..data.ids import Ids, as_labels, distinct, listed, shown
from ..data.side_features import features_of
from ..data.telling import tell
from ..data.validate import DataWarning
from ..inference.streams import root_sequence
from ..models.matrices import predict as svd_predict
from ..models.matrices.acquire import STRATEGIES, acquire
from ..models.matrices.entries import Entries
from ..models.matrices.laws import Laws, laws_at, laws_of_rows, parts, row_parts
from ..models.matrices.missingness import Side
from ..models.matrices.posterior import Newcomers, Posterior
from ..models.matrices.scores import log_densities

MOST_CELLS = 100_000_000  # of a completed matrix: 800 MB


class MatrixAnswers:
    """Answers of a model that has learnt a `_posterior` over the cells of `row_ids_` by `column_ids_`."""

    _posterior: Posterior
    _rows: Ids
    _columns: Ids
    _row_side: Side
    _column_side: Side
    _entries: Entries

    def predict(
        self, rows: Any, columns: Any = None, return_std: bool = False, *, noise: bool = False,
        statistic: str = "mean", row_features: Any = None, column_features: Any = None,
    ) -> Any:  # fmt: skip
        """Expected values of cells: reals, mean levels, or success probabilities.

        Parameters
        ----------
        rows, columns : ids, one of each per cell; a single id goes with all of the others. Or as `rows` alone pairs, or
            a frame whose first two columns hold the ids (values after them, as in `score`, are not looked at).
        return_std : also the standard deviation of the expected value (how unsure the model is of it).
        noise : with `return_std`, the standard deviation of a new observation instead: noise included.
        statistic : "mean" or "median" of a new observation (of levels, a level).
        row_features, column_features : of ids that training did not see, by id (a frame's index, a dict) or one line
            per cell. Unseen ids are answered from their prior, which without features is wide.
        """
        check_is_fitted(self, "row_ids_")
        if statistic not in ("mean", "median"):
            raise ValueError(f"predict: statistic must be 'mean' or 'median', got {statistic!r}.")
        link, levels = self._posterior.link, self._posterior.levels

        def answer(laws: Laws) -> tuple[np.ndarray, ...]:
            mean, std = svd_predict.expectation(laws, link, levels, noise)
            return (mean if statistic == "mean" else svd_predict.median(laws, link, levels), std)

        value, std = self._over_cells(answer, rows, columns, row_features, column_features)
        return (value, std) if return_std else value

    def predict_interval(
        self, rows: Any, columns: Any = None, coverage: float = 0.9, *, noise: bool = True, trials: Any = 1,
        row_features: Any = None, column_features: Any = None,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Low and high ends of intervals that hold a new observation with this probability, equal tails.

        Ends are exact quantiles of the mixture of the draws' laws; of levels they are levels, so they hold at least
        this much.

        Parameters
        ----------
        rows, columns, row_features, column_features : as in `predict`.
        coverage : probability inside, between 0 and 1.
        noise : False for the expected value in place of a new observation.
        trials : of a binomial link, the number of trials whose successes are to be held, one or one per cell.
        """
        check_is_fitted(self, "row_ids_")
        if not isinstance(coverage, int | float | np.number) or not 0 < coverage < 1:
            raise ValueError(f"predict_interval: coverage must lie between 0 and 1, got {coverage!r}. Pass 0.9, say.")
        link, levels = self._posterior.link, self._posterior.levels
        counts = _numbers_of_trials(trials, link, len(asked_pairs(rows, columns)[0]))

        def answer(laws: Laws, where: slice) -> tuple[np.ndarray, ...]:
            m = laws.f.shape[1]
            asked = np.broadcast_to(counts if len(counts) == 1 else counts[where], m)
            tails = ((1 - coverage) / 2, (1 + coverage) / 2)
            return tuple(svd_predict.quantile(p, laws, link, levels, noise, asked) for p in tails)

        low, high = self._over_cells(answer, rows, columns, row_features, column_features, placed=True)
        return low, high

    def predict_proba(
        self, rows: Any, columns: Any = None, *, row_features: Any = None, column_features: Any = None
    ) -> np.ndarray:
        """Of levels, (m, L) probabilities in the order of `levels_`; of a binomial link, (m,) of success."""
        check_is_fitted(self, "row_ids_")
        link = self._posterior.link
        if link == "gaussian":
            raise ValueError(
                "predict_proba: link='gaussian' has densities, no probabilities. Use predict_interval, or fit with "
                "link='ordinal' or link='binomial'."
            )
        if link == "binomial":
            return self.predict(rows, columns, row_features=row_features, column_features=column_features)
        answers = self._over_cells(
            lambda laws: (svd_predict.level_probabilities(laws),), rows, columns, row_features, column_features
        )
        return answers[0]

    def score_samples(self, rows: Any, columns: Any = None, values: Any = None, trials: Any = None) -> np.ndarray:
        """Log posterior predictive density of observed cells (m,): of a real, a level, or successes of trials."""
        check_is_fitted(self, "row_ids_")
        observed = read_triplets(rows, columns, values, trials, who="score_samples", dropped=False)
        link, levels = self._posterior.link, self._posterior.levels
        observed = check_trials(observed, dropped=False) if link == "binomial" else observed
        numbers = level_codes(observed, levels) if link == "ordinal" else observed.values

        def answer(laws: Laws, where: slice) -> tuple[np.ndarray, ...]:
            counts = None if observed.trials is None else observed.trials[where]
            return (log_densities(laws, link, numbers[where], counts),)

        labels = observed.rows.labels[observed.row], observed.columns.labels[observed.column]
        return self._over_cells(answer, *labels, None, None, placed=True)[0]

    def score(self, rows: Any, columns: Any = None, values: Any = None, trials: Any = None) -> float:
        """Mean log posterior predictive density of observed cells."""
        each = self.score_samples(rows, columns, values, trials)
        if not len(each):
            raise ValueError("score: there is no cell to score; the mean of nothing is no number. Give at least one.")
        return float(np.mean(each))

    def complete(self, *, keep_observed: bool = True, return_std: bool = False) -> Any:
        """The whole matrix, rows by columns in the order of `row_ids_` and `column_ids_`.

        Observed cells are kept as they were (of a binomial link, as their frequencies) unless `keep_observed=False`;
        others are expected values. A frame where the model was fitted to one (an array where that was a polars frame
        that lists entries: its rows have no names). With `return_std`, also the standard deviations of the expected
        values as an array (0 where the observed value was kept).
        """
        check_is_fitted(self, "row_ids_")
        n, p = len(self._rows), len(self._columns)
        if n * p > MOST_CELLS:
            raise ValueError(
                f"complete: {n:,} x {p:,} cells are more than {MOST_CELLS:,}. Ask for those you want by predict."
            )
        mean, std = np.empty((n, p)), np.empty((n, p))
        link, levels = self._posterior.link, self._posterior.levels
        for some in row_parts(self._posterior):
            said = svd_predict.expectation(laws_of_rows(self._posterior, some), link, levels, False)
            mean[some], std[some] = (part.reshape(-1, p) for part in said)
        if keep_observed:
            entries = self._entries
            kept = entries.values if entries.trials is None else entries.values / entries.trials
            mean[entries.row, entries.column] = levels[kept.astype(int)] if link == "ordinal" else kept
            std[entries.row, entries.column] = 0.0
        filled = wide_frame(self._container, mean, self.row_ids_, self.column_ids_)  # type: ignore[attr-defined]
        return (filled, std) if return_std else filled

    def recommend(self, row: Any, n: int = 10, *, include_observed: bool = False, return_score: bool = False) -> Any:
        """Ids of the n columns with the highest expected values in a row, the best first.

        Columns in which the row has a cell are left out unless `include_observed`; with `return_score`, also the
        expected values.
        """
        check_is_fitted(self, "row_ids_")
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"recommend: n must be a whole number of at least 1, got {n!r}.")
        if isinstance(row, list | set | dict) or (not isinstance(row, tuple) and np.ndim(row)):
            raise ValueError(f"recommend: row must be one id, got {type(row).__name__}. Ask row by row.")
        label = np.empty(1, dtype=object)
        label[0] = row
        value = self.predict(label, self.column_ids_)  # type: ignore[attr-defined]
        place = int(self._rows.codes(label)[0])
        free = np.ones(len(value), bool)
        if place >= 0 and not include_observed:
            first, last = self._entries.first_in_row[place : place + 2]
            free[self._entries.column[first:last]] = False
        order = np.argsort(np.where(free, -value, np.inf), kind="stable")[: min(int(n), int(free.sum()))]
        ids = self.column_ids_[order]  # type: ignore[attr-defined]
        return (ids, value[order]) if return_score else ids

    def acquire(self, n: int, strategy: str = "variance", *, random_state: Any = None) -> list[tuple[Any, Any]]:
        """Which n cells to observe next, the most wanted first: pairs (row id, column id).

        Parameters
        ----------
        n : how many; fewer come back where fewer cells are not observed.
        strategy : "variance", the least sure cells; "line", alternately the row and the column with the most variance
            left, asked whole (for sensors and experiments, where a whole line can be asked); "decorrelated", greedily
            what takes most variance from all cells together; "random".
        random_state : of "random"; by default it follows from the model's seed and its number of entries.
        """
        check_is_fitted(self, "row_ids_")
        if strategy not in STRATEGIES:
            raise ValueError(f"acquire: strategy must be one of {', '.join(map(repr, STRATEGIES))}, got {strategy!r}.")
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"acquire: n must be a whole number of at least 1, got {n!r}.")
        if len(self._rows) * len(self._columns) > MOST_CELLS:
            size = f"{len(self._rows):,} x {len(self._columns):,}"
            raise ValueError(f"acquire looks at every cell, and {size} are too many.")
        seed = np.random.SeedSequence([*self._entropy, len(self._entries)])  # type: ignore[attr-defined]
        rng = np.random.default_rng(seed if random_state is None else root_sequence(random_state))
        row, column = acquire(self._posterior, self._entries, int(n), strategy, rng)
        return list(zip(listed(self.row_ids_[row]), listed(self.column_ids_[column])))  # type: ignore[attr-defined]

    # ---- cells by their ids ----

    def _over_cells(
        self, answer: Callable[..., tuple[np.ndarray, ...]], rows: Any, columns: Any, row_features: Any,
        column_features: Any, placed: bool = False,
    ) -> tuple[np.ndarray, ...]:  # fmt: skip
        """The answer for cells, in parts. With `placed` the answer is told which of the cells a part holds."""
        check_is_fitted(self, "row_ids_")
        labels = asked_pairs(rows, columns)
        row, new_rows = self._places("row", labels[0], row_features)
        column, new_columns = self._places("column", labels[1], column_features)
        found: list[tuple[np.ndarray, ...]] = []
        strangers = new_rows is not None or new_columns is not None
        for part in parts(self._posterior, len(row), strangers) if len(row) else [slice(0, 0)]:
            laws = laws_at(self._posterior, row[part], column[part], new_rows, new_columns)
            found.append(answer(laws, part) if placed else answer(laws))
        return tuple(np.concatenate(pieces) for pieces in zip(*found))

    def _places(self, side: str, labels: np.ndarray, features: Any) -> tuple[np.ndarray, Newcomers | None]:
        """Places of ids; those not seen in training come after the others, known by their prior."""
        ids, known = (self._rows, self._row_side) if side == "row" else (self._columns, self._column_side)
        place = ids.codes(labels)
        strange = np.flatnonzero(place < 0)
        if not len(strange):
            return place, None
        if features is None:
            new, asked = (len(distinct(some, side)) for some in (labels[strange], labels))
            tell(
                f"{new} of {asked} {side} ids were not seen in training (for example "
                f"{shown(labels[strange[0]])}) and are answered from their prior alone. Pass {side}_features=, or tell "
                "what is known of them by fold_in or partial_fit.",
                DataWarning,
            )  # fmt: skip
        given = features_of(features, labels, len(known.centre), ids, f"{side}_features")[strange]
        place[strange] = len(ids) + np.arange(len(strange))
        return place, self._newcomers(side, given, [np.zeros(0, int)] * len(strange))

    def _newcomers(self, side: str, given: np.ndarray, partners: list[np.ndarray]) -> Newcomers:
        """Prior means of new rows or columns in every draw."""
        known = self._row_side if side == "row" else self._column_side
        matrices = known.matrices(given if known.given else None, partners)
        means = []
        for draw in self._posterior.draws:
            coefficients = draw.row_coefficients if side == "row" else draw.column_coefficients
            means.append(known.prior_means(matrices, coefficients, len(partners), draw.U.shape[1] + 1))
        return Newcomers(tuple(means))


def _numbers_of_trials(trials: Any, link: str, n_cells: int) -> np.ndarray:
    """(1,) or (n_cells,) numbers of trials of which an interval is to hold the successes."""
    who = "predict_interval: trials"
    try:
        counts = np.atleast_1d(np.asarray(trials, dtype=float))
    except (TypeError, ValueError):
        raise ValueError(f"{who} must be whole numbers of at least 1, got {trials!r}.") from None
    if not np.isfinite(counts).all() or (counts < 1).any() or (counts != np.rint(counts)).any():
        raise ValueError(f"{who} must be whole numbers of at least 1, got {trials!r}.")
    if link != "binomial" and (counts != 1).any():
        raise ValueError(f"{who} was passed, but link={link!r} has none. Leave it out.")
    if counts.shape not in ((1,), (n_cells,)):
        raise ValueError(f"{who} has shape {counts.shape}. Give 1 or {n_cells}, one per cell.")
    return counts


def asked_pairs(rows: Any, columns: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels of rows and of columns, one of each per cell."""
    if columns is None:
        rows, columns = _split_pairs(rows)
    row, column = as_labels(rows, "row"), as_labels(columns, "column")
    if len(row) == 1 and len(column) != 1:
        row = np.repeat(row, len(column))
    elif len(column) == 1 and len(row) != 1:
        column = np.repeat(column, len(row))
    if len(row) != len(column):
        raise ValueError(f"rows has {len(row)} ids and columns {len(column)}. Give one of each per cell, or one alone.")
    return row, column


def _split_pairs(pairs: Any) -> tuple[Any, Any]:
    if is_frame(pairs):
        if not 2 <= len(pairs.columns) <= 4:
            raise ValueError(
                f"columns is missing, and the frame has {len(pairs.columns)} columns. Give one that lists cells: row "
                "ids, column ids (and values, which are not looked at), or pass ids as predict(rows, columns)."
            )
        return nth_column(pairs, 0), nth_column(pairs, 1)
    if isinstance(pairs, list) and pairs and all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    raise ValueError(
        "columns is missing. A cell has a row and a column: predict(rows, columns), or pairs as acquire gives them."
    )
