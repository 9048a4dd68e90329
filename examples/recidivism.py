"""Who is arrested again? From raw columns to a report, with λ chosen by cross-validation.

    python examples/recidivism.py [--rows 2000] [--folder tour]

The data are made up in the shape of COMPAS; `dosdt.datasets.load("compas")` fetches the real ones.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from made_up import recidivism
from sklearn.model_selection import StratifiedKFold, train_test_split

from dosdt import Binarizer, DOSDTClassifier, DOSDTClassifierCV, save_model, verify, write_report
from dosdt.export import to_text


def prepared(raw: pd.DataFrame) -> pd.DataFrame:
    """Return what may be asked about: no row numbers, and days instead of dates."""
    table = raw.drop(columns=["id", "jail_in", "jail_out"])
    days = pd.to_datetime(raw["jail_out"]) - pd.to_datetime(raw["jail_in"])
    table.insert(0, "days_in_jail", days.dt.days)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=Path("tour"))
    options = parser.parse_args()
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)

    table = prepared(recidivism(options.rows))
    table.to_csv(folder / "recidivism.csv", index=False)
    X, y = table.drop(columns="two_year_recid"), table["two_year_recid"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

    # Which λ? One for each tree of the path, compared in five folds.
    questions = Binarizer(thresholds="quantile", max_thresholds=5)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = DOSDTClassifierCV(min_regularization=0.005, cv=folds, binarizer=questions).fit(X_train, y_train)
    for point in search.path_.points_:
        print(f"leaves      {point.leaves}, {point.errors} errors: optimal for λ from {float(point.low):.4g}")
    print(f"chosen      λ = {search.best_regularization_}, {search.best_score_:.1%} right in the folds")

    # The tree, and a proof that nothing has to be taken on trust.
    proof = folder / "recidivism.proof"
    model = DOSDTClassifier(search.best_regularization_, binarizer=questions)
    model.fit(X_train, y_train, certificate=proof)
    save_model(model.to_model("two_year_recid"), folder / "recidivism.json")
    print(f"status      {model.status_}, {model.n_leaves_} leaves, objective {model.objective_}")
    print(to_text(model.tree_))
    print(f"proof       {verify(proof, X_train, y_train)}")

    # How much of this tree is arbitrary? All trees within 5 % of the optimum.
    others = model.alternatives("5%")
    print(f"others      {others.count} trees within 5 %, {others.n_optimal} of them optimal")
    print(f"in all      {', '.join(use.name for use in others.columns if use.share == 1)}")
    print(f"in none     {', '.join(use.name for use in others.columns if use.share == 0)}")

    # One person, and what would have to be different.
    print(model.explain(X_test.iloc[0]), end="")

    # Judged on rows that the tree has not seen.
    print(f"accuracy    {model.score(X_test, y_test):.1%} of {len(y_test)} rows that it was not fitted to")
    write_report(folder / "recidivism.html", model, X_test, y_test, path=search.path_.points_)
    print(f"report      {folder / 'recidivism.html'}")


if __name__ == "__main__":
    main()
