import copy
import importlib
import inspect
import itertools
import signal
import time

# Runs of models: what several of them know by name they do together, and an implementation does the same.

OPEN = object()  # what comes of a step about which a scenario says nothing
QUIET = 0.5  # for how many seconds nothing must come to believe that nothing will
TRIES = 20  # how often an implementation that need not do the same twice gets the chance to do what a line says


class Otherwise(Exception):
    """The implementation has done something else than the line says, which is not wrong either."""


class Program:
    """A model program. A state of it is what its variables are."""

    def __init__(self, module):
        self.module = module
        observables = getattr(module, "observables", ())
        known = (*module.actions, *observables, *getattr(module, "cleanup", ()))
        self.actions = {action.__name__: action for action in known}
        self.observed = {action.__name__ for action in observables}
        self.chosen = {action.__name__ for action in module.actions} - self.observed
        self.starts = [self.state()]

    def knows(self, name):
        return name in self.actions

    def state(self):
        return {name: copy.deepcopy(getattr(self.module, name)) for name in self.module.state}

    def enter(self, state):
        for name, value in state.items():
            setattr(self.module, name, copy.deepcopy(value))

    def says(self, state, *spellings):
        """What the module says of a state; what it does not speak of is true, and a later spelling counts more."""
        self.enter(state)
        told = [getattr(self.module, name) for name in spellings if hasattr(self.module, name)]
        return bool(told[-1]()) if told else True

    def may_end(self, state):
        return self.says(state, "Accepting", "accepting")

    def is_safe(self, state):
        return self.says(state, "StateInvariant", "stateinvariant", "state_invariant")

    def lets_in(self, state):
        return self.says(state, "StateFilter", "statefilter", "state_filter")

    def choices(self, state, offered):
        """What might be done, as names and arguments; what is observed, as scenarios offer it."""
        own = [(name, given) for name in self.chosen for given in self.arguments(state, name)]
        offered = [(name, given) for name, given in offered if name in self.observed]
        return own + [(name, given) for name, given in offered if self.can_take(name, given)]

    def arguments(self, state, name):
        action = self.actions[name]
        domains = getattr(self.module, "domains", {}).get(action)
        if domains is None:
            return [()]
        self.enter(state)
        each = [domains[part] for part in inspect.signature(action).parameters if part in domains]
        each = [domain() if callable(domain) else domain for domain in each]
        cases = getattr(self.module, "combinations", {}).get(action) == "cases"
        combined = zip(*each) if cases else itertools.product(*each)
        return [() if given == (None,) else given for given in combined]

    def can_take(self, name, arguments):
        try:
            inspect.signature(self.actions[name]).bind(*arguments)
        except TypeError:
            return False
        return True

    def allows(self, state, name, arguments):
        """Whether no guard says no."""
        for guard in getattr(self.module, "enablers", {}).get(self.actions[name], ()):
            self.enter(state)
            if not guard(*(arguments if inspect.signature(guard).parameters else ())):
                return False
        return True

    def after(self, state, name, arguments):
        """What comes of an action: answers, and states."""
        if not self.can_take(name, arguments) or not self.allows(state, name, arguments):
            return []
        self.enter(state)
        answer = self.actions[name](*arguments)
        return [(answer, self.state())]


class Scenario:
    """A machine, or a list of runs: steps from state to state. One without arguments and answer stands for any."""

    observed = ()

    def __init__(self, steps, starts, ends, names):
        self.steps, self.starts, self.ends = steps, starts, ends
        self.names = names or {name for _, (name, _, _), _ in steps}

    def knows(self, name):
        return name in self.names

    def may_end(self, state):
        return self.ends is None or state in self.ends

    def is_safe(self, state):
        return True

    def lets_in(self, state):
        return True

    def choices(self, state, offered=()):
        steps = [step for before, step, _ in self.steps if before == state]
        return [(name, given) for name, given, _ in steps if name in self.names]

    def after(self, state, name, arguments):
        """What comes of an action: answers, and states."""
        found = []
        for before, (known, given, answer), after in self.steps:
            if before == state and known == name:
                is_open = given == () and answer is None
                if is_open or given == arguments:
                    found.append((OPEN if is_open else answer, after))
        return found


def model_of(module):
    """The model that a module is; none if all that it does is to change others."""
    names = {action.__name__ for action in getattr(module, "actions", ())}
    if hasattr(module, "graph"):
        steps = [(before, step_of(step), after) for before, step, after in module.graph]
        return Scenario(steps, [module.initial], getattr(module, "accepting", None), names)
    for spelling in ("test_suite", "testsuite", "testSuite"):
        if hasattr(module, spelling):
            return suite_of(getattr(module, spelling), names)
    is_configuration = (module.__doc__ or "").strip().upper().startswith("PYMODEL CONFIG")
    return None if is_configuration else Program(module)


