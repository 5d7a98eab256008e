"""A peer sends back what it receives: all of it, in order, but in pieces of its own making and whenever it likes.

The tester chooses `Send` and `Close`. The peer chooses `Receive` and `Closed`, and the tester cannot predict which pieces
come and when. The guards of these actions say what is allowed.
"""

MOST = 6

awaited_text = ""  # text that was sent and has not come back yet
connected = True  # we may still send
finished = False  # the peer has also closed the connection


def Send(text):
    global awaited_text
    awaited_text += text


def SendEnabled(text):
    return connected and len(awaited_text) + len(text) <= MOST


def Close():
    global connected
    connected = False


def CloseEnabled():
    return connected


def Receive(text):
    global awaited_text
    awaited_text = awaited_text[len(text) :]


def ReceiveEnabled(text):
    return text != "" and awaited_text.startswith(text)


def Closed():
    global finished
    finished = True


def ClosedEnabled():
    return not connected and not finished and awaited_text == ""


def Accepting():
    return finished


state = ("awaited_text", "connected", "finished")
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
