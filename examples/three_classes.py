"""Three species of iris: how many questions does it take, and what may be done with the answer?

python examples/three_classes.py [--folder tour]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from dosdt import DOSDTPath, datasets
from dosdt.export import to_python, to_svg


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("tour"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)

    data = datasets.load("iris")
    path = DOSDTPath(min_regularization=0.01, front_leaves=5).fit(data.X, data.y)
    for point in path.points_:
        print(f"path        leaves {point.leaves}, errors {point.errors}: optimal for λ from {point.low}")
    for point in path.front_:
        print(f"front       leaves {point.leaves}, errors {point.errors}: no such tree has fewer")

    model = path.classifier_at(0.05)  # fitted, without another search
    print(f"status      {model.status_}, objective {model.objective_}")
    shares = zip(model.classes_, model.predict_proba(data.X[70:71])[0], strict=True)
    print(f"shares      {', '.join(f'{name} {share:.1%}' for name, share in shares)}")
    (folder / "iris.svg").write_text(to_svg(model.tree_), encoding="utf-8")
    print(to_python(model.tree_))


if __name__ == "__main__":
    main()
