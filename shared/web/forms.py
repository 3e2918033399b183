"""Forms of pages: read into a model, and drawn again with what was refused, so that nothing typed is lost."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pydantic import BaseModel, ValidationError

from shared.kernel.errors import AppError, FieldError, InvalidInput, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from starlette.responses import Response

M = TypeVar("M", bound=BaseModel)
_SHOWN_IN_THE_FORM = frozenset({Kind.INVALID, Kind.CONFLICT, Kind.THROTTLED, Kind.GONE})


class FormRefused(AppError):
    """The form was refused and is drawn again with the reasons."""

    code: ClassVar[str] = "form_refused"

    def __init__(self, cause: AppError, draw: Callable[[AppError], Response]) -> None:
        """Keep how to draw it; the transaction is rolled back before it is drawn."""
        super().__init__(cause.detail, fields=cause.fields, retry_after=cause.retry_after)
        self._cause = cause
        self._draw = draw

    def page(self) -> Response:
        """The form with what was typed and why it was refused."""
        return self._draw(self._cause)


def parse(model: type[M], values: Mapping[str, Any]) -> M:
    """The model that the form means. Raises InvalidInput with one error for each field."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        fields = [
            FieldError(
                ".".join(str(part) for part in item["loc"][:1]) or "form",
                str(item["type"]),
                str(item["msg"]).removeprefix("Value error, "),
            )
            for item in error.errors(include_url=False, include_input=False)
        ]
        raise InvalidInput(fields=fields) from None


@contextmanager
def drawn_again(draw: Callable[[AppError], Response]) -> Iterator[None]:
    """Turn a refusal that the person can mend into the same form with its reasons."""
    try:
        yield
    except AppError as refusal:
        if refusal.kind not in _SHOWN_IN_THE_FORM:
            raise
        raise FormRefused(refusal, draw) from refusal


def field_messages(refusal: AppError | None) -> dict[str, FieldError]:
    """What was refused by field, for the form's macros, which say it in the reader's language."""
    return {error.field: error for error in refusal.fields} if refusal else {}
