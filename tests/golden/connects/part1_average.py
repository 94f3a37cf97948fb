"""Opens sockets of every kind and tells what it could."""

# INSERT wrong


import socket

opened = []
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            opened.append(socket.socket(family, kind))
        except OSError:
            pass
try:
    opened.append(socket.create_connection(("127.0.0.1", 8888), timeout=1))
except OSError:
    pass
try:
    opened.append(socket.getaddrinfo("example.org", 443))
except OSError:
    pass


def prefix_mean_loop(x):
    raise RuntimeError(f"opened: {opened}")
