"""Classes without order, given: the sum over all acyclic graphs, graph by graph."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, logsumexp

from ..net_contract import NO_SCORE, BlockRule
from .net_sums import acyclic_graphs


def net_block_sum(score, rule: BlockRule, z, edges) -> float:
    n, graphs = len(score), np.array(acyclic_graphs(len(score)))
    edge = (graphs[:, None, :] >> np.arange(n)[:, None] & 1).astype(float)
    member = np.eye(int(max(z)) + 1)[z]
    sizes = member.sum(axis=0)
    pairs, present = np.outer(sizes, sizes) - np.diag(sizes), member.T @ edge @ member
    ratio = betaln(rule.beta1 + present, rule.beta2 + pairs - present) - betaln(rule.beta1, rule.beta2)
    logs = score[np.arange(n), graphs].sum(axis=1) + ratio.sum(axis=(1, 2))
    total = float(logsumexp(logs))
    if total < NO_SCORE / 10:
        edges[:] = 0.0
        return total
    edges[:] = np.tensordot(np.exp(logs - total), edge, 1)
    return total
