"""A peer sends back what it receives: all of it, in order, but in pieces of its own making and whenever it likes.

`Send` and `Close` are up to us. `Receive` and `Closed` are up to the peer, and nobody knows beforehand which pieces come
and when. All that can be said is what may come: that is what their guards say.
"""

MOST = 6

under_way = ""  # what was sent and did not come back yet
is_open = True  # we may still send
is_over = False  # the peer has closed the connection, too


def Send(text):
    global under_way
    under_way += text


def SendEnabled(text):
    return is_open and len(under_way) + len(text) <= MOST


def Close():
    global is_open
    is_open = False


def CloseEnabled():
    return is_open


def Receive(text):
    global under_way
    under_way = under_way[len(text) :]


def ReceiveEnabled(text):
    return text != "" and under_way.startswith(text)


def Closed():
    global is_over
    is_over = True


def ClosedEnabled():
    return not is_open and not is_over and under_way == ""


def Accepting():
    return is_over


state = ("under_way", "is_open", "is_over")
actions = (Send, Close, Receive, Closed)
observables = (Receive, Closed)
cleanup = (Close,)
enablers = {
    Send: (SendEnabled,),
    Close: (CloseEnabled,),
    Receive: (ReceiveEnabled,),
    Closed: (ClosedEnabled,),
}
domains = {Send: {"text": ["a", "bc", "def"]}}