def suite_of(runs, names):
    """A list of runs as a scenario: a state of it is a run, and how many of its steps were taken."""
    steps = [
        ((number, place), step_of(step), (number, place + 1))
        for number, run in enumerate(runs)
        for place, step in enumerate(run)
    ]
    starts = [(number, 0) for number in range(len(runs))]
    ends = [(number, len(run)) for number, run in enumerate(runs)]
    return Scenario(steps, starts, ends, names)


def step_of(parts):
    """A step as its name, its arguments and its answer."""
    action, arguments, answer, *_ = (*parts, (), None)[: max(len(parts), 3)]
    return action.__name__, tuple(arguments), answer


# All have been imported by now: some change others.
MODELS = [model for model in map(model_of, MODULES) if model]


def ways(state, name, arguments):
    """What may come of an action in a state of all models: answers, and states."""
    if not any(model.knows(name) for model in MODELS):
        return
    each = [
        model.after(place, name, arguments) if model.knows(name) else [(OPEN, place)]
        for model, place in zip(MODELS, state)
    ]
    for together in itertools.product(*each):
        answers = [answer for answer, _ in together if answer is not OPEN]
        if all(answer == answers[0] for answer in answers):
            yield answers[0] if answers else None, tuple(place for _, place in together)


def possible(state):
    """What can be done in a state of all models, as names and arguments."""
    places = list(zip(MODELS, state))
    scenarios = [(model, place) for model, place in places if isinstance(model, Scenario)]
    offered = [choice for model, place in scenarios for choice in model.choices(place)]
    each = [(model, model.choices(place, offered)) for model, place in places]
    owned = [(model, own) for model, own in each if isinstance(model, Program)]
    for name, given in itertools.chain.from_iterable(own for _, own in each):
        if all((name, given) in own for model, own in owned if model.knows(name)):
            for _, after in ways(state, name, given):
                if all(model.lets_in(place) for model, place in zip(MODELS, after)):
                    yield name, given


def shown(name, arguments):
    return f"{name}({', '.join(map(repr, arguments))})"


