"""Generates trees of .htaccess files with all kinds of rules, which overlap often."""

NAMES = ["a", "b", "c", "ab", "v1", "x.y", "A"]
PATTERNS = [
    "^{n}$", "^{n}/?$", "^{n}/$", "^{n}/{m}$", "^{n}/(.*)$", "^{n}/?(.*)$", "^{n}(.*)$", "^{n}/(.+)$", "^{n}",
    "^$", "^/?$", "^(.*)$", "^.*$", "^(.+)$", "{n}$", "^({n}|{m})$", "^({n}|{m})/?$", "^({n}|{m})/(.*)$",
    "^{n}/{m}/(.*)$", "^{n}/([0-9]+)$", "^{n}\\.ttl$", "!^{n}$", "^{n}/{m}/?$", "^[ab]$", "^{n}(/.*)?$",
    "(.*)", "^(?!{n})(.*)$", "{n}/(.*)", "^{n}//?{m}$",
    "{n}", "{n}/{m}", "^{n}/{m}(.*)$", "^{n}(/$|/{m}$)", "^{n}(?={m})(.*)$", "({n})/\\1",
]  # fmt: skip
TARGETS = [
    "https://e.example/{t}", "https://e.example/{t}/", "https://e.example/{t}/$1", "https://e.example/{t}$1",
    "https://e.example/{t}/$2", "https://e.example/{t}#{t}", "https://e.example/?{t}=$1", "https://e.example/{t}?",
    "https://E.example", "/{t}", "{t}", "-", "https://e.example/\\%20{t}", "https://e.example/{t}%20", "http://$1/",
    "https://e.example/{t}?x=|", "https://e.example/{t}%20%1", "%{ENV:BASE}/{t}/$1", "%{ENV:STEM}{t}",
    "https://e.example/?{t}&",
]  # fmt: skip
FLAGS = [
    "", "[R,L]", "[R=301,L]", "[r=302,l]", "[R=303,NE,L]", "[R=307,END]", "[R=308,QSA,L]", "[R,QSD,L]", "[R]", "[L]",
    "[NC,R,L]", "[G]", "[F]", "[R=404]", "[NE,R=302,L]", "[C]", "[S=1]", "[Redirect=permanent,Last]", "[E=x:y]", "[R,L,E=STEM:y]", "[R,L] # a note",
]  # fmt: skip
CONDITIONS = [
    "%{HTTP_ACCEPT} text/html", "%{HTTP_USER_AGENT} Mozilla", "%{REQUEST_FILENAME} !-f", "%{QUERY_STRING} q",
    "%{HTTP_ACCEPT} rdf [OR]",
]  # fmt: skip
VARIABLES = [
    "SetEnvIf Request_URI ^.*$ BASE=https://v.example/base", "SetEnvIf Request_URI ^ BASE=https://w.example STEM=/x",
    "SetEnvIf Request_URI ^/d BASE=https://d.example", "SetEnvIf Accept . STEM=https://accept.example/",
]  # fmt: skip
# Rules that set variables.
SETTING_RULES = [
    "^ - [E=BASE:https://set.example]", "^(.*)$ - [E=STEM:https://stem.example/%{ENV:BASE}]", "^ - [E=STEM:$0]",
    "^a - [E=BASE:https://a.example]", ".* - [E=STEM:https://stem.example/x,E=BASE:https://both.example]",
]  # fmt: skip
TYPES = [
    "text/html", "application/xhtml\\+xml", "text/turtle", "application/rdf\\+xml", "application/ld\\+json",
    "application/xml", "application/rdf+xml",
]  # fmt: skip
ACCEPTED = [
    "{t}", "{t} [NC]", "^.*{t}.*", "({t}|{u})", "!{t}", "\\*/\\*", "text/\\*", ".+", "^$", "^{t}$",
    "!application/rdf\\+xml.*(text/html|application/xhtml\\+xml|text/\\*|\\*/\\*)",
    "!application/rdf\\+xml.*(text/html|application/xhtml\\+xml)", "html", "(?={t})", "[^,]{t}", "{t}[,;]",
]  # fmt: skip
# Most rules are of the usual kinds, so that many are accepted.
USUAL = (PATTERNS[:6] + ["^$"], TARGETS[:3], FLAGS[1:5])


# Rules for a table that finds codes in any case: with [NC] and without, for one path and for all below it.
FOLDED = [
    "^{n}$", "^{n}/?$", "^{n}/?$", "^{n}/{m}$", "^{n}/{m}/?$", "^{n}/(.*)$", "^{n}/(.*)$", "^{n}/{m}/(.*)$", "^{n}(/.*)?$",
    "^({n}|{m})/?$", "^(?i){n}/?$", "(?i)^{n}$", "^[ab]$", "{n}$", "^{n}",
    "^(.*)$",
]  # fmt: skip
FOLDED_NAMES = ["a", "b", "Ab", "aB", "v1", "A", "x.Y", "d", "D"]


