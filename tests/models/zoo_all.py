"""The whole zoo: what zoo.py has, and models of packages that only the long suite needs (requirements-zoo.txt)."""

import importlib.util

import zoo_audio  # noqa: F401
import zoo_graphs  # noqa: F401
import zoo_text  # noqa: F401
import zoo_vision  # noqa: F401
from zoo import ZOO


def split():
    """Names that can be built here, and those whose package is missing."""
    present = [name for name, entry in ZOO.items() if importlib.util.find_spec(entry.package)]
    return present, [name for name in ZOO if name not in present]
