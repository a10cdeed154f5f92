"""The scripts of papers/ share modules that lie beside them: put the folder on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "papers"))
