"""
Sends packets that open connections, and tells which of them are answered. A port that nothing listens on answers too.

Each line of the input is a JSON object: `wait` in seconds, and `packets`: lists of protocol, source, destination, and port.
Each line of the output is a list that says of each packet whether it was answered.
"""

import itertools
import json
import os
import select
import socket
import struct
import sys
import time
from errno import ECONNREFUSED


def checksum(data):
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def echo_request(kind, identity, token):
    message = struct.pack('!BBHHH', kind, 0, 0, identity, 1) + token
    return message[:2] + struct.pack('!H', checksum(message)) + message[4:]


# Packets of known connections pass.
unused = itertools.cycle(range(10_000, 65_536))


def sent(protocol, source, destination, port, token):
    is_v6 = ':' in source
    family = socket.AF_INET6 if is_v6 else socket.AF_INET
    if protocol == 'icmp':
        opened = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_ICMPV6 if is_v6 else socket.IPPROTO_ICMP)
    else:
        opened = socket.socket(family, socket.SOCK_STREAM if protocol == 'tcp' else socket.SOCK_DGRAM)
    if protocol == 'tcp':
        # Closing it ends the connection at once.
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    opened.setblocking(False)
    own = next(unused)
    opened.bind((source, 0 if protocol == 'icmp' else own))
    opened.connect_ex((destination, 0 if protocol == 'icmp' else port))
    if protocol == 'icmp':
        # The kernel replaces the checksum of ICMPv6.
        opened.send(echo_request(128 if is_v6 else 8, own, token))
    elif protocol == 'udp':
        opened.send(b'?')
    return opened


def is_answer(protocol, opened, token):
    if protocol != 'icmp':
        return opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) in (0, ECONNREFUSED)
    received = opened.recv(2048)
    return received.endswith(token) and received[-16] in (0, 129)


def answered(packets, wait):
    poll = select.poll()
    found = [False] * len(packets)
    waiting = {}
    for at, packet in enumerate(packets):
        token = os.urandom(8)
        opened = sent(*packet, token)
        waiting[opened.fileno()] = (at, packet[0], opened, token)
        poll.register(opened, select.POLLOUT if packet[0] == 'tcp' else select.POLLIN)
    every = [one[2] for one in waiting.values()]
    end = time.monotonic() + wait
    while waiting and (left := end - time.monotonic()) > 0:
        for number, _ in poll.poll(left * 1000):
            at, *probe = waiting[number]
            if is_answer(*probe):
                found[at] = True
                del waiting[number]
                poll.unregister(number)
    for one in every:
        one.close()
    return found


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(answered(request['packets'], request['wait'])), flush=True)
