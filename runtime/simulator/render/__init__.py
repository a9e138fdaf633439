"""Pictures of a simulated run: a self-contained HTML page, a Perfetto trace, a summary for the terminal. Nothing but the standard library and numpy is needed."""
