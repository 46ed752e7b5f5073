"""Files of _redirects, imported, and compared with what Netlify's own engine answers.

NETLIFY_ENGINE is the directory of the package netlify-redirector."""

import os
import pathlib
import random
import tempfile

from import_apache import HOST
from import_comparison import compare
from other_servers import free_port, running

GENERATED = 16

NAMES = ["a", "b", "c", "ab", "v1", "x.y"]
PATHS = ["/{n}", "/{n}", "/{n}/{m}", "/{n}/", "/{n}/*", "/{n}/*", "/{n}/{m}/*", "/{n}/{m}/*", "/:x/{n}", "/{n}/:x",
         "/{n}/:x/*", "/{n}*", "/{n}/*/{m}", "/*", "/{n}-:x", f"https://{HOST}/{{n}}", f"https://{HOST}/{{n}}/*",
         "https://other.example/{n}", "https://other.example/*"]  # fmt: skip
TARGETS = ["https://e.example/{t}", "https://e.example/{t}/", "https://e.example/{t}?x=1", "https://e.example/{t}#f",
           "/{t}", "/{n}", "mailto:{t}@e.example"]  # fmt: skip
BELOW = ["https://e.example/{t}/:splat", "https://e.example/{t}/:splat", "https://e.example/:splat",
         "https://e.example/{t}?x=:splat", "https://e.example/{t}:splat", "/{t}/:splat", "https://e.example/:splat/{t}"]  # fmt: skip
STATUSES = ["301", "302", "301", "302", "307", "308", "301!", "200", "404", "302 Country=fr"]


def rule(source):
    """Returns one rule; usual ones are more frequent."""
    usual = source.random() < 0.6
    names = lambda text: text.replace("{n}", source.choice(NAMES)).replace("{m}", source.choice(NAMES))  # noqa: E731
    path = names(source.choice(PATHS[:8] if usual else PATHS))
    targets = BELOW if path.endswith("*") and source.random() < 0.7 else TARGETS
    target = source.choice(targets[:2] if usual else targets).replace("{t}", source.choice("stu"))
    return f"{path} {names(target)} {source.choice(STATUSES[:4] if usual else STATUSES)}"


def in_work(name, text):
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "_redirects").write_text(text)
        port = free_port()
        server = pathlib.Path(__file__).with_name("netlify_redirects.cjs")
        command = ["node", server, os.environ["NETLIFY_ENGINE"], work / "_redirects", str(port)]
        return compare(name, "redirects", text, NAMES, work, running(command, port, work / "netlify.log"))


def main():
    seed = int(os.environ.get("IMPORT_SEED", "1"))
    answered = 0
    for number in range(GENERATED):
        source = random.Random(f"redirects {seed} {number}")
        text = "".join(f"{rule(source)}\n" for _ in range(source.randrange(1, 10)))
        answered += in_work(f"seed {seed}, rules {number}", text)[1]
    # Otherwise all rules would have been refused.
    assert answered > 20 * GENERATED, answered


if __name__ == "__main__":
    main()