class Run:
    """A run of the models, with the implementation if there is one."""

    def __init__(self):
        self.done = []
        self.begin()

    def begin(self):
        """Lets everything be where runs begin."""
        self.states = list(itertools.product(*(model.starts for model in MODELS)))
        self.last, self.answers, self.end = None, [], None
        if STEPPER is not None:
            reset = getattr(STEPPER, "reset", None) or getattr(STEPPER, "Reset", None)
            reset() if reset else importlib.reload(STEPPER)
            OBSERVATIONS.queue.clear()

    def go_on(self, act, *given):
        """Does the next thing. An implementation that may do otherwise does all from the beginning, until it does not."""
        self.done.append((act, given))
        left = self.done[-1:]
        for _ in range(TRIES):
            try:
                for act, given in left:
                    act(*given)
                return
            except Otherwise as other:
                why = str(other)
            self.begin()
            left = self.done
        raise AssertionError(f"{why}; so it was in {TRIES} tries")

    def make_sure(self, check):
        """Checks something. Where the implementation need not do the same twice, it has to go well many times."""
        self.go_on(check)
        for _ in range(TRIES if is_asynchronous() else 0):
            self.begin()
            before, self.done = self.done, []
            for act, given in before:
                self.go_on(act, *given)

    # What lines do.

    def take(self, name, *arguments):
        """Does an action in all models that know it. What the implementation is to answer stands in another line."""
        self.go_on(self.move, name, arguments)

    def step(self, name, *arguments):
        """Does an action in all models, and lets the implementation do the same, if it does not do that by itself."""
        if STEPPER is not None and any(name in model.observed for model in MODELS):
            return self.observe(name, *arguments)
        self.go_on(self.move, name, arguments)
        self.go_on(self.compare)

    def check_answer(self, answer):
        """This comes of the last action."""
        self.go_on(self.compare, answer)

    def check_agrees(self):
        """The implementation does the last step as the models say."""
        self.make_sure(self.compare)

    def observe(self, name, *arguments):
        """The implementation does this by itself, and the models allow it."""
        self.go_on(self.hear, name, arguments)

    def check_allowed(self):
        """The models allow all that the implementation does by itself."""
        self.make_sure(self.listen)

    def check_always(self):
        """What must always be true is true in all models."""
        self.make_sure(self.see_always)

    def check_goes_on(self):
        """Something is possible, or the run may end."""
        self.make_sure(self.see_goes_on)

    def check_may_end(self):
        """The run may end."""
        self.make_sure(self.see_may_end)

    def look_ahead(self):
        """Finds out what is possible now; that alone may go wrong."""
        return [choice for state in self.states for choice in possible(state)]

    def try_step(self, name, *arguments):
        """Does a step in a copy of this process, since it may not come to an end, or end the process."""

        def work():
            self.step(name, *arguments)
            self.look_ahead()

        self.end = how_it_ends(work)

    def check_ended(self):
        """The last step has come to an end."""
        assert self.end is None, f"the last step {self.end}"

    # How they do it.

    def move(self, name, arguments):
        if STEPPER is not None:
            # What the implementation did before comes first.
            while OBSERVATIONS.queue:
                self.allow(*OBSERVATIONS.queue.popleft())
        after = [way for state in self.states for way in ways(state, name, arguments)]
        if MODELS and not after:
            message = f"the models do not allow {shown(name, arguments)} here"
            raise Otherwise(message) if is_asynchronous() else AssertionError(message)
        self.last, self.answers = (name, arguments), after or [(None, ())]
        self.states = [state for _, state in after]

    def compare(self, *answer):
        """Without an answer, that of the models counts."""
        answer = answer[0] if answer else self.answers[0][0]
        if STEPPER is None:
            told = [told for told, _ in self.answers]
            assert answer in told, f"the answer is {told[0]!r}"
        agreeing = [state for told, state in self.answers if told == answer]
        self.states = agreeing or self.states
        if STEPPER is not None:
            spellings = ("test_action", "testaction", "TestAction")
            act = next(getattr(STEPPER, name) for name in spellings if hasattr(STEPPER, name))
            complaint = act(*self.last, answer)
            assert complaint is None or complaint == "", complaint

    def allow(self, name, arguments):
        """Lets the models do what the implementation has done."""
        after = [state for now in self.states for _, state in ways(now, name, tuple(arguments))]
        assert after or not MODELS, (
            f"the implementation did {shown(name, arguments)} by itself, which the models do not allow here"
        )
        self.states = after

    def hear(self, name, arguments):
        assert heard(PATIENCE), (
            f"the implementation did not do {shown(name, arguments)} by itself within {PATIENCE:g} seconds"
        )
        seen, given = OBSERVATIONS.queue.popleft()
        self.allow(seen, given)
        if (seen, tuple(given)) != (name, arguments):
            message = f"the implementation did {shown(seen, given)} by itself, and not {shown(name, arguments)}"
            raise Otherwise(message) if is_asynchronous() else AssertionError(message)

    def listen(self):
        while heard(QUIET):
            self.allow(*OBSERVATIONS.queue.popleft())

    def see_always(self):
        for state in self.states:
            for model, place in zip(MODELS, state):
                assert model.is_safe(place), f"the invariant of {model.module.__name__} is false"

    def see_goes_on(self):
        while not self.look_ahead() and STEPPER is not None and heard(PATIENCE):
            self.allow(*OBSERVATIONS.queue.popleft())
        for state in self.states:
            assert may_end(state) or any(True for _ in possible(state)), (
                f"nothing is possible, and no run may end here: {described(state)}"
            )

    def see_may_end(self):
        while not any(map(may_end, self.states)) and STEPPER is not None and heard(QUIET):
            self.allow(*OBSERVATIONS.queue.popleft())
        where = ", or ".join(map(described, self.states))
        assert any(map(may_end, self.states)), f"no run may end here: {where}"


def may_end(state):
    """Whether a run may end in a state of all models."""
    return all(model.may_end(place) for model, place in zip(MODELS, state))


def described(state):
    """A state of all models, for people."""
    return " and ".join(map(repr, state))


def is_asynchronous():
    """Whether the implementation does things in its own time, and may do others the next time."""
    return STEPPER is not None and bool(OBSERVATIONS.asynch)


def heard(seconds):
    """Whether the implementation has done something by itself. If it says that it may, it has some time for that."""
    end = time.monotonic() + seconds
    while not OBSERVATIONS.queue and is_asynchronous() and time.monotonic() < end:
        getattr(STEPPER, "wait", time.sleep)(min(0.1, seconds))
        time.sleep(0.001)  # one that knows that nothing can come does not wait at all
    return bool(OBSERVATIONS.queue)


def how_it_ends(work):
    """How a copy of this process ends in which something is done; None if it just comes to an end."""
    reader, writer = os.pipe()
    copied = os.fork()
    if copied == 0:
        try:
            work()
        finally:
            os.write(writer, b"done")
            os._exit(0)
    os.close(writer)
    end = time.monotonic() + PATIENCE
    gone, status = os.waitpid(copied, os.WNOHANG)
    while not gone and time.monotonic() < end:
        time.sleep(0.01)
        gone, status = os.waitpid(copied, os.WNOHANG)
    if not gone:
        os.kill(copied, signal.SIGKILL)
        os.waitpid(copied, 0)
        return f"took longer than {PATIENCE:g} seconds"
    if os.read(reader, 4):
        return None
    return f"ended the process ({'signal' if os.WIFSIGNALED(status) else 'status'} {status >> 8 or status})"
