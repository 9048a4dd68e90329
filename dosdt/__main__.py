"""``python -m dosdt`` is the command `dosdt`."""

from __future__ import annotations

import sys

from dosdt.cli import main

if __name__ == "__main__":
    sys.exit(main())
