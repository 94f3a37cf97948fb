"""One module a lab: its docstring's first line is the title, PARTS names what must be written, ``run`` measures."""
