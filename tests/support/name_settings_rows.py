# SPDX-License-Identifier: BSL-1.0
#
# The lines of resolv.conf(5) and nsswitch.conf(5) that resolvers are compared by.
#
# tests/programs/name_settings.py runs them. A row whose `ours` is not None says how gyre departs from glibc,
# and why.
"""ROWS."""

from dataclasses import dataclass, field


@dataclass
class Row:
    title: str
    resolv: str | None = "nameserver 127.0.0.1\n"
    name: str = "db"
    zone: dict = field(default_factory=dict)
    servers: dict | None = None  # Else one, at 127.0.0.1, with `zone`.
    family: str = ""
    nsswitch: str | None = "hosts: files dns\n"
    hosts: str = ""
    host: str = "machine"
    variables: dict = field(default_factory=dict)
    any_server: bool = False  # True if chance chooses which one is asked.
    ours: str | None = None  # Else as glibc.
    reason: str = ""

    def __post_init__(self):
        if self.servers is None:
            self.servers = {"127.0.0.1": self.zone}


ONE = "nameserver 127.0.0.1\n"
FOUND = ["192.0.2.1"]
BOTH = ["192.0.2.1", "2001:db8::1"]
LONG = ".".join(["d" * 60] * 4)
QUICK = "options timeout:1 attempts:1\n"


def conf(text, title=None, **others):
    """A row of a file that begins with one name server."""
    return Row(title or text.strip().replace("\n", "; "), ONE + text, **others)


def host_order(line, **others):
    return Row(line, nsswitch=line + "\n", **others)


SEARCHED = {"db.one.test": FOUND, "db.two.test": ["192.0.2.2"], "db": ["192.0.2.3"]}

SEARCH = [
    Row("nothing but a server", zone={"db": BOTH}),
    conf("search .", zone={"db": FOUND}),
    conf("search .", "search . and no such name"),
    conf("search . one.test", zone={"db.one.test": FOUND}),
    conf("search . one.test", "search . one.test and no such name"),
    conf("search one.test .", zone={"db": FOUND}),
    conf("search one.test .", "search one.test . and no such name"),
    conf("domain .", zone={"db": FOUND}),
    conf("search one.test two.test", zone=SEARCHED),
    conf("search one.test two.test", "search, and the second has it", zone={"db.two.test": FOUND}),
    conf("search one.test two.test", "search, and it is there as it is", zone={"db": FOUND}),
    conf("search one.test two.test", "search, and no such name"),
    conf("search one.test. two.test.", zone={"db.two.test": FOUND}),
    conf("search .one.test", zone={"db.one.test": FOUND}),
    conf("search one..test two.test", zone={"db.two.test": FOUND}),
    conf("search one.test two.test", "a dot at the end", name="db.", zone={"db": FOUND}),
    conf("search one.test", "www.db as it is first", name="www.db", zone={"www.db.one.test": FOUND}),
    conf("search one.test", "www.db, no such name", name="www.db"),
    conf("domain one.test", zone=SEARCHED),
    conf("domain one.test\nsearch two.test", zone=SEARCHED),
    conf("search two.test\ndomain one.test", zone=SEARCHED),
    conf("search two.test\nsearch one.test", zone=SEARCHED),
    conf("search one.test\nsearch", zone=SEARCHED),
    conf("domain one.test\ndomain", zone=SEARCHED),
    conf("domain one.test two.test", zone={"db.two.test": FOUND}),
    conf("search one.test # two.test", zone={"db.two.test": FOUND}),
    conf("search one.test;two.test", zone={"db.two.test": FOUND}),
    conf("search one.test ; two.test", zone={"db.two.test": FOUND}),
    conf("search one.test\ttwo.test  ", zone={"db.two.test": FOUND}),
    conf("search\tone.test", zone=SEARCHED),
    conf(" search one.test", "' search one.test'", zone=SEARCHED),
    conf("SEARCH one.test", zone=SEARCHED),
    conf("searching one.test", zone=SEARCHED),
    conf("search one.test\r\n", "search one.test, with \\r\\n", zone=SEARCHED),
    Row("search one.test, no line feed at the end", ONE + "search one.test", zone=SEARCHED),
    conf("search ONE.test", zone={"db.one.test": FOUND}),
    conf(f"search {LONG} one.test", "search of a long domain, and one.test", name="a" * 20,
         zone={"a" * 20 + ".one.test": FOUND}),
    conf(f"search {LONG}", "search of a long domain alone", name="a" * 20, zone={"a" * 20: FOUND}),
    conf(f"search {'d' * 64}.test one.test", "search of a long label, and one.test", zone=SEARCHED),
    conf("search -- one.test", zone=SEARCHED),
    conf("search a_b.test", zone={"db.a_b.test": FOUND}),
    conf("search " + " ".join(f"d{each}.test" for each in range(1, 9)), "search of eight domains",
         zone={"db.d8.test": FOUND}),
    conf("search " + " ".join(f"d{each:02}.{'x' * 40}.test" for each in range(1, 9)),
         "search of eight domains, 400 bytes", zone={f"db.d08.{'x' * 40}.test": FOUND}),
    Row("no search, host name machine.one.test", host="machine.one.test", zone=SEARCHED),
    conf("search two.test", "search two.test, host name machine.one.test", host="machine.one.test",
         zone=SEARCHED),
    conf("search .", "search ., host name machine.one.test", host="machine.one.test", zone=SEARCHED),
    conf("search", "search of nothing, host name machine.one.test", host="machine.one.test", zone=SEARCHED),
    conf("search one.test", "LOCALDOMAIN=two.test", variables={"LOCALDOMAIN": "two.test"}, zone=SEARCHED),
    conf("search one.test", "LOCALDOMAIN='three.test two.test'",
         variables={"LOCALDOMAIN": "three.test two.test"}, zone=SEARCHED),
    conf("search one.test", "LOCALDOMAIN=", variables={"LOCALDOMAIN": ""}, zone=SEARCHED),
    Row("LOCALDOMAIN=, host name machine.one.test", variables={"LOCALDOMAIN": ""}, host="machine.one.test",
        zone=SEARCHED),
    Row("LOCALDOMAIN=., host name machine.one.test", variables={"LOCALDOMAIN": "."}, host="machine.one.test",
        zone=SEARCHED),
]

