"""Arithmetic of PTX instructions on numpy arrays, bit for bit where the ISA defines the bits."""
