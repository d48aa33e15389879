"""Forty record sets of all types of a provider, and how they change: ten are updated and ten deleted."""

import base64
import ipaddress

DIGEST = 'ab' * 32

# One value of each type, as in a zone file. Each is made distinct by a number.
VALUES = {
    'A': lambda n: str(ipaddress.ip_address('192.0.2.1') + n),
    'AAAA': lambda n: str(ipaddress.ip_address('2001:db8::1') + n),
    'CAA': lambda n: f'0 issue "ca{n}.example.net"',
    'CNAME': lambda n: f'target{n}.example.net.',
    'DS': lambda n: f'{n} 13 2 {DIGEST}',
    'HINFO': lambda n: f'"CPU {n}" "Linux"',
    'HTTPS': lambda n: f'{n} target.example.net. alpn="h2"',
    'MX': lambda n: f'{n} mail.example.net.',
    'NAPTR': lambda n: f'{n} 10 "S" "SIP+D2U" "" _sip._udp.example.net.',
    'NS': lambda n: f'ns{n}.example.net.',
    'OPENPGPKEY': lambda n: base64.b64encode(bytes([n] * 20)).decode(),
    'PTR': lambda n: f'host{n}.example.net.',
    'RP': lambda n: f'admin{n}.example.net. text.example.net.',
    'SPF': lambda n: f'"v=spf1 ip4:192.0.2.{n} -all"',
    'SRV': lambda n: f'{n} 5 5060 sip.example.net.',
    'SSHFP': lambda n: f'4 2 {DIGEST[:-2]}{n:02x}',
    'SVCB': lambda n: f'{n} target.example.net. port="853"',
    'TLSA': lambda n: f'3 1 1 {DIGEST[:-2]}{n:02x}',
    'TXT': lambda n: f'"text {n}"',
}


def record_sets(types, count=40):
    """The record sets by (name, type): (ttl, values)."""
    found = {}
    for n in range(count):
        type = types[n % len(types)]
        # A DS needs a delegation at its name.
        name = f'd{n - 1}' if type == 'DS' and types[(n - 1) % len(types)] == 'NS' else f'd{n}'
        found[(name, type)] = (300, [VALUES[type](n + 1)])
    return found


def changed(sets):
    """Updates the first ten and deletes the last ten."""
    keys = list(sets)
    found = {key: sets[key] for key in keys[:-10]}
    for key in keys[:10]:
        ttl, [value] = found[key]
        found[key] = (600, [value])
    return found
