"""Reading PTX text."""
