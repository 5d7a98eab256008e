"""PyModel configuration: always two seconds."""

import Timer

Timer.domains[Timer.Start] = {"seconds": [2]}
