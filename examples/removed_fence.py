"""What the simulator says when a proxy fence is missing: cluster_sum again, with fences left to the author and the fence forgotten."""

import numpy as np
from cluster_sum import cluster_sum

from fa4dsl import kernel

without_fence = kernel(cluster_sum.function, threads=128, cluster=4, fences="manual")

if __name__ == "__main__":
    x, total = np.ones((8, 512), np.float32), np.zeros((2, 512), np.float32)
    for report in without_fence.bind().check(8, (x, total)):
        print(report.text())
