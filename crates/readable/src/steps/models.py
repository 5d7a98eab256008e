import copy
import importlib
import inspect
import itertools
import signal
import time

# Runs of models: all models that know an action perform it together, and so does an implementation.

ANY_ANSWER = object()  # the answer of a step for which a scenario gives none
QUIET_SECONDS = 0.5  # without an observation for so long, none is expected any more
MAX_TRIES = 20  # the number of attempts for an implementation that is not deterministic


class OtherChoice(Exception):
    """The implementation has done something else that the models allow as well."""


class Program:
    """A model program. Its state is the values of its variables."""

    def __init__(self, module):
        self.module = module
        observables = getattr(module, "observables", ())
        known = (*module.actions, *observables, *getattr(module, "cleanup", ()))
        self.actions = {action.__name__: action for action in known}
        self.observed = {action.__name__ for action in observables}
        self.chosen = {action.__name__ for action in module.actions} - self.observed
        self.starts = [self.state()]

    def knows(self, name):
        """Returns true if the action belongs to this model."""
        return name in self.actions

    def state(self):
        """Returns a copy of the current state."""
        return {name: copy.deepcopy(getattr(self.module, name)) for name in self.module.state}

    def enter(self, state):
        """Restores a state."""
        for name, value in state.items():
            setattr(self.module, name, copy.deepcopy(value))

    def evaluate(self, state, *spellings):
        """Calls a predicate of the module. A missing one is true; the last spelling wins."""
        self.enter(state)
        found = [getattr(self.module, name) for name in spellings if hasattr(self.module, name)]
        return bool(found[-1]()) if found else True

    def may_end(self, state):
        """Returns true if a run may end in this state."""
        return self.evaluate(state, "Accepting", "accepting")

    def is_safe(self, state):
        """Returns true if the invariant holds in this state."""
        return self.evaluate(state, "StateInvariant", "stateinvariant", "state_invariant")

    def accepts_state(self, state):
        """Returns true if exploration may enter this state."""
        return self.evaluate(state, "StateFilter", "statefilter", "state_filter")

    def choices(self, state, offered):
        """Returns possible actions with arguments; observed ones as scenarios offer them."""
        own = [(name, given) for name in self.chosen for given in self.arguments(state, name)]
        offered = [(name, given) for name, given in offered if name in self.observed]
        return own + [(name, given) for name, given in offered if self.can_take(name, given)]

    def arguments(self, state, name):
        """Returns the arguments that the domains of an action allow."""
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
        """Returns true if an action has parameters for these arguments."""
        try:
            inspect.signature(self.actions[name]).bind(*arguments)
        except TypeError:
            return False
        return True

    def allows(self, state, name, arguments):
        """Returns true if all guards of an action hold."""
        for guard in getattr(self.module, "enablers", {}).get(self.actions[name], ()):
            self.enter(state)
            if not guard(*(arguments if inspect.signature(guard).parameters else ())):
                return False
        return True

    def after(self, state, name, arguments):
        """Returns the possible answers and next states of an action."""
        if not self.can_take(name, arguments) or not self.allows(state, name, arguments):
            return []
        self.enter(state)
        answer = self.actions[name](*arguments)
        return [(answer, self.state())]


class Scenario:
    """A machine or a list of runs. A step without arguments and answer matches any."""

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

    def accepts_state(self, state):
        return True

    def choices(self, state, offered=()):
        steps = [step for before, step, _ in self.steps if before == state]
        return [(name, given) for name, given, _ in steps if name in self.names]

    def after(self, state, name, arguments):
        """Returns the possible answers and next states of an action."""
        found = []
        for before, (known, given, answer), after in self.steps:
            if before == state and known == name:
                is_open = given == () and answer is None
                if is_open or given == arguments:
                    found.append((ANY_ANSWER if is_open else answer, after))
        return found


def model_of(module):
    """Returns the model of a module, or None for a configuration, which only changes others."""
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
    """Returns a list of runs as a scenario. Its state is a run and the number of steps taken."""
    steps = [
        ((number, index), step_of(step), (number, index + 1))
        for number, run in enumerate(runs)
        for index, step in enumerate(run)
    ]
    starts = [(number, 0) for number in range(len(runs))]
    ends = [(number, len(run)) for number, run in enumerate(runs)]
    return Scenario(steps, starts, ends, names)


def step_of(parts):
    """Returns a step as its name, its arguments and its answer."""
    action, arguments, answer, *_ = (*parts, (), None)[: max(len(parts), 3)]
    return action.__name__, tuple(arguments), answer


