"""Proof of maintainership over HTTP, against a registry that follows its repository. Rows P1 to P9."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conformance.auth.people.house import API, HandClock, House, Person, open_house
from tests.conformance.auth.people.network import Network, attributes, key_cert, open_network
from tests.conformance.auth.people.signers import (
    NAMESPACE,
    PgpHome,
    SshKey,
    fingerprint_line,
    make_ssh_key,
    now,
    pgp_home,
)

PROOFS = f"{API}/proofs"
ASN = 4242429901
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@dataclass
class Stage:
    """The house, the registry, and the key that the registry lists for FOO-MNT."""

    house: House
    network: Network
    key: SshKey
    directory: Path

    async def begin(self, person: Person, subject: str = "FOO-MNT", **wanted: str) -> dict[str, Any]:
        answer = await person.post(f"{PROOFS}/challenges", {"subject": subject, **wanted})
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def finish(self, person: Person, challenge: dict[str, Any], signature: str, **more: str) -> Any:
        return await person.post(f"{PROOFS}/challenges/{challenge['id']}", {"signature": signature, **more})

    async def prove(self, person: Person, subject: str = "FOO-MNT", key: SshKey | None = None) -> Any:
        challenge = await self.begin(person, subject)
        return await self.finish(person, challenge, (key or self.key).sign(challenge["text"]))

    async def proofs(self, person: Person) -> list[dict[str, Any]]:
        return list((await person.get(PROOFS)).json())


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SshKey:
    return make_ssh_key(tmp_path_factory.mktemp("keys"), "ed25519")


@pytest.fixture(scope="module")
def home() -> Iterator[PgpHome]:
    with pgp_home() as opened:
        yield opened


@pytest.fixture
async def stage(database_url: str, tmp_path: Path, key: SshKey) -> AsyncIterator[Stage]:
    async with open_network(tmp_path / "network") as network:
        await network.mntner("FOO-MNT", key.auth)
        await network.aut_num(ASN, "FOO-MNT")
        clock = HandClock(now())
        async with open_house(database_url, tmp_path, clock=clock, http=network.http) as house:
            yield Stage(house, network, key, tmp_path)


@pytest.fixture
async def ada(stage: Stage) -> Person:
    return await stage.house.person("ada")


def code_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json().get("code"))


async def test_p1_a_challenge_names_everything_it_is_good_for(stage: Stage, ada: Person) -> None:
    challenge = await stage.begin(ada)
    text = challenge["text"]
    for part in ("http://localhost:8420", "ada", "FOO-MNT", challenge["expires_at"][:16]):
        assert part in text
    assert re.search(r"nonce [0-9a-f]{32},", text)
    assert "\n" not in text
    assert "'" not in text
    assert (await stage.begin(ada))["text"] != text


async def test_p1_a_proof_and_what_is_told_of_it(stage: Stage, ada: Person) -> None:
    assert (await stage.prove(ada)).status_code == 201
    (proof,) = await stage.proofs(ada)
    assert (proof["mntner"], proof["asn"], proof["asns"]) == ("FOO-MNT", ASN, [ASN])
    assert proof["fingerprint"].startswith("SHA256:")
    assert proof["active"]
    assert {"proof.begun", "proof.accepted"} <= set(await stage.house.actions())


async def test_p1_a_challenge_makes_one_proof(stage: Stage, ada: Person) -> None:
    challenge = await stage.begin(ada)
    signature = stage.key.sign(challenge["text"])
    assert (await stage.finish(ada, challenge, signature)).status_code == 201
    assert code_of(await stage.finish(ada, challenge, signature)) == (410, "proof_challenge_gone")


async def test_p1_one_proof_from_ten_parallel_answers(stage: Stage, ada: Person) -> None:
    challenge = await stage.begin(ada)
    signature = stage.key.sign(challenge["text"])
    answers = await asyncio.gather(*(stage.finish(ada, challenge, signature) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [201] + [410] * 9
    assert len(await stage.proofs(ada)) == 1


async def test_p1_a_challenge_grows_old(stage: Stage, ada: Person) -> None:
    challenge = await stage.begin(ada)
    signature = stage.key.sign(challenge["text"])
    stage.house.clock.turn(timedelta(minutes=15))
    assert code_of(await stage.finish(ada, challenge, signature)) == (410, "proof_challenge_gone")


async def test_p1_another_person_s_challenge_is_nobody_s(stage: Stage, ada: Person) -> None:
    bea = await stage.house.person("bea")
    challenge = await stage.begin(ada)
    signature = stage.key.sign(challenge["text"])
    assert code_of(await stage.finish(bea, challenge, signature)) == (410, "proof_challenge_gone")
    assert (await bea.get(f"{PROOFS}/challenges/{challenge['id']}")).status_code == 410
    own = await stage.begin(bea)
    assert code_of(await stage.finish(bea, own, signature)) == (422, "signature_wrong")
    assert await stage.proofs(bea) == []


async def test_p1_another_browser_of_the_same_person_cannot_answer(stage: Stage, ada: Person) -> None:
    challenge = await stage.begin(ada)
    other = stage.house.visitor(authenticator=ada.authenticator)
    await other.sign_in()
    signature = stage.key.sign(challenge["text"])
    assert code_of(await stage.finish(other, challenge, signature)) == (410, "proof_challenge_gone")
    # The person confirms with a passkey meanwhile: to them it stays the same session.
    await ada.step_up()
    assert (await stage.finish(ada, challenge, signature)).status_code == 201


async def test_p1_a_signature_for_another_maintainer_is_refused(stage: Stage, ada: Person) -> None:
    await stage.network.mntner("BAR-MNT", stage.key.auth)
    foo, bar = await stage.begin(ada), await stage.begin(ada, "BAR-MNT")
    signature = stage.key.sign(foo["text"])
    assert code_of(await stage.finish(ada, bar, signature)) == (422, "signature_wrong")


async def test_p1_a_challenge_looks_at_five_signatures(stage: Stage, ada: Person) -> None:
    challenge = await stage.begin(ada)
    for _ in range(5):
        answer = await stage.finish(ada, challenge, stage.key.sign("something else"))
        assert code_of(answer) == (422, "signature_wrong")
    good = stage.key.sign(challenge["text"])
    assert code_of(await stage.finish(ada, challenge, good)) == (410, "proof_challenge_gone")
    assert (await stage.house.actions()).count("proof.refused") == 5


async def test_p1_challenges_are_limited(stage: Stage, ada: Person) -> None:
    for _ in range(30):
        await stage.begin(ada)
    refused = await ada.post(f"{PROOFS}/challenges", {"subject": "FOO-MNT"})
    assert code_of(refused) == (429, "proof_throttled")
    assert refused.headers["retry-after"]
    stage.house.clock.turn(timedelta(hours=1, seconds=1))
    await ada.step_up()
    await stage.begin(ada)


async def test_p1_beginning_needs_a_fresh_passkey(stage: Stage, ada: Person) -> None:
    stage.house.clock.turn(timedelta(minutes=6))
    refused = await ada.post(f"{PROOFS}/challenges", {"subject": "FOO-MNT"})
    assert code_of(refused) == (403, "step_up_needed")


async def test_p3_p4_pgp_over_http(stage: Stage, ada: Person, home: PgpHome) -> None:
    fingerprint = home.make("over-http")
    await stage.network.mntner("PGP-MNT", fingerprint_line(fingerprint))
    challenge = await stage.begin(ada, "PGP-MNT")
    (shown,) = challenge["keys"]
    assert shown["command"].endswith(f"gpg --clearsign --local-user {fingerprint}")
    assert shown["export_command"] == f"gpg --armor --export {fingerprint}"
    signature = home.clear_sign(challenge["text"], fingerprint)
    assert code_of(await stage.finish(ada, challenge, signature)) == (422, "public_key_needed")
    backdated = home.clear_sign(challenge["text"], home.make("old", at=now() - timedelta(days=9)))
    refused = await stage.finish(ada, challenge, backdated, public_key=home.public("old"))
    assert code_of(refused) == (422, "signature_key_not_listed")
    done = await stage.finish(ada, challenge, signature, public_key=home.public(fingerprint))
    assert done.status_code == 201, done.text
    assert done.json()["fingerprint"] == fingerprint


async def test_p4_a_key_certificate_of_the_registry(stage: Stage, ada: Person, home: PgpHome) -> None:
    fingerprint = home.make("certified")
    name = f"PGPKEY-{fingerprint[-8:]}"
    await stage.network.publish(
        **{f"key-cert__{name}": key_cert(fingerprint, home.public(fingerprint), name)}
    )
    await stage.network.mntner("KEY-MNT", name)
    await stage.network.aut_num(ASN + 1, "KEY-MNT")
    challenge = await stage.begin(ada, "KEY-MNT")
    done = await stage.finish(ada, challenge, home.clear_sign(challenge["text"], fingerprint))
    assert done.status_code == 201, done.text
    assert (done.json()["method"], done.json()["asn"]) == ("pgpkey", ASN + 1)


async def test_p5_the_command_of_the_page_makes_the_signature(stage: Stage, ada: Person) -> None:
    import subprocess

    challenge = await stage.begin(ada)
    assert challenge["namespace"] == NAMESPACE
    (shown,) = challenge["keys"]
    command = shown["command"].replace("~/.ssh/id_ed25519", str(stage.key.path))
    printed = subprocess.run(["sh", "-c", command], check=True, capture_output=True).stdout.decode()
    assert (await stage.finish(ada, challenge, printed)).status_code == 201


async def test_p6_weak_keys_are_marked_before_anybody_signs(stage: Stage, ada: Person) -> None:
    weak = make_ssh_key(stage.directory, "rsa", 1024)
    await stage.network.mntner("WEAK-MNT", weak.auth)
    challenge = await stage.begin(ada, "WEAK-MNT")
    assert challenge["keys"][0]["weak"]
    refused = await stage.finish(ada, challenge, weak.sign(challenge["text"]))
    assert code_of(refused) == (422, "signature_weak_key")


async def test_p7_a_maintainer_without_keys_proves_nothing(stage: Stage, ada: Person) -> None:
    for name, lines in (
        ("NONE-MNT", ()),
        ("OLD-MNT", ("crypt-pw x", "MD5-PW $1$x", f"#{stage.key.line}", "pgp-fingerprint 0123456789ABCDEF")),
    ):
        await stage.network.mntner(name, *lines)
        refused = await ada.post(f"{PROOFS}/challenges", {"subject": name})
        assert code_of(refused) == (422, "maintainer_without_keys")


async def test_p7_the_registry_is_read_again_when_the_signature_comes(stage: Stage, ada: Person) -> None:
    other = make_ssh_key(stage.directory, "ed25519")
    challenge = await stage.begin(ada)
    await stage.network.mntner("FOO-MNT", other.auth)
    old = await stage.finish(ada, challenge, stage.key.sign(challenge["text"]))
    assert code_of(old) == (422, "signature_key_not_listed")
    assert (await stage.finish(ada, challenge, other.sign(challenge["text"]))).status_code == 201


@pytest.mark.parametrize("change", ["another key", "maintainer gone", "commented out"])
async def test_p7_a_proof_lapses_with_its_line(stage: Stage, ada: Person, change: str) -> None:
    await stage.prove(ada)
    other = make_ssh_key(stage.directory, "ed25519")
    if change == "another key":
        await stage.network.mntner("FOO-MNT", other.auth)
    elif change == "commented out":
        await stage.network.mntner("FOO-MNT", f"#{stage.key.line}")
    else:
        await stage.network.publish(mntner__FOO__MNT=None, **{"mntner__FOO-MNT": None})
    await recheck(stage)
    assert await stage.proofs(ada) == []
    assert "proof.lapsed" in await stage.house.actions()


async def test_p7_a_proof_outlives_changes_that_leave_its_line(stage: Stage, ada: Person) -> None:
    await stage.prove(ada)
    other = make_ssh_key(stage.directory, "ed25519")
    await stage.network.mntner("FOO-MNT", other.auth, f"{stage.key.line} another-comment")
    await recheck(stage)
    assert len(await stage.proofs(ada)) == 1


async def test_p8_an_as_number_leads_to_its_maintainers(stage: Stage, ada: Person) -> None:
    for subject in (f"AS{ASN}", f"as{ASN}", str(ASN)):
        challenge = await stage.begin(ada, subject)
        assert (challenge["mntner"], challenge["asn"]) == ("FOO-MNT", ASN)
    await stage.network.mntner("BAR-MNT", stage.key.auth)
    await stage.network.aut_num(ASN, "BAR-MNT", "FOO-MNT", "DN42-MNT")
    assert (await stage.begin(ada, f"AS{ASN}", mntner="foo-mnt"))["mntner"] == "FOO-MNT"
    refused = await ada.post(f"{PROOFS}/challenges", {"subject": f"AS{ASN}", "mntner": "DN42-MNT"})
    assert code_of(refused) == (422, "proof_subject_unknown")


async def test_p8_an_as_number_comes_by_mnt_by_alone(stage: Stage, ada: Person) -> None:
    """Contacts, routes and sets that name a maintainer give nothing."""
    await stage.network.publish(
        **{
            f"aut-num__AS{ASN + 2}": attributes(
                ("aut-num", f"AS{ASN + 2}"), ("as-name", "X"), ("mnt-lower", "FOO-MNT"), ("mnt-by", "BAR-MNT")
            ),
            "route__172.20.0.0_24": attributes(
                ("route", "172.20.0.0/24"), ("origin", f"AS{ASN + 3}"), ("mnt-by", "FOO-MNT")
            ),
        }
    )
    await stage.prove(ada)
    assert (await stage.proofs(ada))[0]["asns"] == [ASN]


async def test_p8_names_are_compared_without_case(stage: Stage, ada: Person) -> None:
    assert (await stage.begin(ada, "foo-mnt"))["mntner"] == "FOO-MNT"
    assert (await stage.begin(ada, "  Foo-Mnt "))["mntner"] == "FOO-MNT"


@pytest.mark.parametrize(
    "subject",
    [
        *("../asn/1", "FOO-MNT/../BAR", "..", "FOO..MNT", "%2e%2e", "FOO MNT", "FOO'MNT", "FÖO-MNT", "-MNT"),
        *("x" * 90, "$(id)", "FOO;id", "\x00", "AS4294967296"),
    ],
)
async def test_p8_no_name_leads_elsewhere(stage: Stage, ada: Person, subject: str) -> None:
    refused = await ada.post(f"{PROOFS}/challenges", {"subject": subject})
    assert refused.status_code == 422, refused.text
    assert all(".." not in path and "%" not in path for path in stage.network.way.asked)


@pytest.mark.parametrize("name", ["DN42-MNT", "dummy-mnt"])
async def test_p8_maintainers_that_many_share_prove_nothing(stage: Stage, ada: Person, name: str) -> None:
    await stage.network.mntner(name.upper(), stage.key.auth)
    await stage.network.aut_num(ASN + 5, name.upper())
    for subject in (name, f"AS{ASN + 5}"):
        refused = await ada.post(f"{PROOFS}/challenges", {"subject": subject})
        assert code_of(refused) == (422, "maintainer_shared")


async def test_p9_with_the_registry_away_nothing_is_lost(stage: Stage, ada: Person) -> None:
    challenge = await stage.begin(ada)
    signature = stage.key.sign(challenge["text"])
    for fault in ("away", "silent"):
        setattr(stage.network.way, fault, True)
        assert code_of(await stage.finish(ada, challenge, signature)) == (503, "proof_registry_away")
        refused = await ada.post(f"{PROOFS}/challenges", {"subject": "FOO-MNT"})
        assert code_of(refused) == (503, "proof_registry_away")
        setattr(stage.network.way, fault, False)
    assert (await stage.finish(ada, challenge, signature)).status_code == 201


@pytest.mark.parametrize(
    ("status", "body"),
    [
        *((500, "{}"), (200, "<html>"), (200, "[]"), (200, '{"mntner": "FOO-MNT"}'), (302, "")),
        *((404, "<html>"), (404, "1"), (404, "null"), (404, '["code"]'), (200, "[" * 100_000)),
        *(
            (200, '{"mntner": "FOO-MNT", "asns": ["x"]}'),
            (200, '{"mntner": "FOO-MNT", "asns": ["x"], "auth": []}'),
        ),
    ],
)
async def test_p9_what_is_no_answer_of_a_registry_proves_nothing(
    stage: Stage, ada: Person, status: int, body: str
) -> None:
    stage.network.way.instead = httpx2.Response(status, text=body, headers={"Location": "/elsewhere"})
    refused = await ada.post(f"{PROOFS}/challenges", {"subject": "FOO-MNT"})
    assert code_of(refused) == (503, "proof_registry_away")
    assert "/elsewhere" not in stage.network.way.asked


async def test_p9_a_private_key_is_neither_kept_nor_shown_again(stage: Stage, ada: Person) -> None:
    challenge = await stage.begin(ada)
    private = stage.key.path.read_text()
    page = await ada.form(f"/auth/account/proofs/{challenge['id']}", signature=private)
    assert page.status_code == 422
    middle = private.split("\n")[2]
    assert middle not in page.text
    kept = await stage.house.kept("SELECT * FROM audit_events")
    kept += await stage.house.kept("SELECT * FROM ownership_challenges")
    assert middle not in kept


async def test_p9_what_is_too_long_is_refused_before_it_is_looked_at(stage: Stage, ada: Person) -> None:
    challenge = await stage.begin(ada)
    for pasted in ({"signature": "x" * 16_385}, {"signature": "x", "public_key": "x" * 131_073}):
        answer = await ada.post(f"{PROOFS}/challenges/{challenge['id']}", pasted)
        assert answer.status_code == 422
        assert "Traceback" not in answer.text
    assert (await stage.house.rows("SELECT attempts FROM ownership_challenges"))[0][0] == 0


async def test_p9_nothing_of_gpg_is_left(stage: Stage, ada: Person, home: PgpHome) -> None:
    import tempfile

    fingerprint = home.make("leaves-nothing")
    await stage.network.mntner("TMP-MNT", fingerprint_line(fingerprint))
    challenge = await stage.begin(ada, "TMP-MNT")
    signature = home.clear_sign(challenge["text"], fingerprint)
    done = await stage.finish(ada, challenge, signature, public_key=home.public(fingerprint))
    assert done.status_code == 201
    assert list(Path(tempfile.gettempdir()).glob("routeloom-gpg-*")) == []
    assert shutil.which("gpg")


async def recheck(stage: Stage) -> None:
    """What the loop does, when it is due."""
    from auth_server.ownership.dependencies import rechecking

    stage.house.clock.turn(timedelta(minutes=6))
    await rechecking(stage.house.app, stage.house.resources).what_is_due()
