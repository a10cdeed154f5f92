"""What a variational fit says of rows: Student's t gates, experts with every doubt integrated.

One rule with and without missing cells. Unlike [1], section 3.4.3, which integrates over parameters for complete rows
only and else puts means in their place, so that an answer jumps when one cell goes missing. The gate of component h is
the predictive of its normal-inverse-Wishart, Student's t, closed under leaving cells out; given the observed cells the
latent label has mean w'<features> and variance 1 + w'Cov(features)w + tr(Cov(w) <features features'>), by moments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, log_ndtr

from ...kernels.contract import Rows
from .answer import Answer, GateLaw, Laws
from .forms import GateForm, behind, in_front
from .rows import Block, View, make_blocks
from .state import Experts, GatedState
from .truncated_normal import cone_probabilities, independent_variances, strongly_tied, tied_cone_probabilities

LOG_SEEN = np.log(1e-9)  # share of a component, over the largest, below which its classes change no answer
LOGIT = 1.2  # of differences of latents, for those: a logistic function near the probit's
LOG_MATTERS = np.log(1e-3)  # share of a component, over the largest, from which its classes are taken exactly
TIED_ROWS = 2000  # at once: some tens of megabytes
LEAST_DEGREES = 0.5  # of the variance of Student's t, which has none at two degrees of freedom or fewer


@dataclass(eq=False)
class GatedModel:
    """A fit as it answers: parameters of the posterior, without anything of the training rows."""

    kind: ClassVar[str] = "posterior"
    view: View
    n_classes: int
    weight: np.ndarray  # (H,) <pi>
    gates: Any  # NormalInverseWishart, batch (H,)
    cells: list[np.ndarray]
    experts: Experts | None
    owner: np.ndarray | None

    @classmethod
    def of(cls, view: View, n_classes: int, state: GatedState) -> GatedModel:
        weight = state.sticks.expected_weights()[state.sticks.places(state.n_components)]
        return cls(view, n_classes, weight / weight.sum(), state.gates, state.cells, state.experts, state.owner)

    @property
    def n_components(self) -> int:
        return len(self.weight)

    def gate_form(self) -> tuple[GateForm, np.ndarray]:
        """Student's t gates as quadratic forms with precision `nu scale^-1 kappa / (kappa + 1)`, v = nu - P + 1."""
        gates, p = self.gates, self.view.width
        degrees = gates.nu + 1.0 - p
        factor = gates.kappa * degrees / (1.0 + gates.kappa)
        precision = factor[:, None, None] * np.linalg.inv(gates.scale)
        w = V = None
        if self.experts is not None:
            w, V = self.experts.mean[:, :, :p], self.experts.covariance[:, :p, :p]
        return GateForm.make(precision, w, V), degrees

    def gate_law(self) -> GateLaw:
        gates = self.gates
        degrees = gates.nu + 1.0 - self.view.width
        wide = (gates.kappa + 1.0) / (gates.kappa * degrees)
        return GateLaw(gates.mean, wide[:, None, None] * gates.scale, degrees)

    def gate(self, h: int) -> Any:
        """The gate of component h, which can draw missing cells."""
        gates = self.gates
        return type(gates)(gates.mean[h], gates.kappa[h], gates.nu[h], gates.scale[h])

    def answer(self, rows: Rows) -> Answer:
        return answer(self, rows)

    def laws(self, rows: Rows) -> Laws:
        return laws(self, rows)

    def blocks(self, rows: Rows) -> list[Block]:
        none = np.full(len(rows), -1)
        return make_blocks(self.view, rows, none, np.ones(len(rows)), 2 * self.n_components, False)


@dataclass(eq=False)
class Seen:
    """A block of rows in every component, given their observed cells.

    distance (b, H) and log_det (b, H) of the Student's t of the observed cells (without its normaliser); x (b, P, Hpad)
    expected cells; cw (b, K, P, Hpad), wcw (b, K, K, H) and trace (b, H) as of `Conditioned`; degrees (H,)
    """

    distance: np.ndarray
    log_det: np.ndarray
    x: np.ndarray
    cw: np.ndarray
    wcw: np.ndarray
    trace: np.ndarray
    degrees: np.ndarray

    @property
    def normal(self) -> bool:
        """Whether the gates are normal: Student's t of infinitely many degrees of freedom."""
        return bool(np.isinf(self.degrees).all())

    def stretch(self, n_seen: np.ndarray) -> np.ndarray:
        """(b, H): squared scale of the missing cells given the observed ones, over that of the form."""
        if self.normal:
            return np.ones_like(self.distance)
        return (self.degrees + self.distance) / (self.degrees + n_seen[:, None])

    def widening(self, n_seen: np.ndarray) -> np.ndarray:
        """(b, H): covariance of the missing cells given the observed ones, over that of the form."""
        if self.normal:
            return np.ones_like(self.distance)
        return (self.degrees + self.distance) / np.maximum(self.degrees + n_seen[:, None] - 2.0, LEAST_DEGREES)


