"""fa4dsl: a Python language for warp-specialised NVIDIA kernels."""
