"""The fa4 dialect: its operations, types and verification."""