FAILURES = [
    conf("search one.test two.test", "SERVFAIL below the first domain",
         zone={"db.one.test": "SERVFAIL", "db.two.test": FOUND}),
    conf("search one.test two.test", "SERVFAIL below the first domain, then no such name",
         zone={"db.one.test": "SERVFAIL"}),
    conf("search one.test two.test", "SERVFAIL below the first domain, then no data",
         zone={"db.one.test": "SERVFAIL", "db.two.test": "NODATA"}),
    conf("search one.test two.test", "SERVFAIL below the first domain, then as it is",
         zone={"db.one.test": "SERVFAIL", "db": FOUND}),
    conf("search one.test two.test", "REFUSED below the first domain",
         zone={"db.one.test": "REFUSED", "db.two.test": FOUND}),
    conf("search one.test two.test", "NOTIMP below the first domain",
         zone={"db.one.test": "NOTIMP", "db.two.test": FOUND}),
    conf("search one.test two.test", "FORMERR below the first domain",
         zone={"db.one.test": "FORMERR", "db.two.test": FOUND}),
    conf("search one.test two.test\n" + QUICK, "silence below the first domain",
         zone={"db.one.test": "SILENT", "db.two.test": FOUND}),
    conf("search one.test two.test", "no data below the first domain",
         zone={"db.one.test": "NODATA", "db.two.test": FOUND}),
    conf("search one.test two.test", "no data below the first domain, and no such name",
         zone={"db.one.test": "NODATA"}),
    conf("search one.test", "SERVFAIL as it is, then a domain", name="www.db",
         zone={"www.db": "SERVFAIL", "www.db.one.test": FOUND}),
    conf("search one.test", "SERVFAIL as it is, then no such name", name="www.db",
         zone={"www.db": "SERVFAIL"}),
    conf("search one.test", "no data as it is, then no such name", name="www.db", zone={"www.db": "NODATA"}),
    conf("search one.test", "no such name as it is, then no data", name="www.db",
         zone={"www.db.one.test": "NODATA"}),
    conf("search one.test\n" + QUICK, "silence as it is, then a domain", name="www.db",
         zone={"www.db": "SILENT", "www.db.one.test": FOUND}),
    conf("search one.test", "no server, and a domain", servers={}),
    conf("", "SERVFAIL", zone={"db": "SERVFAIL"}),
    conf("", "REFUSED", zone={"db": "REFUSED"}),
    conf("", "NOTIMP", zone={"db": "NOTIMP"}),
    conf("", "FORMERR", zone={"db": "FORMERR"}),
    conf(QUICK, "A, and silence for AAAA", zone={"db": "SILENT AAAA"}),
    conf("", "a name with an empty label", name="a..test"),
    conf("", "a label of 64", name="a" * 64),
    conf("", "a label of 63", name="a" * 63, zone={"a" * 63: FOUND}),
    conf("", "_ in a name", name="_a.b_c", zone={"_a.b_c": FOUND}),
    conf("", "TRUNCATED", zone={"db": "TRUNCATED"}, family="4"),
]

