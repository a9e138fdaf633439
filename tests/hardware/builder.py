"""Writes the body of a program: registers, loads of the input, statements, stores of every result."""

from __future__ import annotations

import random

from hardware.program import Program, Saved
from hardware.values import WIDTH

CLASS = {16: "h", 32: "r", 64: "d", 1: "p"}
TYPE = {16: "b16", 32: "b32", 64: "b64"}


class Builder:
    """One program under construction. Registers: %h 16, %r 32, %d 64 bits, %p predicates; each is written once unless `fresh` is bypassed."""

    def __init__(self, name: str, kind: str, seed: int, block: int = 32, cluster: int = 1, check: bool = True) -> None:
        self.random = random.Random(f"{kind}/{seed}")
        self.name, self.kind, self.block, self.cluster, self.check = name, kind, block, cluster, check
        self.threads = block * cluster
        self.body: list[str] = []
        self.inputs: list[tuple[str, int, int]] = []
        self.input_bytes = 0
        self.output_bytes = 0
        self.saved: list[Saved] = []
        self.counts = {"h": 0, "r": 0, "d": 0, "p": 0}
        self.pool: dict[str, list[str]] = {}
        self.declarations: list[str] = []
        self.before: list[str] = []
        self.maps: list[dict[str, object]] = []
        self.labels = 0
        self.x, self.o = self.fresh(64), self.fresh(64)
        self.lane_index, self.thread = self.fresh(32), self.fresh(32)
        self.offset4, self.offset8, self.out4, self.out8 = (self.fresh(64) for _ in range(4))
        self.rank = self.fresh(32)
        self.say(f"ld.param.u64 {self.x}, [x]; ld.param.u64 {self.o}, [o];")
        self.say(f"cvta.to.global.u64 {self.x}, {self.x}; cvta.to.global.u64 {self.o}, {self.o};")
        self.say(f"mov.u32 {self.lane_index}, %tid.x; mov.u32 {self.rank}, %ctaid.x;")
        self.say(f"mad.lo.u32 {self.thread}, {self.rank}, {block}, {self.lane_index};")
        self.say(f"mul.wide.u32 {self.offset4}, {self.thread}, 4; mul.wide.u32 {self.offset8}, {self.thread}, 8;")
        self.say(f"add.u64 {self.out4}, {self.o}, {self.offset4}; add.u64 {self.out8}, {self.o}, {self.offset8};")
        self.say(f"add.u64 {self.offset4}, {self.x}, {self.offset4}; add.u64 {self.offset8}, {self.x}, {self.offset8};")

    def say(self, text: str) -> int:
        """Appends a statement; returns its index."""
        self.body.append("\t" + text)
        return len(self.body) - 1

    def fresh(self, width: int) -> str:
        """A new register."""
        letter = CLASS[width]
        self.counts[letter] += 1
        return f"%{letter}{self.counts[letter] - 1}"

    def label(self) -> str:
        self.labels += 1
        return f"L{self.name}_{self.labels}"

    def reserve(self, flavour: str, count: int) -> int:
        """`count` values more in x; returns their byte offset."""
        size = WIDTH[flavour] // 8
        if self.input_bytes % 16:
            self._pad(16 - self.input_bytes % 16)
        start = self.input_bytes
        self.inputs.append((flavour, self.random.getrandbits(40), count))
        self.input_bytes += size * count
        return start

    def _pad(self, size: int) -> None:
        self.inputs.append(("i16", 0, size // 2))
        self.input_bytes += size

    def load(self, flavour: str) -> str:
        """A register with one value of the flavour for each thread."""
        width = WIDTH[flavour]
        start = self.reserve(flavour, self.threads * (2 if width == 16 else 1))
        if width == 16:
            # 16-bit values lie four bytes apart: the same address register serves
            register = self.fresh(16)
            self.say(f"ld.global.b16 {register}, [{self.offset4}+{start}];")
        else:
            register = self.fresh(width)
            self.say(f"ld.global.b{width} {register}, [{self.offset4 if width == 32 else self.offset8}+{start}];")
        self.pool.setdefault(flavour, []).append(register)
        return register

    def predicate(self) -> str:
        """A predicate that differs from thread to thread."""
        value, found = self.load("i32"), self.fresh(1)
        self.say(f"setp.lt.s32 {found}, {value}, {self.random.choice([0, 0, 100, -100])};")
        self.pool.setdefault("pred", []).append(found)
        return found

    def pick(self, flavour: str, loose: float = 0.15) -> str:
        """A register of a flavour; now and then one of another flavour of the same width."""
        width = 1 if flavour == "pred" else WIDTH[flavour]
        if flavour not in ("pred", "small", "byte", "finite_f64") and self.random.random() < loose:
            others = [name for key, names in self.pool.items() if key != "pred" and WIDTH[key] == width for name in names]
            if others:
                return self.random.choice(others)
        if not self.pool.get(flavour):
            return self.predicate() if flavour == "pred" else self.load(flavour)
        if len(self.pool[flavour]) < 3 and self.random.random() < 0.3:
            return self.predicate() if flavour == "pred" else self.load(flavour)
        return self.random.choice(self.pool[flavour])

    def result(self, flavour: str) -> str:
        """A new register for a result of a flavour, usable from the next statement on."""
        return self.fresh(1 if flavour == "pred" else WIDTH[flavour])

    def keep(self, flavour: str, register: str) -> None:
        self.pool.setdefault(flavour, []).append(register)

    def output(self, size: int, count: int | None = None) -> int:
        """Room for one element of `size` bytes for each thread (or for `count`); returns its offset."""
        self.output_bytes = -(-self.output_bytes // 16) * 16
        start = self.output_bytes
        self.output_bytes += size * (self.threads if count is None else count)
        return start

    def save(self, register: str, line: int, what: str = "") -> None:
        """Stores a register of every thread."""
        letter, original = register[1], register
        if letter == "p":
            word = self.fresh(32)
            self.say(f"selp.u32 {word}, 1, 0, {register};")
            register, letter = word, "r"
        if letter == "h":
            word = self.fresh(32)
            self.say(f"cvt.u32.u16 {word}, {register};")
            register, letter = word, "r"
        size = 8 if letter == "d" else 4
        start = self.output(size)
        self.say(f"st.global.b{8 * size} [{self.out8 if size == 8 else self.out4}+{start}], {register};")
        self.saved.append(Saved(start, size, self.threads, line, what or original))

    def dump_shared(self, tile: str, size: int, what: str, line: int = -1) -> int:
        """Stores `size` bytes (a multiple of 4 for each thread of a CTA) from shared address `tile`, by every CTA into a part of its own."""
        line = line if line >= 0 else len(self.body)
        start = self.output(size, self.cluster)
        index, place, source, target, value = self.fresh(32), self.fresh(32), self.fresh(32), self.fresh(64), self.fresh(32)
        top, more = self.label(), self.fresh(1)
        self.say(f"mov.u32 {index}, {self.lane_index};")
        self.say(f"{top}: mad.lo.u32 {source}, {index}, 4, {tile}; ld.shared.b32 {value}, [{source}];")
        self.say(
            f"mad.lo.u32 {place}, {self.rank}, {size // 4}, {index}; mul.wide.u32 {target}, {place}, 4; add.u64 {target}, {target}, {self.o};"
        )
        self.say(f"st.global.b32 [{target}+{start}], {value};")
        self.say(f"add.u32 {index}, {index}, {self.block}; setp.lt.u32 {more}, {index}, {size // 4}; @{more} bra {top};")
        self.remember(start, 4, self.cluster * size // 4, line, what)
        return line

    def fill_global(self, target: str, size: int, flavour: str = "i32") -> None:
        """Thread 0 of the CTA copies `size` bytes of fresh input to global address `target`, then fences for the async proxy."""
        width = WIDTH[flavour] // 8
        start = self.reserve(flavour, size // width)
        value, source, place, index, first = self.fresh(64), self.fresh(64), self.fresh(64), self.fresh(32), self.fresh(1)
        top, end, more = self.label(), self.label(), self.fresh(1)
        self.say(f"setp.ne.u32 {first}, {self.lane_index}, 0; @{first} bra {end};")
        self.say(f"add.u64 {source}, {self.x}, {start}; mov.u64 {place}, {target}; mov.u32 {index}, 0;")
        self.say(f"{top}: ld.global.b64 {value}, [{source}]; st.global.b64 [{place}], {value};")
        self.say(f"add.u64 {source}, {source}, 8; add.u64 {place}, {place}, 8; add.u32 {index}, {index}, 8;")
        self.say(f"setp.lt.u32 {more}, {index}, {size}; @{more} bra {top};")
        self.say("fence.proxy.async;")
        self.say(f"{end}:")

    def remember(self, start: int, size: int, count: int, line: int, what: str) -> None:
        """Says which statement an output range, stored by the program itself, came from."""
        self.saved.append(Saved(start, size, count, line, what))

    def finish(self) -> Program:
        """The program."""
        head = [f"\t.reg .pred %p<{self.counts['p'] + 1}>; .reg .b16 %h<{self.counts['h'] + 1}>;"]
        head += [f"\t.reg .b32 %r<{self.counts['r'] + 1}>; .reg .b64 %d<{self.counts['d'] + 1}>;", *self.declarations]
        for item in self.saved:
            item.line += len(head)
        return Program(
            self.name,
            self.kind,
            self.block,
            self.cluster,
            head + self.body,
            self.inputs,
            max(self.output_bytes, 16),
            self.saved,
            "".join(self.before),
            self.maps,
            self.check,
        )
