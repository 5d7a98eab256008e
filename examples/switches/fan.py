"""A fan as a whole: it can be plugged in, checked and switched on in any order, and then turned.

Tests of all the ways to start a fan are not useful. Tests of `Turn` are.
"""

plugged, power, checked, speed = False, False, False, 0


def Plug():
    global plugged
    plugged = True


def Unplug():
    global plugged
    plugged = False


def PowerOn():
    global power
    power = True


def PowerOff():
    global power, speed
    power, speed = False, 0


def Check():
    global checked
    checked = not checked


def Turn():
    global speed
    speed = (speed + 1) % 3
    return speed


def Accepting():
    return not plugged and not power


state = ("plugged", "power", "checked", "speed")
actions = (Plug, Unplug, PowerOn, PowerOff, Check, Turn)
enablers = {
    Plug: (lambda: not plugged,),
    Unplug: (lambda: plugged and speed == 0,),
    PowerOn: (lambda: not power,),
    PowerOff: (lambda: power,),
    Turn: (lambda: plugged and power,),
}
