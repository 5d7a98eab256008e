"""A pile of plates: the plate put down last is the first to be taken."""

CAPACITY = 3

plates = []

def room_left():
    return len(plates) < CAPACITY

def put_enabled(plate):
    return room_left()

def put(plate):
    plates.append(plate)

def take_enabled():
    return plates

def take():
    return plates.pop()

def count():
    return len(plates)

def accepting():
    return not plates

state = ('plates',)
actions = (put, take, count)
enablers = {put: (put_enabled,), take: (take_enabled,)}
domains = {put: {'plate': ['red', 'blue']}}
