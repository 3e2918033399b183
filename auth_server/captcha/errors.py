"""Refusals about the captcha. None of them counts as a failed sign-in."""

from __future__ import annotations

from shared.kernel.errors import Forbidden, Unavailable


class CaptchaNeeded(Forbidden):
    """Show first that you are no robot."""

    code = "captcha_needed"


class CaptchaRefused(Forbidden):
    """The check that you are no robot has run out or was used. Do it again."""

    code = "captcha_refused"


class CaptchaAway(Unavailable):
    """Whether you are a robot cannot be checked now. Use a passkey, or try again in a moment."""

    code = "captcha_away"
