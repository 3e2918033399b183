"""A small registry, written by hand."""

from tests.integration.registry.upstream import Content

END = "mnt-by:             FOO-MNT\nsource:             DN42\n"
KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
FOO = (
    f"mntner:             FOO-MNT\nauth:               ssh-ed25519 {KEY} foo@laptop.example\n"
    f"auth:               #ssh-rsa AAAAB3\nauth:               MTN-OLD\n{END}"
)
ASN = f"aut-num:            AS4242429901\nas-name:            FOO-AS\nadmin-c:            Foo-DN42\n{END}"
ROUTE = f"route:              172.20.0.0/24\norigin:             AS4242429901\nmax-length:         26\n{END}"
ORIGINS = "origin:             AS4242429901\norigin:             AS4242429902\n"
ROUTE6 = f"route6:             fd42:1::/48\n{ORIGINS}{END}"
FILES: dict[str | bytes, Content] = {
    "data/mntner/FOO-MNT": FOO.encode(),
    "data/aut-num/AS4242429901": ASN.encode(),
    "data/aut-num/AS4294967295": ASN.replace("AS4242429901", "AS4294967295").encode(),
    "data/aut-num/AS4242429909": ASN.replace("AS4242429901", "AS4242429909").encode() + b"\x00",
    "data/route/172.20.0.0_24": ROUTE.encode(),
    "data/route6/fd42:1::_48": ROUTE6.encode(),
}
