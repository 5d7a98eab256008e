"""Registry of running processes.

Each process can be given a readable name, and found again by that name.
"""

pids = []
regs = {}
dead = []

NAMES = ['alpha', 'beta', 'gamma']

def spawn(pid):
    """Start a new process."""
    pids.append(pid)

def register_enabled(name, pid):
    return pids != []

def register(name, pid):
    """Give a name to a process."""
    if name in regs or pid in regs.values() or pid in dead:
        return 'bad argument'
    regs[name] = pid
    return 'ok'

def unregister(name):
    """Forget a name."""
    if name in regs:
        del regs[name]
        return 'ok'
    return 'bad argument'

def whereis(name):
    """Look up a name."""
    return regs.get(name)

def kill_enabled(pid):
    return pid in pids and pid not in dead

def kill(pid):
    """Stop a process."""
    dead.append(pid)
    forget(pid)

def forget(pid):
    for name in list(regs):
        if regs[name] == pid:
            del regs[name]

def state_invariant():
    """No name is given to a process that has been stopped."""
    return all(regs[name] not in dead for name in regs)

state = ('pids', 'regs', 'dead')
actions = (spawn, register, unregister, whereis, kill)
enablers = {register: (register_enabled,), kill: (kill_enabled,)}
domains = {spawn: {'pid': range(1, 5)},
           register: {'name': NAMES, 'pid': lambda: pids},
           unregister: {'name': NAMES},
           whereis: {'name': NAMES},
           kill: {'pid': lambda: pids}}
