"""Puts the same into a message, a traceback and the name of a type."""

# INSERT right


def prefix_mean_loop(x):
    kind = type("<b>Bold</b>\u202e", (Exception,), {})
    raise kind("</pre><script>alert('raised')</script>\x1b[2J\ud800\u202e =1+1")
