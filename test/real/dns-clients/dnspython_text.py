"""Formats record values with dnspython, as desec-stack does: the argument is a JSON list of pairs of a type and a value."""

import json
import re
import sys
from ipaddress import IPv6Address

import dns.rdata
import dns.rdataclass
import dns.rdatatype

IN = dns.rdataclass.IN


def canonical(type_name, text):
    rdtype = dns.rdatatype.from_text(type_name)
    wire = dns.rdata.from_text(IN, rdtype, text, relativize=False).to_wire()
    rdata = dns.rdata.from_wire(IN, rdtype, wire, 0, len(wire))
    # These have a fixed chunk size.
    formatted = rdata.to_text() if type_name == "OPENPGPKEY" else rdata.to_text(chunksize=0)
    # Where desec-stack formats values as PowerDNS does (dns.py).
    if type_name in ("SVCB", "HTTPS"):
        return re.sub(r'\b(alpn|ipv4hint|ipv6hint|mandatory|port)="([^"]*)"', r"\1=\2", formatted)
    if type_name == "AAAA":
        return IPv6Address._string_from_ip_int(int(IPv6Address(formatted)))
    if type_name == "CERT":
        return " ".join([str(int(rdata.certificate_type)), str(rdata.key_tag), str(int(rdata.algorithm)), formatted.split(" ")[-1]])
    return formatted


json.dump([canonical(*pair) for pair in json.loads(sys.argv[1])], sys.stdout)
