"""What holds for all tests."""

from __future__ import annotations

import signal

# What a script starts in the background ignores Ctrl-C, and so would everything that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
