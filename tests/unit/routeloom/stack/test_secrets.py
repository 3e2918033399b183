import hashlib
import json
import tomllib
from pathlib import Path

import pytest

from routeloom.stack.errors import SecretsUnreadable
from routeloom.stack.files import access_list, write_files
from routeloom.stack.passwords import USERS, Captcha, Passwords, keep, load_or_make

TEMPLATES = Path(__file__).parents[4] / "docker-compose" / "acl"
PUBLIC = "https://loom.example"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "passwords.json"


@pytest.fixture
def passwords(file: Path) -> Passwords:
    return load_or_make(file)


class TestLoadOrMake:
    def test_every_user_has_a_password_of_their_own(self, passwords: Passwords) -> None:
        every = [passwords.of(server, user) for server, users in USERS.items() for user in users]
        assert len(set(every)) == len(every)
        assert all(len(password) == 48 for password in every)

    def test_a_second_start_changes_none(self, file: Path, passwords: Passwords) -> None:
        assert load_or_make(file) == passwords

    def test_a_user_who_is_new_gets_one_and_the_others_keep_theirs(
        self, file: Path, passwords: Passwords
    ) -> None:
        document = json.loads(file.read_text())
        del document["passwords"]["valkey"]["cap"]
        file.write_text(json.dumps(document))
        again = load_or_make(file)
        assert again.of("valkey", "control") == passwords.of("valkey", "control")
        assert again.of("valkey", "cap") != passwords.of("valkey", "cap")

    def test_only_its_owner_may_read_it(self, file: Path, passwords: Passwords) -> None:
        assert file.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"passwords": 1}', "\x00"])
    def test_what_it_did_not_write_is_never_replaced(self, file: Path, text: str) -> None:
        file.write_text(text)
        with pytest.raises(SecretsUnreadable):
            load_or_make(file)
        assert file.read_text() == text

    def test_none_of_them_is_shown(self, passwords: Passwords) -> None:
        assert passwords.of("postgres", "superuser") not in repr(passwords)


class TestAccessList:
    @pytest.mark.parametrize("server", ["valkey", "valkey-state", "redis"])
    def test_holds_a_digest_for_every_user_and_no_password(self, passwords: Passwords, server: str) -> None:
        text = access_list((TEMPLATES / f"{server}.acl").read_text(), server, passwords)
        for user in USERS[server]:
            digest = hashlib.sha256(passwords.of(server, user).encode()).hexdigest()
            assert f"user {user} on #{digest} " in text
            assert passwords.of(server, user) not in text
        assert "{" not in text
        assert text.startswith("user default off ")


class TestWriteFiles:
    @pytest.fixture
    def root(self, tmp_path: Path, passwords: Passwords) -> Path:
        write_files(tmp_path / "secrets", TEMPLATES, passwords, PUBLIC)
        return tmp_path / "secrets"

    def test_each_service_gets_its_own_urls(self, root: Path, passwords: Passwords) -> None:
        settings = tomllib.loads((root / "control" / "routeloom.toml").read_text())["control"]
        password = passwords.of("postgres", "control")
        assert settings["database"]["url"] == f"postgresql://control:{password}@postgres/control"
        assert settings["kv"]["url"].endswith("@valkey:6379/1")
        assert settings["cache"]["url"].endswith("@redis:6379/1")
        assert settings["runtime_state"]["url"].endswith("@valkey-state:6379/0")
        assert settings["durable"]["url"].endswith("@valkey-state:6379/1")

    def test_no_service_sees_the_password_of_another(self, root: Path, passwords: Passwords) -> None:
        for service in ("control", "auth", "registry"):
            text = (root / service / "routeloom.toml").read_text()
            for other in {"control", "auth", "registry"} - {service}:
                assert passwords.of("postgres", other) not in text
            assert passwords.of("postgres", "superuser") not in text

    def test_the_captcha_is_off_until_there_is_a_site_key(
        self, tmp_path: Path, root: Path, passwords: Passwords, file: Path
    ) -> None:
        assert "cap_" not in (root / "auth" / "routeloom.toml").read_text()
        keep(file, Passwords(passwords.by_server, Captcha("site", "its secret")))
        write_files(root, TEMPLATES, load_or_make(file), PUBLIC)
        settings = tomllib.loads((root / "auth" / "routeloom.toml").read_text())["auth"]
        assert settings["cap_url"] == f"{PUBLIC}/cap"
        assert settings["cap_verify_url"] == "http://cap:3000"
        assert (settings["cap_site_key"], settings["cap_secret"]) == ("site", "its secret")