def look(model: GatedModel, block: Block, form: GateForm, degrees: np.ndarray) -> Seen:
    """Condition the rows of a block; the form is centred at the gates' means."""
    n = model.n_components
    pull = np.einsum("pqh,qh->ph", form.Q, behind(model.gates.mean, form.width))
    cut = form.condition(block.patterns, block.x, pull[None])
    own = np.einsum("hp,ph->h", model.gates.mean, pull[:, :n])
    distance = np.maximum(own - 2.0 * cut.quad[:, :n], 0.0)
    log_det = form.logdet[:n] - cut.logdet[:, :n]  # of the precision of the observed cells
    return Seen(distance, log_det, cut.xhat, cut.cw, cut.wcw[..., :n], cut.trace[:, :n], degrees)


def log_student(seen: Seen, n_seen: np.ndarray) -> np.ndarray:
    """(b, H) log density of the observed cells."""
    k, v = n_seen[:, None], seen.degrees
    if seen.normal:
        return 0.5 * (seen.log_det - seen.distance - k * np.log(2 * np.pi))
    constant = gammaln(0.5 * (v + k)) - gammaln(0.5 * v) - 0.5 * k * np.log(v * np.pi)
    return constant + 0.5 * seen.log_det - 0.5 * (v + k) * np.log1p(seen.distance / v)


def answer(model: GatedModel, rows: Rows) -> Answer:
    """The answer for all rows of a lens."""
    n, p = model.n_components, model.view.width
    out = Answer(np.empty((len(rows), n)), np.empty((len(rows), n, model.n_classes)))
    form, degrees = model.gate_form() if p else (None, np.zeros(n))
    for block in model.blocks(rows):
        n_seen = p - block.missing
        log_gate = np.log(model.weight) + beside(model, block)
        seen = None
        if form is not None:
            seen = look(model, block, form, degrees)
            log_gate += log_student(seen, n_seen)
        out.log_gate[block.index] = log_gate
        out.log_class[block.index] = log_class(model, block, seen, n_seen, log_gate)
    return out


def laws(model: GatedModel, rows: Rows) -> Laws:
    """Locations and scales of every Gaussian cell (of observed ones: their value, 0)."""
    n, p, m = model.n_components, model.view.width, len(rows)
    out = Laws(answer(model, rows).shares(), np.empty((m, n, p)), np.zeros((m, n, p)), np.empty((m, n)))
    if not p:
        return out
    form, degrees = model.gate_form()
    precision = in_front(form.Q, n)
    for block in model.blocks(rows):
        seen = look(model, block, form, degrees)
        out.location[block.index] = np.moveaxis(seen.x[:, :, :n], 2, 1)
        n_seen = p - block.missing
        out.degrees[block.index] = degrees + n_seen[:, None]
        wide = seen.stretch(n_seen)
        patterns = block.patterns
        for g in range(len(patterns)):
            cells = patterns.cells[patterns.first[g] : patterns.first[g + 1]]
            if not len(cells):
                continue
            those = slice(patterns.first_row[g], patterns.first_row[g + 1])
            own = np.diagonal(np.linalg.inv(precision[:, cells[:, None], cells]), axis1=1, axis2=2)
            scale = np.sqrt(wide[those][:, :, None] * own)
            out.scale[block.index[those][:, None, None], np.arange(n)[:, None], cells] = scale
    return out


def beside(model: GatedModel, block: Block) -> np.ndarray:
    """(b, H) predictive log probability of the observed cells beside the Gaussian block."""
    out = np.zeros((len(block), model.n_components))
    for column, posterior, cells in zip(model.view.cells, model.cells, block.levels, strict=True):
        out += column.log_predictive(posterior, cells)
    return out


def log_class(
    model: GatedModel, block: Block, seen: Seen | None, n_seen: np.ndarray, log_gate: np.ndarray | None = None
) -> np.ndarray:
    """(b, H, C) log probabilities of the classes in every component; `log_gate` (b, H) tells which matter."""
    if model.experts is None:
        assert model.owner is not None
        with np.errstate(divide="ignore"):
            own = np.log((model.owner[:, None] == np.arange(model.n_classes)).astype(float))
        return np.repeat(own[None], len(block), axis=0)
    mean, covariance, _ = latent_moments(model, block, seen, n_seen)
    return class_probabilities(mean, covariance, log_gate)


