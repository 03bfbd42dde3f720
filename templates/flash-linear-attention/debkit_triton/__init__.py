"""Prebuilt Triton kernels of flash-linear-attention, in front of the user's Triton cache.

`import fla` calls enable(). What the store holds is used from it, read-only; whatever it does not
hold is compiled as usual and counted. DEBKIT_TRITON_DEBUG=1 prints each hit and each miss with its
reason; DEBKIT_TRITON=0 leaves Triton alone; DEBKIT_TRITON_PATH names other folders to look in.
"""
import os

from . import report

_enabled = None


def enable():
    """Puts the store in front of Triton's cache, once; True if there is a store for this Triton."""
    global _enabled
    if _enabled is None:
        _enabled = False
        if os.environ.get("DEBKIT_TRITON") != "0":
            try:
                from . import overlay
                _enabled = overlay.enable()
            except Exception as error:  # import fla must work whatever is wrong here
                report.warn_once("enable", f"prebuilt kernels are not used: {error}")
    return _enabled


def stats():
    """Counts of this process: kernels and C stubs from the store, and those that it had not."""
    return dict(report.COUNTS)
