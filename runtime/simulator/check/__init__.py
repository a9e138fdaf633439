"""Happens-before, lifetimes and hangs: the checks that run beside an execution."""
