"""One complete node: every part of the schema is in use. All names and addresses are invented."""

from __future__ import annotations

from typing import Any

from shared.protocol.desired_state.document import DesiredState

PUBLIC_KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
SEALED = "c2VhbGVkLXNlYWxlZC1zZWFsZWQtc2VhbGVkLXNlYWxlZC1zZWFsZWQtc2VhbGVkLXNlYWxlZA=="


def document() -> dict[str, Any]:
    """The desired state of `r1` as the wire has it."""
    return {
        "version": "v1",
        "node": {
            "id": "r1",
            "number": 1,
            "asn": 4242429900,
            "router_id": "172.20.99.1",
            "hostname": "r1.loom.example",
            "loopback4": "172.20.99.1",
            "loopback6": "fd42:9900::1",
            "prefixes4": ["172.20.99.0/26"],
            "prefixes6": ["fd42:9900::/48"],
            "proof4": "172.20.99.0/26",
            "proof6": "fd42:9900::/48",
            "region": 41,
            "country": 1276,
            "draining": False,
        },
        "links": [
            {
                "kind": "wireguard",
                "interface": "wg-f",
                "addresses": [{"address": "fe80::1/64"}],
                "listen_port": 29801,
                "peer_public_key": PUBLIC_KEY,
                "endpoint": "f.example:20099",
                "preshared_key": SEALED,
            },
            {
                "kind": "plain",
                "interface": "eth-r2",
                "addresses": [
                    {"address": "172.20.99.1/32", "peer": "172.20.99.2"},
                    {"address": "fe80::1/64"},
                ],
            },
        ],
        "anycast": [{"interface": "rl-dns", "addresses": ["172.20.99.33/29"]}],
        "static_routes": [
            {"prefix": "172.20.99.48/29", "interface": "eth-r2"},
            {"prefix": "fd42:9900:0:9::/64", "kind": "unreachable"},
        ],
        "policy": {"profile": "dn42", "transit_asn": [4242429803]},
        "roa": {
            "mode": "invalid",
            "servers": [
                {"name": "a", "host": "198.18.0.254", "port": 8282},
                {"name": "b", "host": "rtr.example", "port": 8283},
            ],
            "snapshot": [
                {"prefix": "172.21.81.0/27", "max_length": 29, "origin": 4242429801},
                {"prefix": "fd42:9801::/48", "max_length": 64, "origin": 4242429801},
            ],
        },
        "bfd": {"interfaces": "wg*"},
        "igp": {
            "kind": "ospf",
            "interfaces": [{"interface": "eth-r2", "cost": 20, "password": SEALED, "bfd": True}],
        },
        "ibgp": {
            "mode": "reflector",
            "cluster_id": "172.20.99.1",
            "neighbors": [
                {"name": "r2", "address": "fd42:9900::2", "rr_client": True},
                {"name": "r3", "address": "fd42:9900::3"},
            ],
        },
        "peerings": [
            {
                "name": "f",
                "asn": 4242429801,
                "description": "F, over WireGuard",
                "session": {
                    "mode": "multiprotocol",
                    "interface": "wg-f",
                    "neighbor6": "fe80::801",
                    "source6": "fe80::1",
                    "options": {"bfd": True, "password": SEALED},
                    "policy": {
                        "prefix_list": [
                            {"prefix": "172.21.81.0/27", "shortest": 27, "longest": 29},
                            {"prefix": "fd42:9801::/48", "shortest": 48, "longest": 64},
                        ],
                        "blackhole": [
                            {"prefix": "172.21.81.0/27", "shortest": 27, "longest": 32},
                            {"prefix": "fd42:9801::/48", "shortest": 48, "longest": 128},
                        ],
                    },
                },
            },
            {
                "name": "g",
                "asn": 4242429802,
                "session": {
                    "mode": "split",
                    "interface": "eth-r2",
                    "neighbor4": "172.21.82.1",
                    "source4": "172.20.99.1",
                    "neighbor6": "fe80::802",
                    "source6": "fe80::1",
                },
            },
        ],
        "collectors": [{"name": "main", "address": "fd42:9900::c", "asn": 4242429999}],
    }


def complete_state() -> DesiredState:
    """The same, checked."""
    return DesiredState.model_validate(document())
