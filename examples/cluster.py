"""One search by several processes, here or on a Ray cluster.

python examples/cluster.py [--workers 2] [--ray-address auto] [--regularization 0.002]
cluster/two_nodes.sh python examples/cluster.py --ray-address auto
"""

from __future__ import annotations

import argparse

from dosdt import DOSDTClassifier, datasets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ray-address")
    parser.add_argument("--regularization", default="0.002")
    options = parser.parse_args()

    data = datasets.load("tic-tac-toe")
    model = DOSDTClassifier(options.regularization, n_jobs=options.workers, ray_address=options.ray_address)
    model.fit(data.X, data.y)

    stats = model.stats_
    print(f"status      {model.status_}, {model.n_leaves_} leaves, objective {model.objective_}")
    print(f"workers     {stats['workers']}")
    print(f"seconds     {stats['seconds']:.1f}, {stats.get('start_up_seconds', 0):.1f} of them to start the workers")


if __name__ == "__main__":
    main()
