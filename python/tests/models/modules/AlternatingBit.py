"""Sender, receiver and a channel that loses messages."""

sending, expected = 0, 0
channel = ()
received = 0


def Send(bit):
    global channel
    channel += (("data", bit),)


def SendEnabled(bit):
    return bit == sending and len(channel) < 2


def Lose():
    global channel
    channel = channel[1:]


def ChannelFull():
    return len(channel) > 0


def Receive():
    global channel, expected, received
    (_, bit), channel = channel[0], channel[1:]
    if bit == expected:
        expected, received = 1 - expected, received + 1
    channel += (("ack", bit),)
    return bit


def ReceiveEnabled():
    return channel and channel[0][0] == "data"


def Ack(bit):
    global channel, sending, received
    channel = channel[1:]
    if bit == sending:
        sending, received = 1 - sending, 0


def AckEnabled(bit):
    return channel and channel[0] == ("ack", bit)


def StateInvariant():
    return received <= 1


def Accepting():
    return sending == expected


state = ("sending", "expected", "channel", "received")
actions = (Send, Lose, Receive, Ack)
enablers = {
    Send: (SendEnabled,),
    Lose: (ChannelFull,),
    Receive: (ReceiveEnabled,),
    Ack: (AckEnabled,),
}
domains = {Send: {"bit": (0, 1)}, Ack: {"bit": lambda: {0, 1}}}
