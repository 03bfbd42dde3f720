"""What the overlay says: one warning for each kind of trouble, and each step when debugging."""
import os
import sys
import warnings

COUNTS = {"hits": 0, "misses": 0, "stubs": 0, "stub_misses": 0}
DEBUG = os.environ.get("DEBKIT_TRITON_DEBUG", "") not in ("", "0")
_warned = set()


def warn_once(kind, text):
    if kind not in _warned:
        _warned.add(kind)
        warnings.warn(f"debkit: {text}", RuntimeWarning, stacklevel=3)


def debug(text):
    if DEBUG:
        print(f"debkit-triton: {text}", file=sys.stderr)


def count(kind, text):
    COUNTS[kind] += 1
    debug(f"{kind.rstrip('s').replace('_', ' ').replace('misse', 'miss')}: {text}")
