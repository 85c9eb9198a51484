# labels: slow
"""All models of the zoo, each at several opsets and with dynamic dims."""

import sys

from export_zoo import run
from zoo import ZOO

sys.exit(run(list(ZOO)))