OPTIONS = [
    conf("options ndots:0\nsearch one.test", zone=SEARCHED),
    conf("options ndots:2\nsearch one.test", name="a.b", zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options ndots:2\nsearch one.test", "ndots:2 and two dots", name="a.b.c",
         zone={"a.b.c.one.test": FOUND, "a.b.c": FOUND}),
    conf("options ndots:15\nsearch one.test", name="a.b", zone={"a.b.one.test": FOUND}),
    conf("options ndots:99\nsearch one.test", "ndots:99, and 15 dots", name=".".join("a" * 16),
         zone={".".join("a" * 16): FOUND, ".".join("a" * 16) + ".one.test": FOUND}),
    conf("options ndots:x\nsearch one.test", zone=SEARCHED),
    conf("options ndots:\nsearch one.test", name="a.b", zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options ndots:-1\nsearch one.test", zone=SEARCHED),
    conf("options ndots: 2\nsearch one.test", name="a.b", zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options ndots:2 ndots:1\nsearch one.test", name="a.b", zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options ndots:2\noptions rotate\nsearch one.test", name="a.b",
         zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options rotate,ndots:2\nsearch one.test", name="a.b", zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options NDOTS:2\nsearch one.test", name="a.b", zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options unknown ndots:2\nsearch one.test", name="a.b", zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options\tndots:2\nsearch one.test", name="a.b", zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options timeout:1 # ndots:2\nsearch one.test", name="a.b",
         zone={"a.b.one.test": FOUND, "a.b": FOUND}),
    conf("options timeout:1 attempts:1", zone={"db": "SILENT"}),
    conf("options timeout:1 attempts:2", zone={"db": "SILENT"}),
    conf("options timeout:1 attempts:3", zone={"db": "SILENT"}),
    conf("options timeout:2 attempts:1", zone={"db": "SILENT"}),
    conf("options timeout:1", zone={"db": "SILENT"}),
    conf("options timeout:0 attempts:1", zone={"db": "SILENT"}),
    conf("options timeout:1 attempts:0", zone={"db": "SILENT"}),
    conf("options timeout:1 attempts:9", zone={"db": "SILENT"}),
    conf("options timeout:x attempts:1", zone={"db": "SILENT"}),
    conf("options timeout:1s attempts:1x", zone={"db": "SILENT"}),
    conf("options attempts:1", zone={"db": "SILENT"}),
    conf("", "no options, and silence", zone={"db": "SILENT"}),
    conf("options timeout:1 attempts:1", "attempts:1 and SERVFAIL", zone={"db": "SERVFAIL"}),
    conf("options retrans:1 retry:1", zone={"db": "SILENT"}),
    conf("options no-aaaa", zone={"db": BOTH}),
    conf("options no-aaaa", "options no-aaaa, family 6", zone={"db": BOTH}, family="6"),
    conf("options no-aaaa", "options no-aaaa, family 6, no such name", family="6"),
    conf("options edns0", zone={"db": FOUND}),
    conf("options edns0", "edns0 and a server that knows none", zone={"db": "FORMERR EDNS"}),
    conf("options use-vc", zone={"db": FOUND}),
    conf("options trust-ad", zone={"db": FOUND}),
    conf("options edns0 trust-ad\nsearch .", zone={"db": FOUND}),
    conf("options single-request", zone={"db": BOTH}),
    conf("options single-request\n" + QUICK, "single-request, silence for AAAA", zone={"db": "SILENT AAAA"}),
    conf("options single-request-reopen", zone={"db": BOTH}),
    conf("options no-tld-query", zone={"db": FOUND}),
    conf("options no-tld-query\nsearch one.test", zone={"db": FOUND}),
    conf("options no-tld-query ndots:2\nsearch one.test", name="a.b", zone={"a.b": FOUND}),
    conf("options inet6", zone={"db": FOUND}),
    conf("options debug no-reload no-check-names ip6-bytestring ip6-dotint no-ip6-dotint",
         zone={"db": FOUND}),
    conf("sortlist 192.0.2.2/255.255.255.255", zone={"db": ["192.0.2.1", "192.0.2.2"]}),
    conf("options timeout:5", "RES_OPTIONS='timeout:1 attempts:1'",
         variables={"RES_OPTIONS": "timeout:1 attempts:1"}, zone={"db": "SILENT"}),
    conf("search one.test", "RES_OPTIONS=ndots:2", variables={"RES_OPTIONS": "ndots:2"}, name="a.b",
         zone={"a.b.one.test": FOUND, "a.b": FOUND}),
]


def servers_of(**does):
    return {f"127.0.0.{number[1:]}": what for number, what in does.items()}


HAS = {"db": FOUND}
FOUR = servers_of(s1="SILENT", s2="SILENT", s3="SILENT", s4=HAS)

SERVERS = [
    Row("no file", None, zone=HAS),
    Row("an empty file", "", zone=HAS),
    Row("search alone", "search one.test\n", zone=SEARCHED),
    Row("nameserver 127.0.0.1, silent; 127.0.0.2", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n" + QUICK,
        servers=servers_of(s1="SILENT", s2=HAS)),
    Row("three silent servers, and a fourth",
        "".join(f"nameserver 127.0.0.{each}\n" for each in range(1, 5)) + QUICK, servers=FOUR),
    Row("three silent servers, attempts:2",
        "".join(f"nameserver 127.0.0.{each}\n" for each in range(1, 4)) + "options timeout:1\n",
        servers=FOUR),
    Row("one server twice, silent", "nameserver 127.0.0.1\n" * 2 + QUICK, servers=servers_of(s1="SILENT")),
    Row("SERVFAIL, then one that answers", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n",
        servers=servers_of(s1="SERVFAIL", s2=HAS)),
    Row("REFUSED, then one that answers", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n",
        servers=servers_of(s1="REFUSED", s2=HAS)),
    Row("NOTIMP, then one that answers", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n",
        servers=servers_of(s1="NOTIMP", s2=HAS)),
    Row("FORMERR, then one that answers", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n",
        servers=servers_of(s1="FORMERR", s2=HAS)),
    Row("no such name, then one that answers", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n",
        servers=servers_of(s1={}, s2=HAS)),
    Row("no data, then one that answers", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n",
        servers=servers_of(s1="NODATA", s2=HAS)),
    Row("a server that is not there, then one that answers", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n",
        servers=servers_of(s2=HAS)),
    Row("no server there", servers={}),
    Row("two servers that fail", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n",
        servers=servers_of(s1="SERVFAIL", s2="SERVFAIL")),
    Row("options rotate, two servers", "nameserver 127.0.0.1\nnameserver 127.0.0.2\noptions rotate\n",
        servers=servers_of(s1=HAS, s2=HAS), any_server=True),
    Row("nameserver ::1", "nameserver ::1\n", servers={"::1": HAS}),
    Row("nameserver fe80::53%lo", "nameserver fe80::53%lo\n", servers={"fe80::53%lo": HAS}),
    Row("nameserver fe80::53%1", "nameserver fe80::53%1\n", servers={"fe80::53%lo": HAS}),
    Row("nameserver fe80::53", "nameserver fe80::53\n" + QUICK, servers={"fe80::53%lo": HAS}),
    Row("nameserver fe80::53%none; 127.0.0.1", "nameserver fe80::53%none\nnameserver 127.0.0.1\n" + QUICK,
        servers={"fe80::53%lo": HAS, "127.0.0.1": HAS}),
    Row("nameserver 0.0.0.0", "nameserver 0.0.0.0\n", zone=HAS),
    Row("nameserver 127.1", "nameserver 127.1\n", zone=HAS),
    Row("nameserver 0x7f.1", "nameserver 0x7f.1\n", zone=HAS),
    Row("nameserver 127.0.0.2:53", "nameserver 127.0.0.2:53\n", servers=servers_of(s1=HAS, s2=HAS)),
    Row("nameserver [::1]:53", "nameserver [::1]:53\n", servers={"127.0.0.1": HAS, "::1": HAS}),
    Row("nameserver 127.0.0.2,127.0.0.3", "nameserver 127.0.0.2,127.0.0.3\n",
        servers=servers_of(s1=HAS, s2=HAS, s3=HAS)),
    Row("nameserver 127.0.0.2 127.0.0.3", "nameserver 127.0.0.2 127.0.0.3\n",
        servers=servers_of(s1=HAS, s2=HAS, s3=HAS)),
    Row("nameserver one.test; 127.0.0.2", "nameserver one.test\nnameserver 127.0.0.2\n",
        servers=servers_of(s1=HAS, s2=HAS)),
    Row("nameserver of nothing", "nameserver\n", zone=HAS),
    Row("nameserver ::ffff:127.0.0.2", "nameserver ::ffff:127.0.0.2\n", servers=servers_of(s1=HAS, s2=HAS)),
    Row("nameserver 127.0.0.2 # comment", "nameserver 127.0.0.2 # comment\n",
        servers=servers_of(s1=HAS, s2=HAS)),
    Row("nameserver 127.0.0.2# comment", "nameserver 127.0.0.2# comment\n",
        servers=servers_of(s1=HAS, s2=HAS)),
    Row("nameserver 127.0.0.2;", "nameserver 127.0.0.2;\n", servers=servers_of(s1=HAS, s2=HAS)),
    Row("nameserver 127.0.0.2, with \\r\\n", "nameserver 127.0.0.2\r\n", servers=servers_of(s1=HAS, s2=HAS)),
    Row("# nameserver, ; nameserver", "# nameserver 127.0.0.2\n; nameserver 127.0.0.3\n",
        servers=servers_of(s1=HAS, s2=HAS, s3=HAS)),
    Row("' nameserver 127.0.0.2'", " nameserver 127.0.0.2\n", servers=servers_of(s1=HAS, s2=HAS)),
    Row("NAMESERVER 127.0.0.2", "NAMESERVER 127.0.0.2\n", servers=servers_of(s1=HAS, s2=HAS)),
    Row("nameserver\\t127.0.0.2", "nameserver\t127.0.0.2\n", servers=servers_of(s1=HAS, s2=HAS)),
]

LISTED = "192.0.2.9 db\n"

ORDER = [
    host_order("hosts: files dns", hosts=LISTED, zone=HAS),
    host_order("hosts: dns files", hosts=LISTED, zone=HAS),
    Row("hosts: dns files, no such name", nsswitch="hosts: dns files\n", hosts=LISTED),
    Row("hosts: dns files, SERVFAIL", nsswitch="hosts: dns files\n", hosts=LISTED, zone={"db": "SERVFAIL"}),
    Row("hosts: dns files, no data", nsswitch="hosts: dns files\n", hosts=LISTED, zone={"db": "NODATA"}),
    Row("hosts: dns files, no server", nsswitch="hosts: dns files\n", hosts=LISTED, servers={}),
    host_order("hosts: dns [NOTFOUND=return] files", hosts=LISTED),
    host_order("hosts: dns [!UNAVAIL=return] files", hosts=LISTED),
    Row("hosts: dns [!UNAVAIL=return] files, SERVFAIL", nsswitch="hosts: dns [!UNAVAIL=return] files\n",
        hosts=LISTED, zone={"db": "SERVFAIL"}),
    Row("hosts: dns [!UNAVAIL=return] files, no server", nsswitch="hosts: dns [!UNAVAIL=return] files\n",
        hosts=LISTED, servers={}),
    Row("hosts: dns [TRYAGAIN=return] files, SERVFAIL", nsswitch="hosts: dns [TRYAGAIN=return] files\n",
        hosts=LISTED, zone={"db": "SERVFAIL"}),
    Row("hosts: dns [UNAVAIL=return] files, no server", nsswitch="hosts: dns [UNAVAIL=return] files\n",
        hosts=LISTED, servers={}),
    host_order("hosts: files [NOTFOUND=return] dns", zone=HAS),
    host_order("hosts: files [SUCCESS=continue] dns", hosts=LISTED, zone=HAS),
    Row("hosts: files [SUCCESS=continue] dns, no such name", nsswitch="hosts: files [SUCCESS=continue] dns\n",
        hosts=LISTED),
    host_order("hosts: files [SUCCESS=merge] dns", hosts=LISTED, zone=HAS),
    host_order("hosts: files", zone=HAS),
    host_order("hosts: dns", hosts=LISTED, zone=HAS),
    Row("hosts: dns, no such name", nsswitch="hosts: dns\n", hosts=LISTED),
    host_order("hosts:", hosts=LISTED, zone=HAS),
    host_order("hosts: none_such dns", zone=HAS),
    host_order("hosts: none_such [UNAVAIL=return] dns", zone=HAS),
    host_order("hosts: none_such [!UNAVAIL=return] dns", zone=HAS),
    host_order("hosts: none_such [NOTFOUND=return] dns", zone=HAS),
    host_order("hosts: files mdns4_minimal [NOTFOUND=return] dns", zone=HAS),
    Row("mdns4_minimal, db.local", nsswitch="hosts: files mdns4_minimal [NOTFOUND=return] dns\n",
        name="db.local", zone={"db.local": FOUND}),
    host_order("hosts: files resolve [!UNAVAIL=return] dns", zone=HAS),
    host_order("hosts: mymachines resolve [!UNAVAIL=return] files myhostname dns", hosts=LISTED, zone=HAS),
    host_order("hosts: files dns myhostname", name="machine"),
    host_order("hosts: Files DNS", hosts=LISTED, zone=HAS),
    host_order("HOSTS: dns", hosts=LISTED, zone=HAS),
    host_order("hosts : dns", hosts=LISTED, zone=HAS),
    host_order(" hosts: dns", hosts=LISTED, zone=HAS),
    host_order("hosts:dns", hosts=LISTED, zone=HAS),
    host_order("hosts: dns # files", hosts=LISTED),
    host_order("hosts: dns[notfound=RETURN]files", hosts=LISTED),
    host_order("hosts: dns [ NOTFOUND = return ] files", hosts=LISTED),
    host_order("hosts: dns [NOTFOUND=return UNAVAIL=continue] files", hosts=LISTED),
    host_order("hosts: dns [NOTFOUND=nonsense] files", hosts=LISTED),
    host_order("hosts: dns [NOTFOUND=return files", hosts=LISTED),
    Row("two hosts lines", nsswitch="hosts: dns\nhosts: files\n", hosts=LISTED, zone=HAS),
    Row("two hosts lines, dns last", nsswitch="hosts: files\nhosts: dns\n", hosts=LISTED, zone=HAS),
    Row("# hosts: dns", nsswitch="# hosts: dns\n", hosts=LISTED, zone=HAS),
    Row("no nsswitch.conf", nsswitch=None, hosts=LISTED, zone=HAS),
    Row("no nsswitch.conf, not listed", nsswitch=None, zone=HAS),
    Row("nsswitch.conf without hosts", nsswitch="passwd: files\n", hosts=LISTED, zone=HAS),
    Row("listed for IPv4, family 6", hosts=LISTED, family="6", zone={"db": BOTH}),
    Row("listed for IPv4, any family", hosts=LISTED, zone={"db": BOTH}),
    Row("listed twice", hosts=LISTED + "192.0.2.10 db\n2001:db8::9 db\n"),
    Row("localhost, not listed", name="localhost", zone={"localhost": FOUND}),
]

GIVEN_UP = "a failure ends neither the list nor hides behind `no`"
APPEND = "a domain that cannot be appended says nothing of the next one"
NOT_A_NAME = "we tell what is no name from what does not exist"
RETURN = "a carriage return is no part of a name or an address; musl drops it, too"
NEXT = "a server that does not understand says nothing of the name"

# What gyre does otherwise than glibc, by title.
DEPARTURES = {
    "search one..test two.test": ("db.two.test A+AAAA @1 -> 192.0.2.1", APPEND),
    "search of a long domain, and one.test": (f"{'a' * 20}.one.test A+AAAA @1 -> 192.0.2.1", APPEND),
    "search of a long label, and one.test": ("db.one.test A+AAAA @1 -> 192.0.2.1", APPEND),
    "search one.test, with \\r\\n": ("db.one.test A+AAAA @1 -> 192.0.2.1", RETURN),
    "nameserver 127.0.0.2, with \\r\\n": ("db A+AAAA @2 -> 192.0.2.1", RETURN),
    "SERVFAIL below the first domain, then no data": (
        "db.one.test A+AAAA @1 1; db.two.test A+AAAA @1; db A+AAAA @1 -> try again", GIVEN_UP),
    "REFUSED below the first domain": (
        "db.one.test A+AAAA @1 1; db.two.test A+AAAA @1 -> 192.0.2.1", GIVEN_UP),
    "NOTIMP below the first domain": (
        "db.one.test A+AAAA @1 1; db.two.test A+AAAA @1 -> 192.0.2.1", GIVEN_UP),
    "FORMERR below the first domain": (
        "db.one.test A+AAAA @1 1; db.two.test A+AAAA @1 -> 192.0.2.1", GIVEN_UP),
    "silence below the first domain": ("db.one.test A+AAAA @1; db A+AAAA @1 -> try again", GIVEN_UP),
    "FORMERR": ("db A+AAAA @1 1 -> try again", NEXT),
    "FORMERR, then one that answers": ("db A+AAAA @1 2 -> 192.0.2.1", NEXT),
    "edns0 and a server that knows none": (
        "db A+AAAA @1/edns 1 -> 192.0.2.1", "RFC 6891 7: ask again without"),
    "A, and silence for AAAA": ("db A+AAAA @1 -> 192.0.2.1", "each type has a socket of its own"),
    "single-request, silence for AAAA": ("db A+AAAA @1 -> 192.0.2.1", "each type has a socket of its own"),
    "a name with an empty label": ("nothing -> error malformed input", NOT_A_NAME),
    "a label of 64": ("nothing -> error malformed input", NOT_A_NAME),
    "options timeout:1 attempts:0": (
        "db A+AAAA @1 -> try again", "no question has no answer; musl divides by 0"),
    "hosts: files [SUCCESS=merge] dns": (
        "nothing -> 192.0.2.9", "glibc finds nothing: it cannot merge hosts"),
    "hosts: dns [NOTFOUND=nonsense] files": ("db A+AAAA @1 -> no host", "what could be read is heeded"),
    "hosts: dns [NOTFOUND=return files": ("db A+AAAA @1 -> no host", "what could be read is heeded"),
    "localhost, not listed": (
        "nothing -> 127.0.0.1 ::1", "RFC 6761 6.3: no server is asked for the loopback address"),
}

ROWS = [*SEARCH, *FAILURES, *OPTIONS, *SERVERS, *ORDER]
for row in ROWS:
    if row.title in DEPARTURES:
        row.ours, row.reason = DEPARTURES[row.title]
