# The texts of pages in English, the language of all browsers that ask for none of the others.
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
date-and-time = { $time } UTC on { $date }
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
propose-by-pull-request = The links are in a text file in a Git repository: the mapping table. Anyone can propose a link with a pull request that adds an entry like this to the table:
propose-code = Without { $key }, the code is derived from the URL. Once the pull request is merged, the link works here.

## The list of links

search = Search
search-for = Words in a link
search-tag = Tag
search-state = State
state-any = any
state-live = live
state-retired = retired
state-expired = expired
list-all-one = There is { $count } link.
list-all-other = There are { $count } links.
list-found-one = Found { $count } link.
list-found-other = Found { $count } links.
list-empty = No links found.
list-pages = Pages of the list
list-first = First links
list-next = Next links
opensearch = Opens or searches the short links of { $name }.

## The page of a link

preview-title = Where { $link } leads
preview-heading = Where this link leads
preview-purpose = This is a preview: the link has not been followed.
leads-to = Leads to
variant = For { $types }
continue-to = Continue to { $host }
host-in-unicode = The name of this host contains letters that can look like others: { $host }
short-link = Short link
other-codes = Other codes
forwards = Forwards
forwards-query = the query
forwards-path = the path after the code
forwards-path-and-query = the path after the code, and the query
forwards-all = nothing; all paths below the code lead to the same page
forwards-all-and-query = the query; all paths below the code lead to the same page
below = Paths below the code lead to
variant-below = Paths below the code lead for { $types } to
owner = Owner
tags = Tags
valid = Valid
valid-always = indefinitely
valid-through = through { $day }
valid-until = until { $time }
archived-copy = Archived copy
last-check = Last check
qr-code = QR code of { $link }
in-repository = In the repository
in-repository-line = { $file }, line { $line }
propose-change = Propose a change
report-link = Report this link
report-subject = About the short link { $link }

check-ok = Worked on { $day }.
check-moved = Worked on { $day }, and has moved permanently.
check-own-missing = Leads to a short link that does not exist.
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
gone-link = The short link { $link } has been retired.
gone-link-since = The short link { $link } was retired on { $day }.
gone-link-since-time = The short link { $link } was retired at { $time }.
gone-link-expired = The short link { $link } was valid through { $day }.
gone-link-expired-time = The short link { $link } was valid until { $time }.
gone-reserved = It stays reserved: it will never lead anywhere else.
gone-archive = There is an archived copy:
gone-owner = Its owner is { $owner }.

## The page of a path that leads nowhere

not-found-title = No such short link
not-found-path = There is no link { $path } here.
not-found-hint = Short links are case-sensitive, and the end of yours may be missing.
suggestions = Did you mean

## The form that proposes a link

propose-purpose = Enter the page that the short link should lead to. This changes nothing yet: you will see the link, and how to send your proposal to the people who review it.
field-url = Address of the page
field-code = Short code (optional)
field-code-hint = If you leave it empty, a code is generated.
field-title = Title (optional)
field-tags = Tags (optional)
field-tags-hint = Separated by commas.
field-expires = Last day on which the link works (optional)
propose-check = Check the proposal
propose-another = Change the proposal
proposed-possible = This link is possible. It works once your proposal has been accepted.
proposed-file = File in the repository
proposed-lines = Lines to add
send-heading = Send the proposal
send = Open the page to send it
send-filled = A page of the repository opens with everything filled in. Sign in there, review it, and propose the change.
send-changed = The file { $file } opens in the repository with the new text filled in. Sign in there, review the changes, and propose them.
send-new-file = A page of the repository opens for the new file { $file }. If the editor is empty, paste the lines above; then propose the change.
send-edit = The file { $file } opens in the repository. Paste the lines above at the end of its list { $key }, then propose the change.
send-repository = The repository opens. Add the lines above to the file { $file } there, and propose the change.
send-nowhere = Send the lines above to the people who maintain these links.
send-issue-heading = Send it as an issue
send-issue = A new issue opens in the repository with everything filled in. Sign in there and submit it: a branch with your proposal is created, and a comment on the issue names it.
send-issue-open = Open the issue
send-token-heading = Send it with a token
field-token = Token
field-token-hint = If you have a token for this server, your proposal becomes a branch of the repository, for review.
send-with-token = Send for review
sent-heading = Sent for review
sent-branch = Your proposal is in the repository, on the branch { $branch }. The link works once the branch is merged.
sent-known = Your proposal was already in the repository, on the branch { $branch }. The link works once the branch is merged.
sent-review = Open a pull request
unsent-token = The token is not valid.
unsent-many = Too many of your proposals are waiting. Please try again in a few seconds.
unsent-refused = The repository does not accept the branch. Ask the people who maintain these links.
unsent-for-now = Nothing can be sent to the repository at the moment. Please try again in a few seconds.
bookmark-heading = Propose the page you are reading
bookmark = Drag this link to your bookmarks. On any page, the bookmark opens this form for it:
refused-url = The address cannot be used: { $reason }.
refused-private = The address is private, and cannot be reached from other networks.
refused-own-link = The address is already a short link of this collection. Enter the page that it leads to.
refused-registered = This page already has a short link.
refused-registered-gone = This page had a short link, which is no longer in use.
refused-code = The code cannot be used: { $reason }.
refused-code-taken = The code { $code } is taken. Choose another one.
refused-code-gone = The code { $code } belonged to a link that is no longer in use, and stays reserved. Choose another one.
refused-shadows = The code { $code } would change where an existing link leads. Choose another one.
refused-name-long = The code is too long for a file name. Choose a shorter one.
refused-expires = The last day is not a date. Write it as in 2030-12-31.
refused-expired = The last day is in the past. Choose a later one, or none.
refused-code-unreachable = The address of the code { $code } belongs to another collection of links. Choose another code.
refused-text-long = The title or a tag is too long.
refused-tags-many = The link has too many tags: at most { $count } are possible.
refused-text-control = The title or a tag contains a character that cannot be shown.
refused-text-direction = The title or a tag contains a character that changes the direction of writing.
refused-otherwise = This link is not possible: { $reason }.

## The pages of requests that are refused

refused-method-title = Nothing can be sent here
refused-method = A short link can be followed or previewed, but nothing can be sent to it.
refused-host-title = No links under this address
refused-host = This server has no short links under this host name. The address may be mistyped.
refused-search-title = This search is not possible
refused-search-repeated = The address contains a search field twice. Start again from the list of all links.
refused-search-long = The search text is too long. Use fewer words.
refused-search-state = There is no such state. Links are live, retired or expired.
refused-request-title = This request is not valid
refused-request = The server could not understand the request. The address may be mistyped, or a part of it may be too long.
refused-origin-title = This form is not from this site
refused-origin = A link can only be proposed from the form on this site. Open the form here, and fill it in again.
refused-slow-title = This request took too long
refused-slow = The server did not receive all of the form in time. Please send it again.
refused-size-title = This form is too large
refused-size = The form contains more text than this server accepts. Shorten it, and send it again.
refused-type-title = This is not a form
refused-type = Only the form on this site can send something here.
refused-fields-title = This request is too large
refused-fields = The browser sent more header fields than this server accepts. Deleting the cookies of this site may help.
refused-for-now-title = Not available right now
refused-for-now = This server cannot answer at the moment. Please try again in a few seconds.

## Exported pages

exported-links = Short links of { $host }
exported-purpose = A short link is this address followed by a code.
