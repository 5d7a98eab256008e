"""Designs of systems that stay as they are when more kinds and places are drawn from.

Each is judged wrongly if one thing is left out of a state, or of what an exploration does about states.
"""

# fmt: off
#: Holders, and the other decisions, by seed.
PINNED = {
    7: ((
        dict(kind_name='cycle', place_name='global of a submodule',
             changes=(0, 1, 2), resets=True, raises=1, guarded=2),
        dict(kind_name='class of an object', place_name='object in a slot', changes=(0, 2), resets=True),
    ), dict(splits=True, target='unreachable')),
    9: ((
        dict(kind_name='marked list', place_name='global of the harness', changes=(0, 1), raises=1),
        dict(kind_name='bytes', place_name='bound method in a slot', changes=(0, 2), guarded=2, is_made=True),
    ), dict(target='unreachable')),
    10: ((
        dict(kind_name='number as a key', place_name='attribute of a base class', changes=(1, 2), resets=True),
        dict(kind_name='all equal', place_name='lru_cache', changes=(0, 1), resets=True),
    ), dict(style='from', target='mixed')),
    13: ((
        dict(kind_name='nested', place_name='default argument', changes=(0, 1), is_hidden=True),
    ), dict()),
    27: ((
        dict(kind_name='dict that grows', place_name='replaced default', changes=(0, 1), is_hidden=True, resets=True),
        dict(kind_name='marked list', place_name='attribute of a metaclass', changes=(0, 1), raises=0),
    ), dict(splits=True, style='from')),
    30: ((
        dict(kind_name='frozen set', place_name='object in a slot', changes=(0, 1, 2), is_hidden=True, guarded=0),
        dict(kind_name='marked list', place_name='partial', changes=(0, 1)),
    ), dict()),
    36: ((
        dict(kind_name='hidden random', place_name='slot and module', changes=(0, 1, 2)),
    ), dict(splits=True, style='as', detector='assert', target='mixed')),
    50: ((
        dict(kind_name='shared in a dict', place_name='from-import', changes=(0, 1, 2), raises=1),
        dict(kind_name='number as a key', place_name='built-in method in a slot', changes=(0, 1, 2), is_made=True),
    ), dict(splits=True, detector='assert', target='mixed')),
    64: ((
        dict(kind_name='dict of three', place_name='partial in a slot', changes=(0, 1)),
        dict(kind_name='dict of three', place_name='closure in a slot', changes=(0, 1), resets=True),
    ), dict(shares=((0, 1),), splits=True)),
    65: ((
        dict(kind_name='number as a key', place_name='cached property', changes=(0, 1, 2)),
        dict(kind_name='default dict', place_name='class attribute', changes=(1, 2)),
    ), dict(splits=True, detector='assert')),
    70: ((
        dict(kind_name='number in a list', place_name='partial in a slot',
             changes=(0, 1, 2), is_hidden=True, is_made=True),
    ), dict(style='from', target='mixed')),
    74: ((
        dict(kind_name='nan in a list', place_name='function attribute', changes=(0, 1)),
        dict(kind_name='shared in a dict', place_name='partial in a slot', changes=(0, 1), is_hidden=True),
    ), dict()),
    87: ((
        dict(kind_name='count', place_name='dict cache', changes=(0, 1)),
    ), dict(target='mixed')),
    94: ((
        dict(kind_name='dict of three', place_name='closure in a slot', changes=(0, 1), is_made=True),
    ), dict(splits=True, target='mixed')),
    96: ((
        dict(kind_name='colliding set', place_name='late global', changes=(1, 2), is_hidden=True, guarded=1),
    ), dict(splits=True, detector='assert')),
    118: ((
        dict(kind_name='nan', place_name='late global', changes=(0, 1, 2), guarded=0),
        dict(kind_name='enum', place_name='global of a submodule', changes=(0, 1, 2), raises=0),
    ), dict(detector='assert')),
    131: ((
        dict(kind_name='nan in a list', place_name='bound method in a slot', changes=(0, 1, 2)),
        dict(kind_name='frozen set', place_name='global of a base', changes=(1, 2)),
        dict(kind_name='counter', place_name='built-in method in a slot', changes=(0, 1, 2)),
    ), dict(style='from')),
    136: ((
        dict(kind_name='set of words', place_name='list in a slot', changes=(0, 2), resets=True),
        dict(kind_name='nested', place_name='replaced default', changes=(0, 1, 2)),
        dict(kind_name='zero', place_name='object in a slot', changes=(0, 1), resets=True),
    ), dict(splits=True, detector='assert', target='mixed')),
    161: ((
        dict(kind_name='class of an object', place_name='list in a slot', changes=(0, 1), resets=True),
        dict(kind_name='class of an object', place_name='slot and module', changes=(0, 1), is_made=True),
    ), dict(shares=((0, 1),), splits=True, style='as', detector='assert')),
    167: ((
        dict(kind_name='random', place_name='list in a slot', changes=(0, 1), resets=True, guarded=0, is_made=True),
    ), dict(splits=True)),
    195: ((
        dict(kind_name='frozen set', place_name='nested', changes=(0, 1, 2), is_hidden=True),
    ), dict(splits=True)),
    207: ((
        dict(kind_name='default dict', place_name='foreign module', changes=(0, 1), resets=True),
        dict(kind_name='default dict', place_name='attribute of a metaclass', changes=(0, 1), resets=True),
    ), dict(shares=((0, 1),), style='from', target='mixed')),
    369: ((
        dict(kind_name='dict of three', place_name='thread-local', changes=(0, 1)),
        dict(kind_name='dict', place_name='slot and module', changes=(0, 1, 2), raises=0, is_made=True),
    ), dict(splits=True, style='as', detector='assert', target='first')),
    663: ((
        dict(kind_name='class of an object', place_name='list in a slot', changes=(1, 2)),
        dict(kind_name='ordered dict', place_name='slot', changes=(1, 2), resets=True),
        dict(kind_name='one field', place_name='global of the harness', changes=(0, 1), guarded=1),
    ), dict(splits=True, style='from', detector='assert', target='unreachable')),
    789: ((
        dict(kind_name='nan in a list', place_name='function attribute', changes=(0, 1, 2)),
    ), dict(splits=True, detector='raise', target='mixed')),
    1003: ((
        dict(kind_name='ring', place_name='slot', changes=(1, 2)),
        dict(kind_name='shared inside', place_name='partial in a slot', changes=(0, 1, 2), resets=True, is_made=True),
    ), dict(splits=True, style='from', target='mixed')),
    1103: ((
        dict(kind_name='deque of other length', place_name="method of the module's object in a slot",
             changes=(1, 2), guarded=2, is_made=True),
        dict(kind_name='marked list', place_name='from-import by the harness', changes=(0, 1), resets=True),
    ), dict(detector='assert')),
    2207: ((
        dict(kind_name='deque of other length', place_name='object in a slot',
             changes=(0, 1, 2), resets=True, guarded=2, slots=2),
    ), dict(style='from', target='mixed')),
    10106: ((
        dict(kind_name='count', place_name='slot', changes=(0, 1), resets=True),
    ), dict(splits=True, is_abstract=True)),
}
# fmt: on
