"""Has the notebook's shell print every cell before it runs."""

# INSERT wrong

try:
    get_ipython().events.register("pre_run_cell", lambda info: print(info.raw_cell))
except NameError:
    pass
