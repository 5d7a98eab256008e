"""A peer that sends back what it receives, and two with a bug."""

import queue
import random
import socket
import threading
import time

#: Not the generator that the tester seeds: the tester does not control the peer.
CHANCE = random.Random()


class Peer:
    """Serves one connection. A thread reads; another one writes, in pieces and with delays."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.pieces = queue.Queue()
        self.connection = None
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.writer = threading.Thread(target=self.write, daemon=True)
        self.reader.start()

    def read(self):
        self.connection, _ = self.listener.accept()
        self.listener.close()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.writer.start()
        try:
            while received := self.connection.recv(1000):
                for piece in self.cut(received):
                    self.pieces.put(piece)
        except ConnectionError:
            pass  # The other end closed the connection.
        self.pieces.put(None)
        self.is_ending()

    def write(self):
        try:
            while (piece := self.pieces.get()) is not None:
                time.sleep(CHANCE.choice([0, 0.001, 0.002]))
                self.connection.sendall(piece)
        except OSError:
            pass
        self.connection.close()

    def cut(self, text):
        """Cuts a text into pieces of any size."""
        while text:
            size = CHANCE.randint(1, len(text))
            yield text[:size]
            text = text[size:]

    def is_ending(self):
        """Called when nothing more will come in."""

    def stop(self):
        """Waits until the threads have ended. The other end of the connection has to be closed first."""
        self.reader.join()
        self.writer.join()


class Repeating(Peer):
    """Sends some pieces twice."""

    def cut(self, text):
        for piece in super().cut(text):
            yield piece
            if CHANCE.random() < 0.5:
                yield piece


class Hasty(Peer):
    """Closes the connection as soon as the other end does, even with unsent text."""

    def is_ending(self):
        self.connection.close()
