"""The process in which `testwright feature` runs properties: user code never runs in the tool's own process."""
