"""Credit risk, where a loan that is lost costs five times as much as one that is refused without need.

python examples/credit.py [--rows 1500]
"""

from __future__ import annotations

import argparse

from made_up import credit
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

from dosdt import Binarizer, DOSDTClassifier
from dosdt.export import to_text

# Rows are the true class, columns the predicted one, both in sorted order: no, yes.
COSTS = [[0, 5], [1, 0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1500)
    options = parser.parse_args()

    table = credit(options.rows)
    X, y = table.drop(columns="paid"), table["paid"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

    # Some incomes are missing, and that may be asked about, too.
    questions = Binarizer(thresholds="quantile", max_thresholds=3, missing="category")
    trees = {
        "errors": DOSDTClassifier(0.02, binarizer=questions),
        "costs": DOSDTClassifier(0.02, binarizer=questions, cost_matrix=COSTS),
    }
    for name, model in trees.items():
        model.fit(X_train, y_train)
        counts = confusion_matrix(y_test, model.predict(X_test), labels=model.classes_)
        print(f"least {name}")
        print(f"status      {model.status_}, leaves: {model.n_leaves_}, objective {model.objective_}")
        print(f"lost        {counts[0, 1]} of {counts[0].sum()} bad loans of the {len(y_test)} held out were granted")
        print(f"refused     {counts[1, 0]} of {counts[1].sum()} good loans")
        print(f"cost        {(counts * COSTS).sum() / len(y_test):.3f} per loan\n")
    print(to_text(trees["costs"].tree_))


if __name__ == "__main__":
    main()
