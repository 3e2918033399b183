"""The smallest words of the product: errors, time, ids, secrets, principals, loops.

Imports nothing else of ours.
"""
