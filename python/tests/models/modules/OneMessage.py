"""One message is sent twice, then acknowledged."""

from AlternatingBit import Ack, Receive, Send

initial = 0
accepting = (4,)
graph = (
    (0, (Send, (0,), None), 1),
    (1, (Send, (0,), None), 2),
    (2, (Receive, (), 0), 3),
    (3, (Receive, (), 0), 3),
    (3, (Ack, (0,), None), 4),
    (4, (Ack, (), None), 4),
)
