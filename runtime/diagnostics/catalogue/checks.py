"""Diagnostics of the static checks: C100 to C139 the protocol, C140 to C159 resources, C160 to C179 TMA."""

from fa4dsl.runtime.diagnostics.catalogue import checks_clusters, checks_protocol, checks_resources
from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (*checks_protocol.ENTRIES, *checks_clusters.ENTRIES, *checks_resources.ENTRIES)
