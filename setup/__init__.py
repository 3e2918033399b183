"""Makes a checkout ready to run or to test. Plain standard library: it runs before anything is installed."""
