"""The models of the zoo that are quick to make and to run."""

import sys

from export_zoo import run
from zoo import ZOO

sys.exit(run([name for name, entry in ZOO.items() if entry.fast]))
