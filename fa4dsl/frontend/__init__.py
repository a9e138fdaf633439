"""From a Python function's source to fa4 IR: source text, the interpreter of the syntax tree, values, and control flow."""
