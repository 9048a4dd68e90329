"""Similarity along chains: children that contain one another, such as those of the thresholds of one number.

Let T be a part of T'. A tree for T' serves T as well, so T costs no more than T'. A tree for T serves T' but for the
rows that only T' has, so T' costs no more than T and what those rows can lose. Either way a bound on one child is a
bound on the next. It is the paper's similar support bound where it is cheap: one pass along each chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.distinct import Binary

Array = npt.NDArray[Any]


class Chains:
    """Chains of sides, each a part of the next in every subset.

    Parameters
    ----------
    features : ndarray of bool, shape (n_rows, M)
    never : int
        Stands in bounds for children that are out of the question, which says nothing of others.
    min_support : bool
        Whether leaves have a minimum support: then a tree need not serve a part of the rows it serves.

    Attributes
    ----------
    of_feature : int array of shape (M,)
        Which chain a feature's yes side is on.
    """

    def __init__(self, features: Binary, never: int, *, min_support: bool) -> None:
        self._never, self._both_ways = never, not min_support
        chains = _chains(features)
        number = {side: k for k, chain in enumerate(chains) for side in chain}
        self.of_feature = np.array([number[x] for x in range(features.shape[1])])
        chains = [chain for chain in chains if len(chain) > 1]
        longest = max(map(len, chains), default=0)
        # The last side stands in for what is missing at the end: a bound on itself.
        padded = [chain + chain[-1:] * (longest - len(chain)) for chain in chains]
        self._sides = np.array(padded, np.intp).reshape(len(chains), longest)

    def carry(self, lowers: Array, losses: Array) -> None:
        """Raise bounds on children by those of the children next to them.

        Parameters
        ----------
        lowers : integer array of shape (n, K, 2M)
        losses : integer array of shape (n, 2M)
            Most that each child's rows can lose, in the unit of the costs.
        """
        if not self._sides.size:
            return
        bounds = lowers[..., self._sides]
        out = bounds >= self._never
        known = np.where(out, 0, bounds)
        losses = losses[:, None, self._sides]
        carried = np.maximum.accumulate((known - losses)[..., ::-1], axis=-1)[..., ::-1] + losses
        if self._both_ways:
            carried = np.maximum(carried, np.maximum.accumulate(known, axis=-1))
        lowers[..., self._sides] = np.where(out, bounds, carried)


def _chains(features: Binary) -> list[list[int]]:
    """Share all 2M sides out among chains: each goes where the largest part of it ends."""
    sides = np.hstack([features, ~features])
    counts = sides.sum(axis=0)
    packed = np.packbits(sides.T, axis=1)
    chains: list[list[int]] = []
    for side in np.argsort(counts, kind="stable").tolist():
        ends = packed[[chain[-1] for chain in chains]]
        is_part = ~(ends & ~packed[side]).any(axis=1)
        fitting = [chain for chain, fits in zip(chains, is_part.tolist(), strict=True) if fits]
        if fitting:
            max(fitting, key=lambda chain: int(counts[chain[-1]])).append(side)
        else:
            chains.append([side])
    return chains
