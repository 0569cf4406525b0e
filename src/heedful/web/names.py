"""The host names a server answers to: a page of somebody else could reach it by a name of its own.

Such a name can be made to lead to any address (DNS rebinding); an address leads only to itself.
"""

from collections.abc import Container
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class AnyAddress(Container[str]):
    """Every IP address, and these names."""

    names: frozenset[str] = LOOPBACK

    def __contains__(self, name: object) -> bool:
        return name in self.names or _address(str(name)) is not None


def names_for(host: str) -> Container[str]:
    """What a server that listens at `host` answers to; one that listens at all addresses, to any of them."""
    address = _address(host)
    if address is not None and address.is_unspecified:
        return AnyAddress()
    return LOOPBACK | {host.lower()} | ({str(address)} if address else frozenset())


def on_this_machine(host: str) -> bool:
    """Whether only this machine reaches what listens at `host`."""
    address = _address(host)
    return host.lower() in LOOPBACK or (address is not None and address.is_loopback)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
