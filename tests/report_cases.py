"""Data and models to draw and report on: every kind of column, and names that are hard to quote."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dosdt import Binarizer, DOSDTClassifier

FLAG, SIZE, COLOUR, AGE, SERIAL = (
    "<script>alert(1)</script>",
    'size "in" m & more',
    "colour's",
    "age",
    "serial number",
)
COLOURS = ("red", "</script><img src=x onerror=alert(2)>", 'say "hi" & go', "")
CLASSES = ("<b>yes</b>", "no", "may 'be'")
BIG = 2**53  # from here on floats are not exact


def mixed(n: int = 150, seed: int = 3) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Return rows with a flag, numbers, whole numbers too long for floats, categories and gaps."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            FLAG: rng.integers(0, 2, n).astype(bool),
            SIZE: rng.normal(size=n).round(2),
            COLOUR: rng.choice(COLOURS, n).astype(object),
            AGE: rng.choice([20.0, 30.0, 40.0, np.nan], n),
            SERIAL: BIG + rng.integers(0, 6, n),
        }
    )
    X.loc[rng.random(n) < 0.2, COLOUR] = None
    late = X[SERIAL].to_numpy() > BIG + 3  # as floats, BIG + 3 and BIG + 4 are the same
    gone = X[AGE].isna().to_numpy()
    red = (X[COLOUR] == COLOURS[1]).to_numpy()
    place = np.where(gone, np.where(late, 0, 1), np.where(X[FLAG] & (X[SIZE] > 0), 2, np.where(red, 0, late + 0)))
    place = np.where(rng.random(n) < 0.04, rng.integers(0, 3, n), place)
    return X, pd.Series(np.array(CLASSES, dtype=object)[place], name="the <i>label</i>")


def fitted(X: Any, y: Any, regularization: str = "0.012", **options: Any) -> DOSDTClassifier:
    """Return a model that takes gaps."""
    binarizer = Binarizer(missing="category", thresholds="quantile", max_thresholds=6)
    return DOSDTClassifier(regularization, binarizer=binarizer).fit(X, y, **options)
