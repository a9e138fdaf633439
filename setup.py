"""Names the packages; everything else about the build stands in pyproject.toml.

The three floors are folders at the top of the repository and are installed as `fa4dsl`, `fa4dsl.passes` and `fa4dsl.runtime`.
Setuptools cannot find packages under such a mapping by itself, and a list kept by hand would go stale: so they are found here.
"""

from setuptools import find_packages, setup

language = find_packages(include=["fa4dsl", "fa4dsl.*"])
lower_floors = find_packages(include=["passes", "passes.*", "runtime", "runtime.*"])

setup(
    packages=language + [f"fa4dsl.{name}" for name in lower_floors],
    package_dir={"fa4dsl": "fa4dsl", "fa4dsl.passes": "passes", "fa4dsl.runtime": "runtime"},
)
