"""The simulator: runs PTX for a whole grid without a GPU and names what is wrong."""
