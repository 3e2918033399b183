"""`routeloom doctor`: what is wrong with a deployment, each finding with the command that mends it."""
