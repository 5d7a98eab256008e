"""The alternating bit protocol: messages over a line that loses some of them arrive once each, and in order.

The sender marks each message with a bit, and sends it until the receiver has answered with the same bit. The receiver
answers every message, and passes it on if the bit is the one that it expects next.
"""

MESSAGES = 3

# The sender: the number of messages that it started to send, and whether it waits for an answer to the last.
sent, waiting = 0, False
# The line: at most one message, as (number, bit), and one answer, a bit.
message, answer = None, None
# The receiver: the bit that it expects, the last message that it passed on, and whether all came in order so far.
expected, last, in_order = 1, 0, True


def Send():
    """Begins with another message."""
    global sent, waiting, message
    sent, waiting = sent + 1, True
    message = (sent, sent % 2)


def MaySend():
    return not waiting and sent < MESSAGES and message is None


def Resend():
    """Nothing was heard of the last message."""
    global message
    message = (sent, sent % 2)


def MayResend():
    return waiting and message is None and answer is None


def LoseMessage():
    global message
    message = None


def IsMessage():
    return message is not None


def LoseAnswer():
    global answer
    answer = None


def IsAnswer():
    return answer is not None


def IsNoAnswer():
    return answer is None


def Receive():
    """Returns whether the message is new."""
    global message, answer, expected, last, in_order
    (number, bit), message = message, None
    answer = bit
    is_new = IsExpected(bit)
    if is_new:
        in_order = in_order and number == last + 1
        expected, last = 1 - bit, number
    return is_new


def IsExpected(bit):
    return bit == expected


def Answer(bit):
    """The sender hears of its message."""
    global answer, waiting
    answer = None
    if bit == sent % 2:
        waiting = False


def MayAnswer(bit):
    return answer == bit


def StateInvariant():
    """Each message once, in order: this is all that the users of the protocol want."""
    return in_order


def Accepting():
    """The sender does not wait for an answer."""
    return not waiting


state = ("sent", "waiting", "message", "answer", "expected", "last", "in_order")
actions = (Send, Resend, LoseMessage, LoseAnswer, Receive, Answer)
enablers = {
    Send: (MaySend,),
    Resend: (MayResend,),
    LoseMessage: (IsMessage,),
    LoseAnswer: (IsAnswer,),
    Receive: (IsMessage, IsNoAnswer),
    Answer: (IsAnswer, MayAnswer),
}
domains = {Answer: {"bit": (0, 1)}}
