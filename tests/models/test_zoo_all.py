# labels: slow
"""All models of the zoo, each at several opsets and with dynamic dims."""

import sys

from export_zoo import run
from zoo_all import split

present, missing = split()
if missing:
    print(f"left out, for want of their packages (scripts/bootstrap --zoo): {' '.join(missing)}")
sys.exit(run(present))
