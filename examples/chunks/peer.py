"""A peer that sends back what it receives, and two that do not quite."""

import queue
import random
import socket
import threading
import time

#: Not the generator that the tester seeds: what a peer does is beyond its control.
CHANCE = random.Random()


class Peer:
    """Serves one connection. A thread reads; another one writes, in pieces, and takes its time."""

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
            pass  # Who was on the other end did not wait for us.
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
        """Pieces of any size."""
        while text:
            size = CHANCE.randint(1, len(text))
            yield text[:size]
            text = text[size:]

    def is_ending(self):
        """Told when nothing more will come in."""

    def stop(self):
        """Waits until the threads are at their end. The other end of the connection has to be closed before."""
        self.reader.join()
        self.writer.join()


class Repeating(Peer):
    """Says some things twice."""

    def cut(self, text):
        for piece in super().cut(text):
            yield piece
            if CHANCE.random() < 0.5:
                yield piece


class Hasty(Peer):
    """Hangs up as soon as the other end does, whatever it still had to say."""

    def is_ending(self):
        self.connection.close()
