"""Tiles of keys and values in the registers of decode attention: which elements a lane has, of bf16 and of e4m3 that become f16.

A lane reads 16 bytes of a key at a time, `c.piece` columns, of which the mma's take four for each 16 of their K: queries have their columns in the same order
(`columns_of`). Values come by transposing ldmatrix, which keeps two e4m3 of a row together: they are taken apart behind it, and belong to neighbouring
rows of O^T.
"""

# Device functions take whatever types they are called with, like templates; the bodies are checked.
# mypy: allow-untyped-defs

from __future__ import annotations

from fa4dsl import device_function, e4m3, inline_ptx, lane, load_matrix, u32, vector, warp


@device_function
def spread(row, *, c):
    """The key, of eight, that row `row` of an mma has: bit 0 and another exchanged, so that neighbouring rows' lines differ in the swizzle's third bit and
    eight neighbouring lanes meet no bank twice."""
    if c.spread_bit == 0:
        return row
    if c.spread_bit == 1:
        return row // 4 * 4 + row % 2 * 2 + row // 2 % 2
    return row % 2 * 4 + row // 2 % 2 * 2 + row // 4


@device_function
def columns_of(j, *, c):
    """First of the j-th eight columns that this lane has of a row."""
    eights = c.piece // 8
    return 4 * c.piece * (j // eights) + c.piece * (lane.index() % 4) + 8 * (j % eights)


@device_function
def key_words(keys, key, group, *, c):
    """This lane's columns of the `group`-th 4 * `c.piece` of a key, two in each word, as the mma's take them."""
    in_line = c.panel // (4 * c.piece)
    column = group % in_line * 4 * c.piece + c.piece * (lane.index() % 4)
    return keys.load(key, group // in_line, column, width=c.piece).to(c.multiplied).bitcast(u32)


@device_function
def apart(word):
    """Two e4m3 of each of two keys as f16: both keys' first, both keys' second."""
    return inline_ptx("prmt.b32 $0, $1, 0, 0x3120;", word, results=u32, pure=True).bitcast(e4m3)


@device_function
def value_rows(values, load, *, c):
    """A fragments of V^T of this warp's 16 keys, from one ldmatrix: of 16 rows for bf16, of twice 16 for e4m3."""
    key = 16 * warp.index() + spread(lane.index() % 8, c=c) + 8 * (lane.index() // 16)
    in_line = c.panel // (2 * c.piece)
    column = load % in_line * 2 * c.piece + c.piece * (lane.index() // 8 % 2)
    loaded = load_matrix(values.pointer((key, load // in_line, column)), 4, transpose=True)
    if c.piece == 8:
        return [loaded]
    words = loaded.bitcast(u32)
    rows = [apart(words[i]).to(c.multiplied).bitcast(u32) for i in range(4)]
    return [vector(rows[i][0], rows[i][1], rows[i + 2][0], rows[i + 2][1]).bitcast(c.multiplied) for i in range(2)]


@device_function
def row_of_output(k, half, *, c):
    """Column of the result, row of O^T, that this lane's accumulators 2 * half and 2 * half + 1 of the k-th block of 16 have."""
    return 16 * k + (8 * half + lane.index() // 4 if c.piece == 8 else 2 * (lane.index() // 4) + half)
