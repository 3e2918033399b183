"""A fleet that does not exist: simulated nodes speak the real agent protocol; what is reported is compared.

The same plan gives the same fleet, the same traffic and the same faults. What happened to the nodes is known
here by construction; what the server makes of it is asked over its API like anybody else would.
"""
