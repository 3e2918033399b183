"""Pages: templates of a service and of the shared layout, drawn for one person, language and theme."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from shared.kernel.clock import Clock, utc_now
from shared.kernel.principal import Scope
from shared.web import charts, csrf
from shared.web.field_words import words
from shared.web.formats import Formats
from shared.web.navigation import Group, NavigationItem, visible_groups
from shared.web.preferences import Theme, chosen_theme
from shared.web.script_messages import collect_script_messages
from shared.web.static_files import StaticFiles, load_static_files
from shared.web.translation import LANGUAGE_COOKIE, Language, choose_language, load_languages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jinja2 import BaseLoader
    from starlette.requests import Request

    from shared.kernel.principal import Principal

TEMPLATE_ROOT = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What differs between the services whose pages share the look."""

    #: Path prefix of the service: "" for the portal, "/auth" for sign-in.
    prefix: str = ""
    navigation: Sequence[NavigationItem] = ()
    #: Where the search field of the top bar sends `q`; None hides it.
    search_path: str | None = None
    #: Where a signed-in person signs out (a form is posted there); None hides the button.
    sign_out_path: str | None = None
    #: What the people who run it call it; shown beside the product's name.
    site_name: str = ""
    #: Scheme, host and port that people use, for links that leave the page.
    public_address: str = ""
    now: Clock = utc_now


@dataclass(frozen=True, slots=True)
class PageView:
    """Everything the layout needs to know about the request it is drawn for; `page` in templates."""

    request: Request
    language: Language
    theme: Theme
    options: PageOptions
    static: StaticFiles
    languages: Sequence[Language]
    script_messages: Mapping[str, str]

    @property
    def principal(self) -> Principal | None:
        """Who is signed in, if anybody has been asked for."""
        found: Principal | None = getattr(self.request.state, "principal", None)
        return found

    @property
    def initials(self) -> str:
        """Two letters for the picture of who is signed in."""
        parts = [
            part for part in re.split(r"[^\w]+|_", self.principal.name if self.principal else "") if part
        ]
        letters = "".join(part[0] for part in parts[:2]) if len(parts) > 1 else "".join(parts)[:2]
        return letters.upper()

    def may(self, scope: str) -> bool:
        """Whether the person may do this; decides which buttons are drawn, never what is allowed."""
        return self.principal is not None and self.principal.may(Scope(scope))

    @property
    def groups(self) -> list[Group]:
        """The sidebar for this person, with the current entry marked."""
        return visible_groups(self.options.navigation, self.principal, self.request.url.path, self.language)

    @property
    def csrf_token(self) -> str:
        """The token of this browser, for forms and for the header of scripts."""
        given: str | None = getattr(self.request.state, "csrf_token", None)
        return given or csrf.issue_token(self.request)

    @property
    def here(self) -> str:
        """The path and query of this page, to come back to."""
        query = f"?{self.request.url.query}" if self.request.url.query else ""
        return f"{self.request.url.path}{query}"

    @property
    def now(self) -> str:
        """The server's instant, from which the page counts ages, whatever the browser's clock says."""
        return self.options.now().astimezone(UTC).isoformat(timespec="milliseconds")

    @property
    def public_address(self) -> str:
        """The origin of links that people copy."""
        return self.options.public_address

    @property
    def base(self) -> str:
        """The path prefix of the service."""
        return self.options.prefix


_view: ContextVar[PageView] = ContextVar("page_view")


class _CurrentPage:
    """`page` in templates. Macros are imported without context, so the page comes by another way."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_view.get(), name)


@dataclass(frozen=True, slots=True)
class Pages:
    """Renders pages; built once, shared by all requests."""

    options: PageOptions
    static: StaticFiles
    languages: Mapping[str, Language]
    environments: Mapping[str, Environment] = field(repr=False)
    script_messages: Mapping[str, Mapping[str, str]] = field(repr=False)

    def render(
        self,
        request: Request,
        template: str,
        *,
        status_code: int = HTTPStatus.OK,
        **context: Any,
    ) -> HTMLResponse:
        """Draw a template for the person who asks. Sets the form token's cookie where it is new."""
        view = self._view_of(request)
        token = _view.set(view)
        try:
            body = self.environments[view.language.tag].get_template(template).render(context)
        finally:
            _view.reset(token)
        response = HTMLResponse(
            body,
            status_code=status_code,
            headers={"Content-Language": view.language.tag, "Vary": "Cookie, Accept-Language, HX-Request"},
        )
        csrf.set_cookie(request, response)
        return response

    def language_of(self, request: Request) -> Language:
        """The language that this request's page would be in."""
        return choose_language(
            self.languages, request.cookies.get(LANGUAGE_COOKIE), request.headers.get("accept-language")
        )

    def _view_of(self, request: Request) -> PageView:
        language = self.language_of(request)
        return PageView(
            request=request,
            language=language,
            theme=chosen_theme(request),
            options=self.options,
            static=self.static,
            languages=tuple(self.languages.values()),
            script_messages=self.script_messages[language.tag],
        )


def build_pages(packages: Sequence[str], options: PageOptions | None = None) -> Pages:
    """Pages of these packages: `<package>/<feature>/templates/x.html` is named `<feature>/x.html`.

    Raises AssetsMissing when the third-party files of the portal are not installed.
    """
    options = options or PageOptions()
    static = load_static_files(f"{options.prefix}/static")
    languages = load_languages()
    messages = collect_script_messages()
    loader = _loader(packages)
    return Pages(
        options=options,
        static=static,
        languages=languages,
        environments={
            tag: _environment(loader, language, static, options.now) for tag, language in languages.items()
        },
        script_messages={tag: language.script_messages(messages) for tag, language in languages.items()},
    )


def _environment(loader: BaseLoader, language: Language, static: StaticFiles, now: Clock) -> Environment:
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n", "jinja2.ext.do"],
    )
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_translations(language.translations, newstyle=True)  # type: ignore[attr-defined]
    environment.globals["page"] = _CurrentPage()
    environment.globals["asset"] = static.url
    environment.globals["csrf_field"] = _csrf_field
    environment.filters["field_words"] = lambda error: words(error, language)
    Formats(language, now).install(environment)
    charts.install(environment)
    return environment


def _csrf_field() -> Markup:
    return Markup('<input type="hidden" name="{}" value="{}">').format(csrf.FIELD, _view.get().csrf_token)


def _loader(packages: Sequence[str]) -> BaseLoader:
    features: dict[str, BaseLoader] = {}
    for package in packages:
        for folder in _template_folders(package):
            features[folder.parent.name] = FileSystemLoader(folder)
    return ChoiceLoader([FileSystemLoader(TEMPLATE_ROOT), PrefixLoader(features)])


def _template_folders(package: str) -> list[Path]:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(package)
    return [
        folder
        for location in spec.submodule_search_locations
        for folder in sorted(Path(location).glob("*/templates"))
    ]
