"""A separate network, in which any name can resolve to the farm: addresses, routes and a DNS server.

The script runs in network and mount namespaces with only a loopback interface. Global addresses are routed
to it, so that the program runs as usual: it needs neither a special resolver nor permission to request
private addresses.
"""

import collections
import ipaddress
import re
import socket
import struct
import subprocess
import threading
import time

#: Where hosts of the farm are.
GLOBAL_V4, GLOBAL_V6 = "11.0.0.0/8", "2606:4700::/32"
#: Where nobody is.
UNREACHABLE_V4, UNREACHABLE_V6 = "12.0.0.0/8", "2606:4701::/32"
#: Where the farm listens too, to notice connections that should not have been made.
FORBIDDEN = ("10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8")
#: To nowhere: this machine has no route.
ROUTELESS = "13.0.0.1"

A, AAAA = 1, 28
SERVER_FAILURE, NO_SUCH_NAME = 2, 3


def enter(folder):
    """Sets up the namespaces, after checking that they are not those of the machine."""
    names = [name for _, name in socket.if_nameindex()]
    # Kernels add unused tunnel devices to each namespace, if their modules are loaded.
    others = [name for name in names if name != "lo" and not re.fullmatch(r"(tunl|sit|gre|gretap|erspan|ip6\w*|ip_vti)0", name)]
    assert not others, f"this is not a separate network namespace: it has {others}"
    run("ip", "link", "set", "lo", "up")
    for network in (GLOBAL_V4, GLOBAL_V6, *FORBIDDEN):
        run("ip", "route", "add", "local", network, "dev", "lo")
    for network in (UNREACHABLE_V4, UNREACHABLE_V6):
        run("ip", "route", "add", "unreachable", network)
    for name, text in (
        ("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"),
        ("nsswitch.conf", "hosts: files dns\n"),
        ("hosts", "127.0.0.1 localhost\n"),
    ):
        (folder / name).write_text(text)
        run("mount", "--bind", folder / name, f"/etc/{name}")


def run(*command):
    subprocess.run(command, check=True)


class Names:
    """Addresses for names: a separate one for each, unless the first word of the name specifies another."""

    def __init__(self):
        self.lock = threading.Lock()
        self.numbers = {}
        self.hosts = {}
        self.looked_up = collections.Counter()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def host_at(self, address):
        """Returns the name to which an address was assigned."""
        with self.lock:
            return self.hosts.get(address)

    def addresses(self, name):
        """Returns the IPv4 and IPv6 addresses of a name, or the code of an error."""
        with self.lock:
            number = self.numbers.setdefault(name, len(self.numbers) + 1)
            self.looked_up[name] += 1
            looked_up = self.looked_up[name]
        v4, v6 = (str(ipaddress.ip_network(network)[number]) for network in (GLOBAL_V4, GLOBAL_V6))
        no_v4, no_v6 = (str(ipaddress.ip_network(network)[number]) for network in (UNREACHABLE_V4, UNREACHABLE_V6))
        found = {
            "nxdomain": NO_SUCH_NAME,
            "servfail": SERVER_FAILURE,
            "silent": None,
            "nodata": ([], []),
            "v6only": ([], [v6]),
            "v6down": ([v4], [no_v6]),
            "v4down": ([no_v4], [v6]),
            "unreachable": ([no_v4], [no_v6]),
            "routeless": ([ROUTELESS], []),
            "private": (["10.1.2.3"], []),
            "mixed": ([v4, "192.168.1.1"], []),
            "local6": ([v4], ["fd00::1"]),
            "metadata": (["169.254.169.254"], []),
            "hidden": ([], ["::ffff:10.1.2.3"]),
            # Its address changes from the third look-up on; each look-up asks for both families.
            "rebinds": ([v4 if looked_up <= 4 else "10.1.2.3"], []),
        }.get(re.split(r"[-.]", name)[0], ([v4], []))
        if isinstance(found, tuple):
            with self.lock:
                self.hosts |= dict.fromkeys((*found[0], *found[1]), name)
        return found

    def serve(self):
        while True:
            query, client = self.socket.recvfrom(4096)
            answer = self.answer(query)
            if answer:
                self.socket.sendto(answer, client)

    def answer(self, query):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        kind = struct.unpack(">H", query[at + 1:at + 3])[0]
        found = self.addresses(".".join(labels).lower())
        if found is None:
            return None
        error, records = (found, []) if isinstance(found, int) else (0, found[0] if kind == A else found[1])
        if kind not in (A, AAAA):
            records = []
        header = query[:2] + struct.pack(">HHHHH", 0x8180 | error, 1, len(records), 0, 0)
        answers = b""
        for record in records:
            address = ipaddress.ip_address(record).packed
            answers += struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(address)) + address
        return header + query[12:at + 5] + answers


def now():
    """Returns the time of the clock with which the kernel timestamps arriving data."""
    return time.clock_gettime(time.CLOCK_REALTIME)
