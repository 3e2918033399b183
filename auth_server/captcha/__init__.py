"""A captcha (Cap: proof of work, no third party) before what anybody can try without an account."""
