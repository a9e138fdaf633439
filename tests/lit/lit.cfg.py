"""lit's configuration: `lit tests/lit` runs the checks of the dialect, the passes and the PTX. pytest runs the same files in process."""

import sys
from importlib.util import find_spec
from pathlib import Path

import lit.formats

config.name = "fa4dsl"  # noqa: F821  (lit defines it)
config.test_format = lit.formats.ShTest()  # noqa: F821
config.suffixes = [".mlir", ".ll"]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # noqa: F821

tools = Path(next(iter(find_spec("llvm").submodule_search_locations))) / "bin"
config.substitutions.append(("%opt", f"{sys.executable} -m fa4dsl.passes.opt"))  # noqa: F821
config.substitutions.append(("FileCheck", str(tools / "FileCheck")))  # noqa: F821
