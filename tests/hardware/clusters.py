"""Programs of one cluster: exchanges through distributed shared memory, remote arrivals, st.async, red.async, multicast, copies to a peer."""

from __future__ import annotations

from hardware.builder import Builder
from hardware.program import Program


def clusters(name: str, seed: int) -> Program:
    """A few rounds, each ended by a cluster barrier."""
    block = 32
    builder = Builder(name, "cluster", seed, block=block)
    draw = builder.random
    size = draw.choice([2, 2, 4])
    builder.cluster, builder.threads = size, block * size
    tile_bytes = 1024
    builder.declarations.append(
        f"\t.shared .align 128 .b8 tile{name}[{tile_bytes}]; .shared .align 128 .b8 from{name}[{tile_bytes}]; .shared .align 8 .b64 bar{name};"
    )
    tile, origin, bar, own, first = builder.fresh(32), builder.fresh(32), builder.fresh(32), builder.fresh(32), builder.fresh(1)
    peer, peer_tile, peer_bar, peer_own = (builder.fresh(32) for _ in range(4))
    builder.say(
        f"mov.u32 {tile}, tile{name}; mov.u32 {origin}, from{name}; mov.u32 {bar}, bar{name}; setp.eq.u32 {first}, {builder.lane_index}, 0;"
    )
    own_origin = builder.fresh(32)
    builder.say(f"mad.lo.u32 {own}, {builder.lane_index}, 16, {tile}; mad.lo.u32 {own_origin}, {builder.lane_index}, 16, {origin};")
    distance = draw.randrange(1, size)
    builder.say(f"mov.u32 {peer}, %cluster_ctarank; add.u32 {peer}, {peer}, {distance}; rem.u32 {peer}, {peer}, {size};")
    builder.say(
        f"mapa.shared::cluster.u32 {peer_tile}, {tile}, {peer}; mapa.shared::cluster.u32 {peer_bar}, {bar}, {peer}; mapa.shared::cluster.u32 {peer_own}, {own}, {peer};"
    )
    for at in range(0, tile_bytes, 512):
        for part in range(0, 16, 4):
            value = builder.pick("i32")
            builder.say(f"st.shared.b32 [{own}+{at + part}], {value};")
            builder.say(f"st.shared.b32 [{own_origin}+{at + part}], {builder.pick('i32')};")
    builder.say(f"@{first} mbarrier.init.shared.b64 [{bar}], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;")
    builder.say("barrier.cluster.arrive; barrier.cluster.wait;")
    phase = 0
    for _ in range(draw.randint(2, 4)):
        kind = draw.choice(["load", "store", "atomic", "st.async", "arrive", "multicast", "bulk", "red.async", "generic"])
        line = 0
        if kind == "load":
            width = draw.choice([32, 64])
            result = builder.fresh(width)
            line = builder.say(f"ld.shared::cluster.b{width} {result}, [{peer_own}+{draw.choice([0, 8])}];")
            builder.save(result, line)
        elif kind == "generic":
            wide, result = builder.fresh(64), builder.fresh(32)
            builder.say(f"cvt.u64.u32 {wide}, {own}; cvta.shared.u64 {wide}, {wide}; mapa.u64 {wide}, {wide}, {peer};")
            line = builder.say(f"ld.b32 {result}, [{wide}+{draw.choice([0, 4, 512])}];")
            builder.save(result, line)
        elif kind == "store":
            line = builder.say(
                f"st.shared::cluster.v2.b32 [{peer_own}+{draw.choice([0, 8, 512])}], {{{builder.pick('i32')}, {builder.pick('i32')}}};"
            )
        elif kind == "atomic":
            operation = draw.choice(["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"])
            line = builder.say(
                f"red.relaxed.cluster.shared::cluster.{operation} [{peer_tile}+{4 * draw.randrange(8)}], {builder.pick('i32')};"
            )
        elif kind == "arrive":
            builder.say(f"@{first} mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{peer_bar}];")
            _wait_cluster(builder, bar, phase)
            phase ^= 1
        elif kind in ("st.async", "red.async"):
            vector, step = draw.choice([("", 4), (".v2", 8), (".v4", 16)]) if kind == "st.async" else ("", 4)
            builder.say(f"@{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], {step * block};")
            builder.say("barrier.cluster.arrive; barrier.cluster.wait;")
            if kind == "st.async":
                values = [builder.pick("i32") for _ in range(step // 4)]
                listed = f"{{{', '.join(values)}}}" if vector else values[0]
                line = builder.say(
                    f"st.async.shared::cluster.mbarrier::complete_tx::bytes{vector}.b32 [{peer_own}], {listed}, [{peer_bar}];"
                )
            else:
                operation = draw.choice(
                    ["add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32", "inc.u32", "dec.u32"]
                )
                cell = peer_own if operation[:3] in ("inc", "dec") else peer_tile
                line = builder.say(
                    f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{operation} [{cell}], {builder.pick('i32')}, [{peer_bar}];"
                )
            _wait_cluster(builder, bar, phase)
            phase ^= 1
        elif kind == "multicast":
            chunk = 16 * draw.randint(1, 32)
            source, address, leader = builder.reserve("i32", chunk // 4), builder.fresh(64), builder.fresh(1)
            mask = draw.randrange(1, 1 << size)
            half = builder.fresh(16)
            rank, bit = builder.fresh(32), builder.fresh(32)
            # a CTA outside the mask gets its phase from an arrival without bytes
            builder.say(
                f"mov.u32 {rank}, %cluster_ctarank; shr.u32 {bit}, {mask}, {rank}; and.b32 {bit}, {bit}, 1; mul.lo.u32 {bit}, {bit}, {chunk};"
            )
            builder.say(
                f"@{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], {bit}; barrier.cluster.arrive; barrier.cluster.wait;"
            )
            builder.say(
                f"setp.eq.u32 {leader}, {rank}, {draw.randrange(size)}; and.pred {leader}, {leader}, {first}; add.u64 {address}, {builder.x}, {source}; mov.b16 {half}, {mask};"
            )
            line = builder.say(
                f"@{leader} cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [{tile}], [{address}], {chunk}, [{bar}], {half};"
            )
            _wait_cluster(builder, bar, phase)
            phase ^= 1
        else:
            chunk = 16 * draw.randint(1, 32)
            builder.say(f"@{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], {chunk};")
            builder.say("barrier.cluster.arrive; barrier.cluster.wait;")
            line = builder.say(
                f"@{first} cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [{peer_tile}], [{origin}], {chunk}, [{peer_bar}];"
            )
            _wait_cluster(builder, bar, phase)
            phase ^= 1
        builder.say("fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;")
        builder.dump_shared(tile, tile_bytes, kind, line)
        builder.say("fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;")
    return builder.finish()


def _wait_cluster(builder: Builder, bar: str, phase: int) -> None:
    """Waits with cluster scope, as arrivals come from other CTAs."""
    top, done = builder.label(), builder.fresh(1)
    builder.say(f"{top}: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 {done}, [{bar}], {phase}; @!{done} bra {top};")
