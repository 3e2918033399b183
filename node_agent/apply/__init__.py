"""From a desired state to a host that runs it: render, validate, plan, write, reload, read back, report."""