def generate_folded(tree, source):
    """Writes a tree of a few directories, whose rules ignore case or not."""
    tree.mkdir()
    for directory in ("", "d", "d/a", "f"):
        (tree / directory).mkdir(exist_ok=True)
        lines = ["RewriteEngine On"]
        for _ in range(source.randrange(1, 7)):
            pattern = source.choice(FOLDED[:8] if source.random() < 0.7 else FOLDED)
            pattern = pattern.replace("{n}", source.choice(FOLDED_NAMES)).replace("{m}", source.choice(FOLDED_NAMES))
            target = "$1" if pattern.endswith("(.*)$") and source.random() < 0.7 else ""
            flags = source.choice(["R,L", "R=301,L", "R,L,QSD"]) if source.random() < 0.5 else "R,L"
            flags += ",NC" if source.random() < 0.5 else ""
            lines.append(f"RewriteRule {pattern} https://e.example/{source.choice('stu')}/{target} [{flags}]")
        if directory and source.random() < 0.2:
            path = f"/{directory}/{source.choice(FOLDED_NAMES)}"
            lines.append(f"Redirect {path} https://r.example/{source.choice('stu')}")
        if directory == "" and source.random() < 0.8:
            # Rules of the root would decide most paths of directories without their own.
            lines = lines[:3]
        (tree / directory / ".htaccess").write_text("\n".join(lines) + "\n")


def rule(source):
    usual = source.random() < 0.6
    patterns, targets, flags = USUAL if usual else (PATTERNS, TARGETS, FLAGS)
    names = {"n": source.choice(NAMES), "m": source.choice(NAMES)}
    pattern = source.choice(patterns).replace("{n}", names["n"]).replace("{m}", names["m"])
    target = source.choice(targets).replace("{t}", source.choice("stu"))
    return f"RewriteRule {pattern} {target} {source.choice(flags)}".rstrip()


def condition(source):
    """Returns a condition on what a client sends, most often on a type that it accepts."""
    if source.random() < 0.06:
        return "%{HTTP_USER_AGENT} ^Mozilla/.*"
    variable = source.choice(["HTTP_ACCEPT", "HTTP_ACCEPT", "HTTP:Accept"])
    form = source.choice(ACCEPTED[:4] if source.random() < 0.75 else ACCEPTED)
    return f"%{{{variable}}} " + form.replace("{t}", source.choice(TYPES)).replace("{u}", source.choice(TYPES))


def negotiated(source):
    """Returns rules for one path that depend on `Accept`."""
    name = source.choice(["n", "o", "p"]) + source.choice("12")
    pattern = source.choice([f"^{name}$", f"^{name}/?$", f"^{name}/?$"])
    flags = source.choice(["[R=303,L]", "[R=303,L]", "[L]", "[R=303,NE,L]"])
    lines = recipe(source, pattern, flags) if source.random() < 0.3 else []
    for _ in range(source.randrange(0 if lines else 1, 4)):
        others = source.randrange(3) if source.random() < 0.4 else 0
        lines += [f"RewriteCond {condition(source)} [OR]".replace("] [OR]", ",OR]") for _ in range(others)]
        lines.append(f"RewriteCond {condition(source)}")
        if source.random() < 0.1:
            lines.append(f"RewriteCond {condition(source)}")
        fragment = "#f" if "NE" in flags and source.random() < 0.5 else ""
        lines.append(f"RewriteRule {pattern} https://v.example/{source.choice('xyz')}{fragment} {other_status(source, flags)}")
    if source.random() < 0.1:
        # For some types, all paths lead elsewhere.
        lines[:0] = [f"RewriteCond {condition(source)}", f"RewriteRule ^(.*)$ https://v.example/all/$1.ttl {flags}"]
    if source.random() < 0.8:
        lines.append(f"RewriteRule {pattern} https://v.example/{source.choice('xyz')} {flags}")
    lines += below(source, name, flags) if source.random() < 0.4 else []
    return lines


def changing_slash(source, directory):
    """Returns rules of which some only add the slash of a path, or remove it."""
    name = source.choice(["s", "t"]) + source.choice("12")
    root = f"/{directory}/".replace("//", "/")
    expression = source.choice([f"^{name}$", f"^{name}/$", f"^{name}/?$"])
    lines = [f"RewriteRule {expression} https://s.example/{name} [R=303,L]"]
    if source.random() < 0.5:
        lines[:0] = ["RewriteCond %{HTTP_ACCEPT} text/turtle", f"RewriteRule {expression} https://s.example/ttl [R=303,L]"]
    change = source.choice([f"^{name}$ {root}{name}/", f"^{name}/$ {root}{name}", f"^(.*)/$ {root}$1", f"^(.+[^/])$ {root}$1/"])
    change = f"RewriteRule {change} {source.choice(['[R=301,L]', '[R,L]', '[R,QSD,L]'])}"
    return [change, *lines] if source.random() < 0.7 else [*lines, change]


