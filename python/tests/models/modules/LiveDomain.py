"""PYMODEL CONFIGURATION that takes the very set that is the state now for the values of a parameter."""

import Populations

Populations.actions = (Populations.add, Populations.remove)
Populations.domains = {
    Populations.add: {"person": Populations.everybody},
    Populations.remove: {"person": Populations.people},
}
Populations.enablers[Populations.remove] = [lambda person: person in Populations.people]
