"""The ground floor: artifacts, diagnostics, tensor maps and the two devices. Imports neither MLIR nor the language."""
