"""findings.py REPORT.json WANTED REGEX [LINE-REGEX]: compares a report of debkit doctor.

WANTED names every finding that is not good, "bad:apt.key warning:cudart.path", or "good" for none;
REGEX must match what was found by one of them (of all where none is wanted), and LINE-REGEX the
whole line to type of the same one ("-" for no line).
"""

import json
import re
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
wanted, regex = sys.argv[2], sys.argv[3]
line = sys.argv[4] if len(sys.argv) > 4 else None
poor = [f for f in report["findings"] if f["grade"] != "good"]
got = sorted({"%s:%s" % (f["grade"], f["id"]) for f in poor}) or ["good"]
if got != sorted(wanted.split()):
    print("findings: %s\nwanted:   %s" % (got, wanted))
    for f in poor:
        print("  %(grade)s %(id)s: %(found)s | %(type)s" % f)
    sys.exit(1)
worst = "bad" if any(f["grade"] == "bad" for f in poor) else "warning" if poor else "good"
if report["grade"] != worst:
    sys.exit("the report's grade is %s" % report["grade"])
for f in poor or report["findings"]:
    if re.search(regex, f["found"]):
        if line is None or (f["type"] is None if line == "-" else re.fullmatch(line, f["type"] or "")):
            sys.exit(0)
        print("line: %s" % f["type"])
for f in poor or report["findings"]:
    print("  %(grade)s %(id)s: %(found)s | %(type)s" % f)
sys.exit("none matches %s with the line %s" % (regex, line))
