"""Opens every kind of page in a browser with scripts disabled, and uses them as people do.

Stops at the first failure, and names its page.
"""

import argparse
import contextlib
import tempfile
from pathlib import Path

from look import Look
from page_types import PAGE_TYPES
from people import Person
from screenshots import take
from standard import Checks
from visited_servers import VisitedServers
from webdriver import Browser, driver


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screenshots", type=Path, help="only write the images of the documentation, to this directory")
    options = parser.parse_args()

    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = VisitedServers(directory, stack)
        address = stack.enter_context(driver(directory))
        browser = stack.enter_context(Browser(address, directory, servers.hosts))
        browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
        if options.screenshots:
            take(browser, options.screenshots)
        else:
            visit(browser, servers)


def visit(browser, servers):
    checks = Checks(servers)
    person = Person(browser, servers)
    steps = [
        person.follow_links, person.mistype, person.look_first, person.find_archive, person.browse_to_the_end,
        person.search, person.read_german, person.print_link, person.propose,
        person.send_in_other_ways,
    ]
    for step in steps:
        step()
        print(f"ok: {step.__doc__.splitlines()[0].rstrip('.')}", flush=True)
    look = Look(browser)
    look.axe_finds_what_is_wrong()
    for page in PAGE_TYPES:
        look.at(page)
    print(f"ok: {len(PAGE_TYPES)} kinds of page, in light and dark, on small screens, with axe-core")
    checks.finish()
    print("ok: the same pages, in all languages, with the checker of the HTML standard")


main()
