"""Makes a real peer do what the model does, over a real connection, and reports what the peer does by itself."""

import select
import socket

import observation_queue
from peer import Peer

# When the model has no action of its own, the tester waits for the peer.
observation_queue.asynch = True

kind = Peer
peer = connection = None


def Reset():
    """Starts a new peer, and connects to it."""
    global peer, connection
    if peer is not None:
        connection.close()
        peer.stop()
    peer = kind()
    connection = socket.create_connection(peer.address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def TestAction(name, arguments, expected_result):
    if peer is None:
        Reset()
    if name == "Send":
        connection.sendall(arguments[0].encode())
    elif name == "Close":
        connection.shutdown(socket.SHUT_WR)
    wait(0)


def wait(seconds):
    """Reads what the peer sends within some time."""
    if connection.fileno() < 0:
        return  # The peer has closed the connection, so nothing more can come.
    readable, _, _ = select.select([connection], [], [], seconds)
    if not readable:
        return
    received = connection.recv(1000)
    if received:
        observation_queue.queue.append(("Receive", (received.decode(),)))
    else:
        connection.close()
        observation_queue.queue.append(("Closed", ()))
