#!/usr/bin/env python3
"""What each profile and GPU arch of FLA's kernels weighs, as a table in Markdown.

fla_sizes.py FILE.kernels...: what `debkit build` leaves in OUT/work/flash-linear-attention-*/triton-*/
"""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../templates/flash-linear-attention/kernels"))
import merge


def weigh(arch):
    """(kernels, cubins, bytes of cubins, bytes packed)"""
    pack, index, _ = arch.pack()
    return (len(arch.kernels), len(arch.cubins), sum(map(len, arch.cubins.values())),
            len(pack) + len(index))


def row(name, weights):
    kernels, cubins, raw, packed = weights
    print(f"| {name} | {kernels} | {cubins} | {raw / 1e6:.1f} | {packed / 1e6:.2f} |", flush=True)


def main():
    whole = collections.defaultdict(merge.Arch)
    print("| profile, arch | kernels | cubins | cubins, MB | packed, MB |\n|---|---|---|---|---|")
    for path in sys.argv[1:]:
        alone = merge.Arch()
        index, cubins = merge.read(path, merge_triton(path))
        for arch in (alone, whole[index["arch"]]):
            arch.add(index, cubins)
        row(f"{index['profile']}, {merge.dotted(index['arch'])}", weigh(alone))
    weights = {number: weigh(arch) for number, arch in sorted(whole.items())}
    for number, values in weights.items():
        row(f"all, {merge.dotted(number)}", values)
    row("all", map(sum, zip(*weights.values())))


def merge_triton(path):
    """triton-3.6.0/NAME.kernels -> 3.6.0"""
    return os.path.basename(os.path.dirname(os.path.abspath(path)))[len("triton-"):]


if __name__ == "__main__":
    main()
