"""Prints what acts on a terminal, a browser or a spreadsheet, beside right work."""

import os

print("\x1b[2J\x1b]0;title\x07\x1b[31mred\x1b[0m\u202e backwards")
print("</pre><script>alert('printed')</script><img src=x onerror=alert(1)>{{ 7 * 7 }}")
print("=HYPERLINK(\"http://localhost\",\"click\")")
os.write(1, b"\xff\xfe\x00 not text\n")

# INSERT right
