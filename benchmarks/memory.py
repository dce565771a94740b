"""The memory of this process. It imports nothing, so that it runs in every participant."""

import resource
import sys


def peak_rss_mb() -> float:
    """The most memory that this process has held so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)  # bytes there, KiB on Linux
