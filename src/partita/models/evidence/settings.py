"""What the evidence estimator can be told; the defaults are those of the measured comparison."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Parameters of `fit_evidence`. A region is a set of attributes that act together on the class."""

    max_attributes: int = 3  # attributes of the largest region the search adds (1: single attributes only)
    beyond: float = 2.0  # evidence gain, in nats, that takes a pair into the last stage of the path
    max_cells: int = 500  # cells that one search may add, and at most half as many as rows
    all_pairs: float = 1.0  # a stage with every pair, where their cells are at most so many times those of a search
    path_rows: float = 200.0  # regions found elsewhere get a stage if there are so many rows: fewer, and they were too
    # often chosen by chance, which leave-one-out does not see
    max_region_cells: int = 100_000  # larger regions are no candidates
    max_candidates: int = 2_000_000  # pairs scanned; the rest is counted in `Omitted`
    max_triples: int = 200_000  # triples scanned, those over the best pairs first; the rest is counted likewise
    force_first_cut: bool = False  # the bins of numbers were cut at least once
    n_quantiles: int = 8  # steps of a numeric column, one less than this
    max_products: int = 600  # products of numeric columns: all are used where there are at most so many
    product_work: float = 1e9  # multiplications of the factors up to which more are; else those that promise most
    averaging: bool = True  # pool the stages; False: only the one with the best leave-one-out predictions is kept
    prior_rows: float = 10.0  # what the even split over stages is worth when their weights are chosen
    naive_worth: float = 0.3  # of naive Bayes and of the class alone in that split; the others' is 1
    temperature_prior: float = 2.0  # log prior of the temperature t: - temperature_prior (log t)^2
    conditional_holes: bool = True  # unknown cells given the seen ones; False: by their training frequencies alone
    hyper_rows: int = 4000  # rows, drawn at random, that prior variances and stage weights are learnt from
    max_design: int = 16_000_000  # entries of the dense design of those rows; a wider design has fewer rows
    order_strength: float = 4.0  # how many parameters the mean variance of an order is worth to a group
    prior_variance: float = 1.0  # of a parameter of one class, worth one parameter to the mean variance of an order
    intercept_variance: float = 100.0
