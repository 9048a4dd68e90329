"""What holds for all tests."""

from __future__ import annotations

import os
import signal

# What a script starts in the background ignores Ctrl-C, and so would everything that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A thread that is still asking a team when its Ray has been shut down would join it again, and spoil the next test.
os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")
