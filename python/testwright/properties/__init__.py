"""The process in which `testwright feature` runs properties: other people's code, so never the tool's own process."""
