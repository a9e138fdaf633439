"""Names the packages and the C part; everything else about the build stands in pyproject.toml.

The three floors are folders at the top of the repository and are installed as `fa4dsl`, `fa4dsl.passes` and `fa4dsl.runtime`.
Setuptools cannot find packages under such a mapping by itself, and a list kept by hand would go stale: so they are found here.
"""

from setuptools import Extension, find_packages, setup

language = find_packages(include=["fa4dsl", "fa4dsl.*"])
lower_floors = find_packages(include=["passes", "passes.*", "runtime", "runtime.*"])

native = Extension(
    "fa4dsl.runtime.cuda._native",
    sources=["runtime/cuda/native/launch.c", "runtime/cuda/native/values.c"],
    depends=["runtime/cuda/native/launch.h"],
    extra_compile_args=[
        "-std=c11",
        "-O2",
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        "-Wno-missing-field-initializers",
        "-Wno-cast-function-type",
    ],
    # Without a C compiler the package installs all the same, and launches through Python functions.
    optional=True,
)

setup(
    packages=language + [f"fa4dsl.{name}" for name in lower_floors],
    package_dir={"fa4dsl": "fa4dsl", "fa4dsl.passes": "passes", "fa4dsl.runtime": "runtime"},
    ext_modules=[native],
)
