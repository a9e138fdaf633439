"""The compiler: the fa4 dialect, its checks, the lowering passes, and the pipeline to PTX and cubin."""