def other_status(source, flags):
    """Returns the flags of a rule beside others, sometimes with another status."""
    if source.random() < 0.85:
        return flags
    return source.choice(["[R=302,L]", "[R=303,L]", "[R=307,L]", "[R=301,L]"])


def recipe(source, pattern, flags):
    """Returns the rules that are often copied from a recipe: a page for browsers, types of data, and no answer
    to others."""
    lines = ["RewriteCond %{HTTP_ACCEPT} !application/rdf\\+xml.*(text/html|application/xhtml\\+xml)"]
    lines = lines if source.random() < 0.7 else []
    ranges = ["text/\\*", "\\*/\\*"] if source.random() < 0.3 else []
    for accepted in ["text/html", "application/xhtml\\+xml", *ranges]:
        lines.append(f"RewriteCond %{{HTTP_ACCEPT}} {accepted} [OR]")
    lines += ["RewriteCond %{HTTP_USER_AGENT} ^Mozilla/.*", f"RewriteRule {pattern} https://v.example/page {flags}"]
    for kind in ["ld\\+json", "rdf\\+xml", "n-triples"]:
        if source.random() < 0.7:
            if source.random() < 0.2:
                lines.append("RewriteCond %{HTTP_ACCEPT} \\*/\\* [OR]")
            lines.append(f"RewriteCond %{{HTTP_ACCEPT}} application/{kind}")
            lines.append(f"RewriteRule {pattern} https://v.example/{kind[:3]} {other_status(source, flags)}")
    if source.random() < 0.5:
        lines += ["RewriteCond %{HTTP_ACCEPT} .+", f"RewriteRule {pattern} https://v.example/406 [R=406,L]"]
    if source.random() < 0.7:
        lines.append(f"RewriteRule {pattern} https://v.example/rdf {flags}")
    return lines


def below(source, name, flags):
    """Returns rules for the paths below one that depend on `Accept`, or not."""
    expressions = [f"^{name}/(.*)$", f"^{name}/(.*)$", f"^{name}/(.+)$", f"^{name}/x1$", f"^{name}/x(.*)$"]
    targets = ["below/$1", "below/$1", "more/$1", "x", "y", "$1.ttl"]
    lines = []
    for _ in range(source.randrange(0, 3)):
        lines.append(f"RewriteCond {condition(source)}")
        expression = source.choice(expressions if source.random() < 0.3 else expressions[:2])
        lines.append(f"RewriteRule {expression} https://v.example/{source.choice(targets)} {flags}")
    if source.random() < 0.8:
        lines.append(f"RewriteRule {expressions[0]} https://v.example/{source.choice(targets)} {flags}")
    return lines


def redirect(source, directory):
    directory = source.choice([directory, directory, ""])
    name = source.choice(NAMES)
    path = f"/{directory}/{name}".replace("//", "/")
    url = f"https://r.example/{source.choice('stu')}"
    return source.choice(
        [
            f"Redirect {path} {url}",
            f"Redirect Permanent {path}/ {url}/",
            f"RedirectPermanent {path} https://r.example",
            f"Redirect gone {path}",
            f"RedirectMatch 303 ^{path}$ {url}",
            f"RedirectMatch ^{path}/(.*)$ {url}/$1",
            f"Redirect 404 {path}",
        ]
    )


def generate(tree, source):
    """Writes a tree of a few directories, each with a few rules."""
    tree.mkdir()
    directories = [""]
    for name in ("d", "d/a", "d/e", "f", "f/ab", "g", "h"):
        (tree / name).mkdir()
        directories.append(name)
    for directory in directories:
        if source.random() < 0.15:
            continue
        lines = [source.choice(VARIABLES)] if source.random() < 0.5 else []
        if source.random() < 0.9:
            lines.append(source.choice(["RewriteEngine On", "rewriteEngine on"]))
        start = len(lines)
        is_on = start > 0 and lines[-1].lower() == "rewriteengine on"
        if is_on and source.random() < 0.3:
            lines.append(f"RewriteRule {source.choice(SETTING_RULES)}")
        # A rule at the root that covers everything would leave nothing to compare.
        for _ in range(source.randrange(1, 8 if directory else 3)):
            if source.random() < 0.15:
                lines.append(f"RewriteCond {source.choice(CONDITIONS)}")
            lines.append(redirect(source, directory) if source.random() < 0.2 else rule(source))
        if is_on and source.random() < 0.4:
            lines += changing_slash(source, directory)
        for _ in range(2 if is_on else 0):
            place = source.choice([start, len(lines)])
            # A condition is for the rule after it.
            if not lines[place - 1].startswith("RewriteCond"):
                lines[place:place] = negotiated(source)
        (tree / directory / ".htaccess").write_text("\n".join(lines) + "\n")
        if source.random() < 0.2:
            file = tree / directory / source.choice(NAMES[:5] + ["index.html"])
            if not file.is_dir():
                file.write_text("a file")
