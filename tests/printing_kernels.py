"""A kernel that prints, for the simulator and for a GPU."""

from __future__ import annotations

from fa4dsl import Pointer, device_print, f32, f64, i32, i64, kernel, u8, u64


@kernel(threads=1)
def show(x: Pointer[f32], a: i32, b: i64, c: u64, d: f64, e: u8):
    device_print("%d|%5d|%-6d|%x|%d|%u|%g|%.3e|%a|%d|%c|%%\n", a, a, a, a, b, c, x[0], d, d, e, e)
    device_print("x =", x[0], "b =", b, d, e)
    device_print("%s [%6s] [%*d]\n", "text", "abc", a, b)