# All modules are imported by now, because some change others.
MODELS = [model for model in map(model_of, MODULES) if model]


def transitions(state, name, arguments):
    """Yields the answers and next states of an action in a state of all models."""
    if not any(model.knows(name) for model in MODELS):
        return
    each = [
        model.after(local, name, arguments) if model.knows(name) else [(ANY_ANSWER, local)]
        for model, local in zip(MODELS, state)
    ]
    for together in itertools.product(*each):
        answers = [answer for answer, _ in together if answer is not ANY_ANSWER]
        if all(answer == answers[0] for answer in answers):
            yield answers[0] if answers else None, tuple(local for _, local in together)


def possible(state):
    """Yields the possible actions in a state of all models, as names and arguments."""
    pairs = list(zip(MODELS, state))
    scenarios = [(model, local) for model, local in pairs if isinstance(model, Scenario)]
    offered = [choice for model, local in scenarios for choice in model.choices(local)]
    each = [(model, model.choices(local, offered)) for model, local in pairs]
    owned = [(model, own) for model, own in each if isinstance(model, Program)]
    for name, given in itertools.chain.from_iterable(own for _, own in each):
        if all((name, given) in own for model, own in owned if model.knows(name)):
            for _, after in transitions(state, name, given):
                if all(model.accepts_state(local) for model, local in zip(MODELS, after)):
                    yield name, given


def describe_call(name, arguments):
    """Returns a call as text."""
    return f"{name}({', '.join(map(repr, arguments))})"


