"""The `ray` command, for clusters that only this machine can reach: 127.0.0.1 stays 127.0.0.1.

``ray start --node-ip-address 127.0.0.1`` puts the machine's public address in its place and listens on all
interfaces. Run through this file, every process of the node listens on the loopback interface alone. Programs that
connect to such a cluster need RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 in their environment, for the same reason.
"""

from __future__ import annotations

import sys

from ray._private import services
from ray.scripts.scripts import main


def _as_given(host: str) -> str:
    return host


if __name__ == "__main__":
    if not hasattr(services, "resolve_ip_for_localhost"):  # rather than open ports that were to be closed
        sys.exit("this version of Ray does not fit loopback.py; see what replaced resolve_ip_for_localhost")
    services.resolve_ip_for_localhost = _as_given
    sys.exit(main())
