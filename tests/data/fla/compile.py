"""Stand-in for templates/flash-linear-attention/kernels/compile.py: the same words, no kernels.
@LOG@ gets a line for each run. With a file @LOG@.fail the Triton that it names fails; with a file
@LOG@.slow a run takes long."""
import argparse
import os
import sys
import time

parse = argparse.ArgumentParser()
for name in ("site", "triton", "arch", "profiles", "profile", "work", "out"):
    parse.add_argument("--" + name, required=True)
args = parse.parse_args()


def has(name):
    return os.path.exists(os.path.join(args.site, name))


assert has("torch/lib/libtorch_cpu.so") and has("fla/ops/__init__.py") and has("packaging.py")
assert os.access(os.path.join(args.site, "triton/backends/nvidia/bin/ptxas"), os.X_OK)
assert not has("torch/lib/libtorch_cuda.so") and not has("torch/include/a.h")
assert not has("fla/layers") and os.path.isdir(args.work)
with open(args.profiles, encoding="utf-8") as f:
    assert "Profile: %s\n" % args.profile in f.read()
if os.path.exists("@LOG@.fail") and args.triton in open("@LOG@.fail", encoding="utf-8").read():
    sys.exit("compile.py: error: triton %s: this fails" % args.triton)
if os.path.exists("@LOG@.slow"):
    time.sleep(60)
with open("@LOG@", "a", encoding="utf-8") as f:
    f.write(" ".join(sys.argv) + "\n")
with open(os.path.join(args.site, "torch/lib/standin.so"), "w", encoding="utf-8") as f:
    f.write("what the real one leaves there\n")
with open(args.out, "w", encoding="utf-8") as f:
    f.write("%s %s\n" % (args.arch, args.profile))
