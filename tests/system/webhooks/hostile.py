"""Where the server must never call: addresses that are not public, and spellings that hide one."""

from __future__ import annotations

RESERVED = {
    "0.0.0.0/8": ("0.0.0.0", "0.0.0.1", "0.255.255.255"),
    "10/8": ("10.0.0.0", "10.1.2.3", "10.255.255.255"),
    "100.64/10": ("100.64.0.0", "100.100.100.200", "100.127.255.255"),
    "127/8": ("127.0.0.0", "127.0.0.1", "127.1.1.1", "127.255.255.255"),
    "169.254/16": ("169.254.0.0", "169.254.169.254", "169.254.170.2", "169.254.255.255"),
    "172.16/12": ("172.16.0.0", "172.17.0.1", "172.31.255.255"),
    "192.0.0/24": ("192.0.0.0", "192.0.0.8", "192.0.0.170", "192.0.0.255"),
    "192.0.2/24": ("192.0.2.0", "192.0.2.255"),
    "192.31.196/24": ("192.31.196.0", "192.31.196.255"),
    "192.52.193/24": ("192.52.193.0", "192.52.193.255"),
    "192.88.99/24": ("192.88.99.0", "192.88.99.1", "192.88.99.255"),
    "192.168/16": ("192.168.0.0", "192.168.1.1", "192.168.255.255"),
    "192.175.48/24": ("192.175.48.0", "192.175.48.255"),
    "198.18/15": ("198.18.0.0", "198.19.255.255"),
    "198.51.100/24": ("198.51.100.0", "198.51.100.255"),
    "203.0.113/24": ("203.0.113.0", "203.0.113.255"),
    "224/4": ("224.0.0.0", "224.0.0.1", "233.252.0.1", "239.255.255.255"),
    "240/4": ("240.0.0.0", "250.1.2.3", "255.255.255.254", "255.255.255.255"),
}
"""IPv4 addresses of each range that is not public: its ends, and known ones inside."""

IPV6 = (
    *("::", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1"),
    *("::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1"),
    *("2001::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0"),
    *("fec0::1", "ff02::1", "ff05::1:3", "2606:4700:4700::1111", "2001:4860:4860::8888"),
)
"""No IPv6 address is connected to, public or not: the destination's IPv4 record counts."""

PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "9.9.9.9",
    "93.184.216.34",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "223.255.255.255",
)

_LOOPBACK = (
    *(
        "2130706433",
        "0x7f000001",
        "0X7F000001",
        "017700000001",
        "0x7f.1",
        "0x7f.0.0.1",
        "127.1",
        "127.0.1",
        "127.0.0.1.",
    ),
    *("0177.0.0.1", "0177.1", "127.000.000.001", "0127.0.0.1", "127.0.0.0x1", "127.0x0.0.1", "%31%32%37.0.0.1"),
    *("\uff11\uff12\uff17.\uff10.\uff10.\uff11", "\u2460\u2461\u2466.0.0.1", "127\u30020\u30020\u30021"),
    *("127\uff0e0\uff0e0\uff0e1", "\u0661\u0662\u0667.0.0.1", "127.0.0.1\u200b", "\u00ad127.0.0.1", "127.0.0.1%00"),
    *("3232235777", "0xc0a80101", "0300.0250.1.1", "192.168.257", "10.1", "0xa.1", "012.0.0.1", "2852039166"),
    *("169.254.43518", "0xa9fea9fe", "0251.0376.0251.0376", "0", "0x0", "00", "0.0.0", "1.2.3", "256.1.1.1"),
    *("1.1.1.1.1", "1.1.1.1e0", "1e3.1", "4294967296", "99999999999", "-1.0.0.1", "+127.0.0.1", "127.0.0.1:443"),
)
_NAMES = (
    *("localhost", "LOCALHOST", "localhost.", "localhost.localdomain.", "intranet", "metadata", "a", "com", "com."),
    *("example.com.", "example..com", ".example.com", "-example.com", "example-.com", "exa_mple.com", "exa mple.com"),
    *("*.example.com", "example.com%2f.evil.com", "example.com%00.evil.com", "ex\u00e4mple.com", "example\u3002com"),
    *("e\u0301xample.com", "\u212bexample.com", "ex\u200bample.com", "example.c\u043em", "example.123", "example.0x1"),
    *("a" * 64 + ".com", "a." * 127 + "com", "example.com\t", "exam\tple.com", "exam\nple.com", "example.com\\"),
    *("example.com;", "example.com,evil.com", "example.com|evil", "(example.com)", "example.com'", 'example.com"'),
    *("<example.com>", "{example.com}", "example.com^", "example.com`", "example.com$", "!example.com", "~example.com"),
)
_URLS = (
    *("", " ", "/", "//", "//example.com/", "///example.com/", "example.com", "example.com:443", "https", "https:"),
    *("https:/", "https://", "https:///", "https:///x", "https://?x", "https://#", "https:example.com", "https:/a.com"),
    *("https:\\\\example.com", "https:\\/\\/example.com", "https://\\example.com", "https://example.com\\@127.0.0.1/"),
    *("https://example.com\\.127.0.0.1/", "https:// example.com/", " https://example.com/", "https://example.com/ "),
    *("https://example.com/\n", "\nhttps://example.com/", "ht\ntps://example.com/", "https://example.com/\r\nHost: x"),
    *("https://example.com/\x00", "https://example.com/a b", "https://example.com/\u00e9", "https://example.com/\x7f"),
    *("http://example.com/", "HTTP://example.com/", "ftp://example.com/", "file:///etc/passwd", "gopher://a.com/"),
    *("wss://example.com/", "javascript:alert(1)", "data:text/plain,x", "dict://a.com/", "httpss://example.com/"),
    *(
        "https+unix://example.com/",
        "unix:///var/run/docker.sock",
        "blob:https://example.com/",
        "view-source:https://a.com",
    ),
    *("https://user@example.com/", "https://user:pass@example.com/", "https://:pass@example.com/", "https://@a.com/"),
    *("https://example.com@127.0.0.1/", "https://127.0.0.1@example.com/", "https://a%40b@example.com/"),
    *("https://example.com#@127.0.0.1/", "https://example.com/#", "https://example.com/#part", "https://example.com#"),
    *("https://example.com/?x#y", "https://example.com:/", "https://example.com:0/", "https://example.com:80/"),
    *(
        "https://example.com:8443/",
        "https://example.com:0443/",
        "https://example.com:443443/",
        "https://example.com:-1/",
    ),
    *(
        "https://example.com:+443/",
        "https://example.com: 443/",
        "https://example.com:443:443/",
        "https://example.com:x/",
    ),
    *(
        "https://example.com:\uff14\uff14\uff13/",
        "https://example.com/" + "x" * 2_000,
        "https://example.com" + "/" * 2_000,
    ),
)
TRICKS = (
    *_URLS,
    *(f"https://{host}/" for host in (*_LOOPBACK, *_NAMES)),
    *(f"https://{address}/" for range_ in RESERVED.values() for address in range_),
    *(f"https://[{address}]/" for address in IPV6),
    *(f"https://{address}/" for address in (*IPV6, *PUBLIC)),
)
"""Addresses (URLs) that are refused as they stand, before any name is looked up."""
