"""The plain twins of the native kernels: the slow, obvious statement of every algorithm.

Same names, arguments, random numbers and results as `partita.kernels._native`, so that the two can be compared draw
by draw; also what runs where no compiler was found. Here a row is really taken out of its group before it is scored,
predictive probabilities are computed from the statistics, and the tables are filled in at the end of each kernel.
"""

from .co_assignment import shared_pairs
from .coding import mdlp_cut_points
from .cones import cone, cone_probabilities
from .counting import class_statistics, pair_counts
from .density import group_scores, leave_one_out, log_density, seat_weights
from .filter import filter_density, filter_rows
from .gates import gate_accumulate, gate_condition, gate_draw_missing, gate_moments
from .gibbs import gibbs_sweep, gibbs_sweeps
from .hyper import log_likelihood, move_concentration, move_hyper, refresh_tables
from .interactions import look_up, pool_shares, scan_regions, softmax_loss, tally, tempered_labels
from .modes import column_information, dense_mode, informed_rows, precondition
from .net_block import net_block_sweep
from .net_block_sum import net_block_sum
from .net_bridge import net_bridge_sweep
from .net_classes import net_class_sum
from .net_fill import net_fill
from .net_graph import net_graph_sweep
from .net_listed import net_listed_sweep, net_score_lists
from .net_ordered import net_ordered_sweep, net_ordered_target
from .net_scores import net_score_sets, net_score_table, net_scores
from .net_sums import net_dag_sum, net_order_draws
from .net_walk import net_graph_ladder, net_order_walk, net_set_sums
from .regions import region_normalisers, region_potentials, region_sums, region_sums_of_moments
from .relabel import relabel_sweep
from .resample import resample
from .split_merge import split_merge
from .step import chain_step
from .svd import (
    svd_column_sums,
    svd_draw_rows,
    svd_fitted,
    svd_gather_sums,
    svd_noise_law,
    svd_rotate,
    svd_scale_steps,
    svd_squares,
)
from .svd_coordinate import svd_component_shift, svd_component_sums, svd_coordinate_rows
from .svd_links import (
    svd_binomial_rows,
    svd_binomial_sums,
    svd_binomial_working,
    svd_ordinal_latents,
    svd_ordinal_masses,
)
from .views import move_views, rebuild

__all__ = [
    "chain_step",
    "class_statistics",
    "column_information",
    "cone",
    "cone_probabilities",
    "dense_mode",
    "filter_density",
    "filter_rows",
    "gate_accumulate",
    "gate_condition",
    "gate_draw_missing",
    "gate_moments",
    "gibbs_sweep",
    "gibbs_sweeps",
    "group_scores",
    "informed_rows",
    "leave_one_out",
    "log_density",
    "log_likelihood",
    "look_up",
    "mdlp_cut_points",
    "move_concentration",
    "move_hyper",
    "move_views",
    "net_block_sum",
    "net_block_sweep",
    "net_bridge_sweep",
    "net_class_sum",
    "net_dag_sum",
    "net_fill",
    "net_graph_ladder",
    "net_graph_sweep",
    "net_listed_sweep",
    "net_order_draws",
    "net_order_walk",
    "net_ordered_sweep",
    "net_ordered_target",
    "net_score_lists",
    "net_score_sets",
    "net_score_table",
    "net_scores",
    "net_set_sums",
    "pair_counts",
    "pool_shares",
    "precondition",
    "rebuild",
    "refresh_tables",
    "region_normalisers",
    "region_potentials",
    "region_sums",
    "region_sums_of_moments",
    "relabel_sweep",
    "resample",
    "scan_regions",
    "seat_weights",
    "shared_pairs",
    "softmax_loss",
    "split_merge",
    "svd_binomial_rows",
    "svd_binomial_sums",
    "svd_binomial_working",
    "svd_column_sums",
    "svd_component_shift",
    "svd_component_sums",
    "svd_coordinate_rows",
    "svd_draw_rows",
    "svd_fitted",
    "svd_gather_sums",
    "svd_noise_law",
    "svd_ordinal_latents",
    "svd_ordinal_masses",
    "svd_rotate",
    "svd_scale_steps",
    "svd_squares",
    "tally",
    "tempered_labels",
]
