"""A socket: a message arrives in pieces of unknown size."""

buffers = ""
returned = None


def send(message):
    global buffers
    buffers += message


def may_send(message):
    return returned is None and len(buffers) + len(message) <= 4


def receive_call(size):
    global returned
    returned = size


def may_call(size):
    return returned is None and buffers


def receive_return(message):
    global buffers, returned
    buffers = buffers[len(message) :]
    returned = None
    return len(message)


def may_return(message):
    return returned and 0 < len(message) <= returned and buffers.startswith(message)


def pieces():
    return [buffers[:size] for size in range(1, 4)] + ["zz"]


state = ("buffers", "returned")
actions = (send, receive_call, receive_return)
enablers = {send: [may_send], receive_call: [may_call], receive_return: [may_return]}
domains = {
    send: {"message": ["a", "bc"]},
    receive_call: {"size": (1, 3)},
    receive_return: {"message": pieces},
}
