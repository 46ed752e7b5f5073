"""Shared by all attacks: how they are named, the table they attack, crowds of clients."""

import subprocess

from serving import HOST

ATTACKS = {}
FOUND = (302, "https://e.example/")
HEAD = f"Host: {HOST}\r\n".encode()
REQUEST = b"GET /x HTTP/1.1\r\n" + HEAD + b"\r\n"
SECRET = "It's a Secret to Everybody"


def attack(function):
    ATTACKS[function.__name__.replace("_", "-")] = function
    return function


def table(*codes):
    entries = "".join(f"- {{url: 'https://e.example/', short-code: {code}}}\n" for code in codes)
    return f"base_url: https://{HOST}/\nmapping:\n{entries}"


def replace(file, text):
    new = file.with_name(".new")
    new.write_text(text)
    new.rename(file)


def git(directory, *arguments):
    who = ("-c", "user.name=A. Uthor", "-c", "user.email=author@example.org")
    subprocess.run(["git", *who, *arguments], cwd=directory, check=True, capture_output=True)


def crowd(server, size, said=b""):
    """Opens connections that send at most the beginning of a request."""
    clients = []
    for _ in range(size):
        client = server.connect()
        client.sendall(said)
        clients.append(client)
    return clients


def disperse(clients):
    for client in clients:
        client.close()
