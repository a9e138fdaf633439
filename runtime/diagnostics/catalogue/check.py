"""Diagnostics of the simulator's checks: races, proxies, scopes, lifetimes, layouts."""

from fa4dsl.runtime.diagnostics.entry import Entry

CHECK: tuple[Entry, ...] = (
    Entry(
        "S020",
        "data race",
        "data race on {where}: the {first} on {first_line} and the {second} on {second_line} are not ordered",
        "order the two accesses",
        "Two accesses to the same bytes, at least one of them a write, must be ordered by program order or by synchronisation (a block, named or cluster barrier, an mbarrier arrive and wait, "
        "release and acquire) unless both are strong operations whose scopes include each other (PTX ISA 8.7). Without that the value read or kept is undefined; that the numbers are right "
        "today is an accident of timing.",
    ),
    Entry(
        "S021",
        "a generic write that the async proxy does not see",
        "missing proxy fence: the {first} on {first_line} (generic proxy) and the {second} on {second_line} (async proxy) meet at {where}, ordered, but with no {fence} between them",
        "add {fence} after the generic access and before the synchronisation that leads to the asynchronous one",
        "TMA, bulk copies and wgmma access memory through the async proxy. A barrier orders threads, not proxies: what a thread wrote with st becomes visible to the async proxy only through "
        "fence.proxy.async, executed on the path between the two accesses, by the writer before the barrier or by the issuing thread after it (PTX ISA 8.6 and 9.7.13.4).",
    ),
    Entry(
        "S022",
        "a slot refilled through the async proxy without a proxy fence",
        "{where} was accessed by the {first} on {first_line} (generic proxy) before the {second} on {second_line} (async proxy) refills it; they are ordered, but no {fence} lies between them",
        "add {fence} after the generic access",
        "The PTX ISA asks for a proxy fence between generic and async accesses of the same memory in either direction. For a slot that is read with ld and then refilled by TMA, ordered by an "
        "mbarrier or a barrier, most libraries leave the fence out, and no failure is known; so this is for review by default and an error under the strict policy.",
        severity="review",
    ),
    Entry(
        "S023",
        "synchronisation of too narrow a scope",
        "race on {where}: the {first} on {first_line} and the {second} on {second_line} would be ordered by {arrive} (.{arrive_scope}) and {wait} (.{wait_scope}), but these scopes do not include "
        "each other's threads",
        "needs .{scope} scope on both sides",
        "A release synchronises with an acquire only if each one's scope includes the other's thread (PTX ISA 8.9). mbarrier.arrive and try_wait have .cta scope by default, also on a "
        "shared::cluster address, so between the blocks of a cluster both need .cluster.",
    ),
    Entry(
        "S024",
        "memory used while an asynchronous copy may still use it",
        "the {first} on {first_line} may still be going on at {where} when the {second} on {second_line} happens",
        "wait for the copy first",
        "An asynchronous copy is ordered after earlier instructions of its issuer and before nothing, until its completion is observed: by an acquiring wait on its mbarrier, or by the bulk group "
        "wait of the thread that issued it. A barrier alone waits for no copy (PTX ISA 8.9.1.1 and 9.7.9.25).",
    ),
    Entry(
        "S025",
        "an operand released or overwritten before the wgmma that reads it has ended",
        "the {first} on {first_line} may still read {where} when the {second} on {second_line} happens: no wgmma.wait_group covers it",
        "wait for the wgmma group before releasing its operands",
        "wgmma.mma_async reads its shared operands in the async proxy until wgmma.wait_group has covered its group. An arrive on the 'empty' barrier before that wait lets the producer overwrite "
        "them (PTX ISA 9.7.15).",
    ),
    Entry(
        "S026",
        "lanes of one instruction store different values to one address",
        "threads {first} and {second} store different values to {where} with the one instruction on {line}",
        "let one lane store (elect, or if lane == 0), or give each lane its own address",
        "Lanes are threads of their own, so two stores to one address in one instruction race (PTX ISA 8.7): which value remains is undefined.",
    ),
    Entry(
        "S027",
        "lanes of a warp taken for one thread",
        "race on {where}: the {first} on {first_line} and the {second} on {second_line}: only another lane of that warp synchronises",
        "add __syncwarp() (bar.warp.sync)",
        "Each lane is a thread of its own: an arrive by one elected lane releases that lane's accesses only, and lanes of one warp are ordered among each other by bar.warp.sync alone, not by "
        "executing the same instruction (PTX ISA 8.8, 9.7.13.2).",
    ),
    Entry(
        "S028",
        "cp.async data used before the copying threads waited",
        "the {first} on {first_line} may still be going on at {where} when the {second} on {second_line} happens: its thread has not waited for it",
        "cp.async.wait_group in the copying threads, then a barrier",
        "cp.async becomes visible to the executing thread at its cp.async.wait_group or wait_all (or through cp.async.mbarrier.arrive), and to others by a barrier after that (PTX ISA 9.7.9.25.3).",
    ),
    Entry(
        "S029",
        "a slot refilled after a signal of too narrow a scope",
        "{where} is used by the {first} on {first_line} before the {second} on {second_line} refills it; they are ordered only by {arrive} (.{arrive_scope}) and {wait} (.{wait_scope}), whose scopes do not "
        "include each other's threads",
        "needs .{scope} scope on both sides",
        "Between the blocks of a cluster an arrive and a wait synchronise only at .cluster scope (PTX ISA 8.9). For data that is a race; for a slot that is only refilled after its reads, libraries "
        "that leave the scope at its default (.cta) are in wide use and no failure is known: for review by default, an error under the strict policy.",
        severity="review",
    ),
    Entry(
        "S030",
        "a peer's shared memory touched before the peer is known to run",
        "{what} on {line} by {user} reaches into {target}, and nothing orders it after that CTA's start",
        "add a cluster barrier (barrier.cluster.arrive + barrier.cluster.wait, cluster.sync()) by all threads of the cluster before {line}; where its arrive stands there already, move the access behind the wait",
        "The blocks of a cluster are launched together, but one may not have started executing when another runs ahead. Some synchronisation that comes from the target block (a cluster barrier at "
        "the entry) must precede the first access to its shared memory or barriers (PTX ISA 2.2.2; CUDA Programming Guide, distributed shared memory).",
    ),
    Entry(
        "S031",
        "a peer's shared memory touched when the peer may have exited",
        "remote {what} on {line} by {user} reaches into {target}, which may exit ({end}) before it is done",
        "add a cluster barrier (barrier.cluster.arrive + barrier.cluster.wait, cluster.sync()) by all threads of the cluster after {line} and before {target} returns on {end}",
        "A block's shared memory is gone when its last thread exits. Every access of a peer must be ordered before that exit, by a cluster barrier before the return or another edge to a thread of "
        "the target. Otherwise the hardware raises 'cluster target block not present', or reads what the next block wrote.",
    ),
    Entry(
        "S032",
        "a bulk store still reading shared memory at exit",
        "the {what} of {line} may still {verb} shared memory of {cta} when it exits on {end}: nobody waited for its bulk group",
        "add cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0 in the issuing thread, before it exits",
        "The ISA does not say that a block's shared memory outlives the block for the sake of a copy in flight; every library waits for the read at least.",
        severity="review",
    ),
    Entry(
        "S033",
        "a copy in flight when its block exits",
        "the {what} of {line} may still {verb} shared memory of {cta} when it exits on {end}",
        "wait for its completion (the mbarrier that it signals, or a cluster barrier after the receiver has waited) before the block exits",
        "A copy that lands in, or reads from, the shared memory of a block that has exited is undefined.",
    ),
    Entry(
        "S034",
        "a live mbarrier touched by other accesses",
        "{what} on {use} {verb} the bytes of {barrier}, which is live since {init}",
        "keep data apart from the barriers (check sizes and offsets), or execute mbarrier.inval before the memory is reused",
        "An mbarrier is opaque: between mbarrier.init and mbarrier.inval only mbarrier operations may touch its 8 bytes (PTX ISA 9.7.13.15). An overwritten barrier hangs, or lets waiters through.",
    ),
    Entry(
        "S035",
        "bytes that no phase of an mbarrier expected",
        "{count} bytes of copies landed on the mbarrier at shared address {address} beyond what its phases expected: {expected}",
        "{how}",
        "A phase completes as soon as its arrivals are there and the bytes expected so far have landed. Copies that bring more than was expected let it complete before all data are there, or leave "
        "the next phase with a negative transaction count (PTX ISA 9.7.13.15).",
    ),
    Entry(
        "S036",
        "an mbarrier used before its initialisation is ordered before it",
        "{operation} on {barrier} ({use}) by {user} is not ordered after its initialisation on {init}",
        "fence.mbarrier_init.release.cluster and a barrier between the init and the first use",
        "mbarrier.init must happen before every other operation on the object, through an edge that does not come from the barrier itself: bar.sync inside a block, "
        "fence.mbarrier_init.release.cluster and a cluster barrier for users in other blocks (PTX ISA 9.7.13.15).",
    ),
    Entry(
        "S037",
        "an mbarrier used after its end",
        "{operation} on {barrier} ({use}) after it was invalidated on {end}",
        "move mbarrier.inval behind the last use, with a barrier in between, or initialise the object again",
        "After mbarrier.inval the memory holds no mbarrier; every operation but mbarrier.init on it is undefined (PTX ISA 9.7.13.15).",
    ),
    Entry(
        "S038",
        "a live mbarrier initialised again",
        "{barrier}, live since {first}, is initialised again on {again}",
        "execute mbarrier.inval first (after all users are done), or initialise it once only",
        "mbarrier.init on a location that holds a valid mbarrier is undefined, even when nobody uses it at the moment (PTX ISA 9.7.13.15).",
    ),
    Entry(
        "S039",
        "an mbarrier invalidated while others may still use it",
        "the use of {barrier} on {use} is not ordered before mbarrier.inval on {end}",
        "add a barrier between the last use and mbarrier.inval",
        "mbarrier.inval ends the object; all other operations on it must happen before.",
    ),
    Entry(
        "S040",
        "an mbarrier phase that nobody waited for",
        "{line} arrives on phase {following} of {barrier} while no wait has returned true for phase {phase}",
        "wait for phase {phase} of {barrier} (mbarrier.try_wait) in at least one thread, and order that wait before the arrive on {line}; if all these arrivals are meant for one phase, raise the count "
        "given to mbarrier.init",
        "At least one successful wait for a phase must happen before any arrive on the next one (PTX ISA 9.7.13.15, phase of the mbarrier object). Otherwise a waiter can miss a phase and, since only the "
        "parity is compared, wait for ever or pass too early.",
    ),
    Entry(
        "S041",
        "one named barrier shared by groups that are not ordered",
        "named barrier {barrier} ({line}) is used by two groups of warps with nothing ordering their phases: a warp of one group may complete the other's phase",
        "give each group a barrier id of its own (0 to 15)",
        "A named barrier counts arrivals, not identities. Two groups may use one id only if something orders the first group's phase before the second group's arrivals (PTX ISA 9.7.13.1).",
    ),
    Entry(
        "S042",
        "an arrive that does not fit an mbarrier's count",
        "{mnemonic} by {thread} at shared address {address}: {what}",
        "count the arrivals of one phase: together they must be exactly the count given to mbarrier.init",
        "The pending count of a phase must not fall below zero; an arrive with noComplete must not be the one that completes the phase, and arrive_drop must leave a count that others can meet "
        "(PTX ISA 9.7.13.15).",
    ),
    Entry(
        "S043",
        "a tensor map used after a change without a tensormap proxy fence",
        "the tensor map at {where} is changed on {change} and used by the copy on {use}, with no fence.proxy.tensormap {lacks}",
        "execute fence.proxy.tensormap::generic.release.gpu after the change on {change}, then, ordered after it, fence.proxy.tensormap::generic.acquire.gpu [map], 128 in the thread that issues {use}",
        "Tensor copies read their map through the tensormap proxy. A map that the kernel has written (tensormap.replace, or stores) is seen by them only after a release fence of that proxy by the "
        "writer and an acquire fence, with the map's address and size 128, by the user (PTX ISA 9.7.13.4).",
    ),
    Entry(
        "S044",
        "a swizzled tile that does not start on its pattern",
        "the TMA tile at {where} ({line}) uses swizzle {swizzle}, whose pattern repeats every {period} bytes, but starts {offset} bytes behind such a boundary",
        "align the {swizzle}-swizzled tile to {period} bytes",
        "The hardware swizzles by address bits (bits 7 to 9 for 128B), so a tile off the boundary comes out rotated: readers that count rows from the tile's start, and wgmma descriptors with base "
        "offset 0, find other columns (PTX ISA 5.5.7).",
    ),
    Entry(
        "S045",
        "TMA and wgmma disagree on the swizzle",
        "the tile at {where} is loaded with swizzle {tma} ({load}) and read by wgmma through a descriptor of swizzle {descriptor} ({use})",
        "use one swizzle in both: the tensor map's and bits 62-63 of the matrix descriptor (1 = 128B, 2 = 64B, 3 = 32B)",
        "The descriptor must name the layout that the bytes have; the codes of tensor maps and of wgmma descriptors differ (PTX ISA 5.5.7 and 9.7.15.5).",
    ),
    Entry(
        "S046",
        "a relaxed synchronisation that orders nothing",
        "race on {where}: the {first} on {first_line} and the {second} on {second_line} are not ordered: the {relaxed} on {sync_line} between them is relaxed and orders no memory access",
        "drop .relaxed, or add fence.acq_rel of sufficient scope beside it",
        "barrier.cluster.arrive.relaxed and relaxed mbarrier operations order execution, not memory: without a fence.acq_rel of sufficient scope before the arrive (and after a relaxed wait) earlier "
        "accesses are not visible to others (PTX ISA 8.8, 9.7.13.3).",
    ),
    Entry(
        "S047",
        "registers of a wgmma touched before it has ended",
        "{instruction} on {use} touches registers of the wgmma on {product}, which may still be in flight: no wgmma.wait_group covers it",
        "execute {commit}wgmma.wait_group {count} after {product}, before {use}",
        "wgmma.mma_async writes its accumulators, and reads a register operand, asynchronously: until wgmma.wait_group has covered its group the registers must not be touched, except as accumulators of "
        "further wgmma of the same shape (PTX ISA 9.7.15).",
    ),
    Entry(
        "S049",
        "a state token of a phase long past",
        "{mnemonic} by {thread} asks with the state token of phase {phase} while the barrier is in phase {current}",
        "ask with the token that the last arrive gave, before another phase completes; or wait by parity",
        "Only the current phase and the one just before it may be asked about (PTX ISA 9.7.13.15, test_wait): with an older token the answer is undefined.",
    ),
    Entry(
        "S048",
        "a wgmma without its wgmma.fence",
        "the wgmma on {product}, by {thread}: {why}",
        "execute wgmma.fence (warpgroup_arrive) in all threads of the warpgroup before {product}, after the last access to its registers",
        "wgmma.fence orders register accesses with the asynchronous wgmma.mma_async: it is needed before a warpgroup's first one, and wherever an accumulator or a register of operand A was accessed "
        "in between; only products of the same shape on the same accumulators may follow each other without it (PTX ISA 9.7.15, wgmma.fence).",
    ),
)
