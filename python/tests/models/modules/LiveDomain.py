"""PYMODEL CONFIGURATION that uses the set in the state itself, not a copy, as the domain of a parameter."""

import Populations

Populations.actions = (Populations.add, Populations.remove)
Populations.domains = {
    Populations.add: {"person": Populations.everybody},
    Populations.remove: {"person": Populations.people},
}
Populations.enablers[Populations.remove] = [lambda person: person in Populations.people]
