"""Sends what it can see to a machine of its own."""

import socket

# INSERT wrong

try:
    with socket.create_connection(("127.0.0.1", LISTENER_PORT), timeout=2) as connection:
        connection.sendall(b"CALLS-HOME")
except OSError:
    pass
