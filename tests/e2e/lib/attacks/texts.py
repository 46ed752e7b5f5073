"""Paths that decode twice."""

from .scene import FOUND, HEAD, attack, table


@attack
def double_decoding(directory, start):
    """Forwarded paths that walk up where a target decodes twice, or cuts parameters off."""
    forwarding = "- {url: 'https://e.example/deep/', short-code: docs, forward: path}\n"
    (directory / "mapping.yaml").write_text(table("x") + forwarding)
    server = start().serving()
    hidden = ("..;", "..;x=y", "..%3b", "..%253B", "%2e%2e;x", ".%252e", "%252e%252e", "%252E%252E%252F")
    hidden += ("a%5c..%5cb", "..%255c", "a%252f..%252fb", ".;", "%2e%3B")
    for segment in hidden:
        for path in (segment, f"a/{segment}/b", f"a/{segment}"):
            request = b"GET /docs/" + path.encode() + b" HTTP/1.1\r\n" + HEAD + b"Connection: close\r\n\r\n"
            reply = server.say(request)
            assert reply.startswith(b"HTTP/1.1 404"), (path, reply)
    for path in ("a;b/c..;", "100%25", "%25ff", "...", "%25252e%25252e"):
        assert server.follow(f"/docs/{path}") == (302, f"https://e.example/deep/{path}"), path
    assert server.follow() == FOUND
    server.stop()
