# The texts of pages in English, which those see whose browser asks for no language that there is.
#
# One text a line, in a part of the syntax of Fluent: https://projectfluent.org/fluent/guide/text.html
# `{ $name }` is replaced by a value. Every language has the same keys, and the same values in each.
# docs/pages.md says how to add a language.

## The frame of every page

navigation = Pages
all-links = All links
propose-a-link = Propose a link
repository = Repository
contact = Contact
answered-by = Answered by Waypost from table revision { $revision }.

## Dates

date = { $day } { $month } { $year }
date-and-time = { $date }, { $time } UTC
january = January
february = February
march = March
april = April
may = May
june = June
july = July
august = August
september = September
october = October
november = November
december = December

## The landing page

landing-title = Short links under { $base }
landing-heading = Short links
landing-purpose = This site redirects short links under { $base } to the pages they lead to.
links-one = It has { $count } link.
links-other = It has { $count } links.
look-first-heading = Look before you follow
look-first = Add a { $plus } to the end of a short link to see where it leads before you follow it.
propose-heading = Propose a link
propose-by-pull-request = The links are kept in a text file in a Git repository: the mapping table. Anyone can propose a link with a pull request to that repository, by adding an entry like this to the table:
propose-code = Without { $key }, the code is derived from the URL. Once the pull request is merged, the link works here.

## The page of a link

preview-title = Where { $link } leads
preview-heading = Where this link leads
preview-purpose = This is a preview: the link has not been followed.
leads-to = Leads to
continue-to = Continue to { $host }
host-in-unicode = The name of this host has letters that can resemble others: { $host }
short-link = Short link
forwards = Forwards
forwards-query = the query
forwards-path = the path after the code
forwards-path-and-query = the path after the code, and the query
owner = Owner
tags = Tags
valid = Valid
valid-always = indefinitely
valid-through = through { $day }
valid-until = until { $time }
archived-copy = Archived copy
last-check = Last check

check-ok = Worked on { $day }.
check-moved = Worked on { $day }, and has moved permanently.
check-own-missing = Leads to a short link that is not there.
check-own-gone = Leads to a short link that is no longer in use.
check-failing = Did not work on { $day }.
check-failing-worked = Did not work on { $day }; it last worked on { $worked }.
check-dead = Seems dead since { $day }.
check-dead-worked = Seems dead since { $day }; it last worked on { $worked }.
check-gone = Permanently gone since { $day }.
check-gone-worked = Permanently gone since { $day }; it last worked on { $worked }.
check-soft-404 = Probably missing since { $day }, although its host reports success.
check-soft-404-worked = Probably missing since { $day }, although its host reports success; it last worked on { $worked }.
check-blocked = Could not be checked on { $day }, because its host blocks automated requests; it may well work in a browser.
check-blocked-worked = Could not be checked on { $day }, because its host blocks automated requests; it may well work in a browser, and last worked here on { $worked }.
check-robots-disallowed = Not checked, because the robots.txt of its host does not allow it.
check-insecure = Not secure since { $day }: its host has an invalid certificate or obsolete TLS.
check-insecure-worked = Not secure since { $day }: its host has an invalid certificate or obsolete TLS; it last worked on { $worked }.

## The page of a link that is no longer in use

gone-title = { $link } is no longer in use
gone-heading = This link is no longer in use
gone-link = The short link { $link } was taken out of use.
gone-link-since = The short link { $link } was taken out of use on { $day }.
gone-link-expired = The short link { $link } was valid through { $day }.
gone-reserved = It stays reserved: it will never lead anywhere else.
gone-archive = There is an archived copy:
gone-owner = Its owner is { $owner }.

## The page of a path that leads nowhere

not-found-title = No such short link
not-found-path = There is no link { $path } here.
not-found-hint = Short links are case-sensitive, and the end of yours may be missing.
suggestions = Did you mean