def class_probabilities(
    mean: np.ndarray, covariance: np.ndarray, log_gate: np.ndarray | None = None, tied: bool = True
) -> np.ndarray:
    """Log probabilities (..., C) of the classes from the moments of one latent (two classes) or of one each.

    `log_gate` (n, H) says which of several components matter to a row: in others the probabilities of three classes and
    more are rough ones. Latents of more than three classes that share the doubt of missing cells are taken as
    independent with matched variances, but, if `tied`, where a component matters much: there as they are.
    """
    if mean.shape[-1] == 1:
        z = mean[..., 0] / np.sqrt(covariance[..., 0, 0])
        return np.stack([log_ndtr(-z), log_ndtr(z)], axis=-1)
    variance = independent_variances(covariance)
    if log_gate is None:
        return cone_probabilities(mean, variance)
    out = LOGIT * mean / np.sqrt(variance.mean(axis=-1, keepdims=True))
    out -= np.logaddexp.reduce(out, axis=-1, keepdims=True)
    seen = log_gate > log_gate.max(axis=1, keepdims=True) + LOG_SEEN
    out[seen] = cone_probabilities(mean[seen], variance[seen])
    if tied and mean.shape[-1] > 3:
        matters = log_gate > log_gate.max(axis=1, keepdims=True) + LOG_MATTERS
        row, component = np.nonzero(matters & strongly_tied(covariance))
        for part in range(0, len(row), TIED_ROWS):
            those = row[part : part + TIED_ROWS], component[part : part + TIED_ROWS]
            out[those] = tied_cone_probabilities(mean[those], covariance[those])
    return out


def latent_moments(
    model: GatedModel, block: Block, seen: Seen | None, n_seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean (b, H, K) and covariance (b, H, K, K) of the latent labels given the observed cells; and the part of the
    variance that is doubt about w at the expected features (b, H)."""
    assert model.experts is not None
    n, experts = model.n_components, model.experts
    k = experts.mean.shape[1]
    mean = np.empty((len(block), n, k))
    at_mean = np.empty((len(block), n))
    spread = np.zeros((len(block), n, k, k))  # w'Cov(features)w
    for h, features in enumerate(looks_of(model, block, None if seen is None else in_front(seen.x, n))):
        mean[:, h] = features @ experts.mean[h].T
        at_mean[:, h] = ((features @ experts.covariance[h]) * features).sum(axis=1)
    doubt = at_mean.copy()  # becomes tr(Cov(w) <features features'>)
    if seen is not None:
        wide = seen.widening(n_seen)
        doubt += wide * seen.trace
        spread += np.moveaxis(wide[:, None, None] * seen.wcw, 3, 1)
    _add_guessed(model, block, doubt, spread)
    return mean, spread + (1.0 + doubt)[:, :, None, None] * np.eye(k), at_mean


def looks_of(model: GatedModel, block: Block, x: np.ndarray | None) -> Iterator[np.ndarray]:
    """What the expert of each component sees of the rows, (b, F): Gaussian cells x (H, b, P), then the features behind
    them, missing cells at what the component expects."""
    spans = list(model.view.spans())
    hidden = [np.flatnonzero(cells < 0) for cells in block.levels]
    for h in range(model.n_components):
        features = block.features if x is None else np.concatenate([x[h], block.features], axis=1)
        for j, (column, span) in enumerate(spans):
            if len(hidden[j]):
                features = features.copy() if x is None else features
                at = slice(model.view.width + span.start, model.view.width + span.stop)
                features[hidden[j], at] = column.probabilities(model.cells[j][h : h + 1])[0] @ column.features
        yield features


def _add_guessed(model: GatedModel, block: Block, doubt: np.ndarray, spread: np.ndarray) -> None:
    """Covariances of the features of missing cells beside the Gaussian block."""
    assert model.experts is not None
    p = model.view.width
    for j, (column, span) in enumerate(model.view.spans()):
        hidden = np.flatnonzero(block.levels[j] < 0)
        if not len(hidden):
            continue
        at = slice(p + span.start, p + span.stop)
        for h, table in enumerate(column.probabilities(model.cells[j])):
            expected = table @ column.features
            covariance = (column.features * table[:, None]).T @ column.features - np.outer(expected, expected)
            w = model.experts.mean[h][:, at]
            doubt[hidden, h] += (covariance * model.experts.covariance[h, at, at]).sum()
            spread[hidden, h] += w @ covariance @ w.T