class Run:
    """A run of the models, with the implementation if there is one."""

    def __init__(self):
        self.done = []
        self.begin()

    def begin(self):
        """Resets the models and the implementation."""
        self.states = list(itertools.product(*(model.starts for model in MODELS)))
        self.last, self.answers, self.end = None, [], None
        if STEPPER is not None:
            reset = getattr(STEPPER, "reset", None) or getattr(STEPPER, "Reset", None)
            reset() if reset else importlib.reload(STEPPER)
            OBSERVATIONS.queue.clear()

    def perform(self, act, *given):
        """Performs an act. After another valid choice, repeats everything from the beginning."""
        self.done.append((act, given))
        left = self.done[-1:]
        for _ in range(MAX_TRIES):
            try:
                for act, given in left:
                    act(*given)
                return
            except OtherChoice as other:
                why = str(other)
            self.begin()
            left = self.done
        raise AssertionError(f"{why}; so it was in {MAX_TRIES} tries")

    def check_repeatedly(self, check):
        """Performs a check; many times if the implementation is not deterministic."""
        self.perform(check)
        for _ in range(MAX_TRIES if is_asynchronous() else 0):
            self.begin()
            before, self.done = self.done, []
            for act, given in before:
                self.perform(act, *given)

    # Called by the lines of a feature.

    def take(self, name, *arguments):
        """Performs an action in all models that know it. Another line has the expected answer."""
        self.perform(self.move, name, arguments)

    def step(self, name, *arguments):
        """Performs an action in all models, and in the implementation unless it is observed."""
        if STEPPER is not None and any(name in model.observed for model in MODELS):
            return self.observe(name, *arguments)
        self.perform(self.move, name, arguments)
        self.perform(self.compare)

    def check_answer(self, answer):
        """Checks the answer of the last action."""
        self.perform(self.compare, answer)

    def check_agrees(self):
        """Checks that the implementation performs the last step as the models say."""
        self.check_repeatedly(self.compare)

    def observe(self, name, *arguments):
        """Checks that the implementation does this by itself, and that the models allow it."""
        self.perform(self.expect_observation, name, arguments)

    def check_allowed(self):
        """Checks that the models allow everything that the implementation does by itself."""
        self.check_repeatedly(self.drain_observations)

    def check_always(self):
        """Checks the invariants of all models."""
        self.check_repeatedly(self.assert_always)

    def check_goes_on(self):
        """Checks that an action is possible or the run may end."""
        self.check_repeatedly(self.assert_goes_on)

    def check_may_end(self):
        """Checks that the run may end."""
        self.check_repeatedly(self.assert_may_end)

    def look_ahead(self):
        """Returns the possible actions. Code of the models may raise here."""
        return [choice for state in self.states for choice in possible(state)]

    def try_step(self, name, *arguments):
        """Performs a step in a forked process, because it may hang or end the process."""

        def work():
            self.step(name, *arguments)
            self.look_ahead()

        self.end = describe_end(work)

    def check_ended(self):
        """Checks that the last step has returned."""
        assert self.end is None, f"the last step {self.end}"

    # Helpers of the methods above.

    def move(self, name, arguments):
        """Performs an action in all models."""
        if STEPPER is not None:
            # Earlier observations come first.
            while OBSERVATIONS.queue:
                self.allow(*OBSERVATIONS.queue.popleft())
        after = [each for state in self.states for each in transitions(state, name, arguments)]
        if MODELS and not after:
            message = f"the models do not allow {describe_call(name, arguments)} here"
            raise OtherChoice(message) if is_asynchronous() else AssertionError(message)
        self.last, self.answers = (name, arguments), after or [(None, ())]
        self.states = [state for _, state in after]

    def compare(self, *answer):
        """Compares an answer, by default that of the models, with the implementation's."""
        answer = answer[0] if answer else self.answers[0][0]
        if STEPPER is None:
            expected = [known for known, _ in self.answers]
            assert answer in expected, f"the answer is {expected[0]!r}"
        agreeing = [state for known, state in self.answers if known == answer]
        self.states = agreeing or self.states
        if STEPPER is not None:
            spellings = ("test_action", "testaction", "TestAction")
            act = next(getattr(STEPPER, name) for name in spellings if hasattr(STEPPER, name))
            complaint = act(*self.last, answer)
            assert complaint is None or complaint == "", complaint

    def allow(self, name, arguments):
        """Performs in the models what the implementation has done."""
        found = (transitions(state, name, tuple(arguments)) for state in self.states)
        after = [state for _, state in itertools.chain.from_iterable(found)]
        assert after or not MODELS, (
            f"the implementation did {describe_call(name, arguments)} by itself, which the models do not allow here"
        )
        self.states = after

    def expect_observation(self, name, arguments):
        """Waits for an observation and compares it."""
        assert wait_for_observation(PATIENCE), (
            f"the implementation did not do {describe_call(name, arguments)} by itself within {PATIENCE:g} seconds"
        )
        seen, given = OBSERVATIONS.queue.popleft()
        self.allow(seen, given)
        if (seen, tuple(given)) != (name, arguments):
            expected = describe_call(name, arguments)
            message = (
                f"the implementation did {describe_call(seen, given)} by itself, and not {expected}"
            )
            raise OtherChoice(message) if is_asynchronous() else AssertionError(message)

    def drain_observations(self):
        """Performs all observations that arrive soon."""
        while wait_for_observation(QUIET_SECONDS):
            self.allow(*OBSERVATIONS.queue.popleft())

    def assert_always(self):
        for state in self.states:
            for model, local in zip(MODELS, state):
                assert model.is_safe(local), f"the invariant of {model.module.__name__} is false"

    def assert_goes_on(self):
        while not self.look_ahead() and STEPPER is not None and wait_for_observation(PATIENCE):
            self.allow(*OBSERVATIONS.queue.popleft())
        for state in self.states:
            assert may_end(state) or any(True for _ in possible(state)), (
                f"nothing is possible, and no run may end here: {describe_state(state)}"
            )

    def assert_may_end(self):
        has_stepper = STEPPER is not None
        while (
            not any(map(may_end, self.states))
            and has_stepper
            and wait_for_observation(QUIET_SECONDS)
        ):
            self.allow(*OBSERVATIONS.queue.popleft())
        where = ", or ".join(map(describe_state, self.states))
        assert any(map(may_end, self.states)), f"no run may end here: {where}"


def may_end(state):
    """Returns true if a run may end in a state of all models."""
    return all(model.may_end(local) for model, local in zip(MODELS, state))


def describe_state(state):
    """Returns a state of all models as text."""
    return " and ".join(map(repr, state))


def is_asynchronous():
    """Returns true if the implementation acts in its own time, so that runs may differ."""
    return STEPPER is not None and bool(OBSERVATIONS.asynch)


def wait_for_observation(seconds):
    """Returns true if there is an observation. An asynchronous implementation has some time."""
    end = time.monotonic() + seconds
    while not OBSERVATIONS.queue and is_asynchronous() and time.monotonic() < end:
        getattr(STEPPER, "wait", time.sleep)(min(0.1, seconds))
        time.sleep(0.001)  # `wait` may return at once
    return bool(OBSERVATIONS.queue)


def describe_end(work):
    """Runs work in a forked process and describes its end; None if it returns."""
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
