"""What proofs need of other processes: the registry service, and gpg."""
