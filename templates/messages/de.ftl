# Die Texte der Seiten auf Deutsch; siehe en.ftl.

## Der Rahmen jeder Seite

navigation = Seiten
all-links = Alle Links
propose-a-link = Link vorschlagen
repository = Repository
contact = Kontakt
answered-by = Beantwortet von Waypost aus Tabellenstand { $revision }.

## Daten

date = { $day }. { $month } { $year }
date-and-time = { $date }, { $time } UTC
january = Januar
february = Februar
march = März
april = April
may = Mai
june = Juni
july = Juli
august = August
september = September
october = Oktober
november = November
december = Dezember

## Die Startseite

landing-title = Kurzlinks unter { $base }
landing-heading = Kurzlinks
landing-purpose = Kurzlinks unter { $base } führen von hier zu ihren Zielseiten.
links-one = Es gibt { $count } Link.
links-other = Es gibt { $count } Links.
look-first-heading = Erst ansehen, dann folgen
look-first = Hänge { $plus } an einen Kurzlink an, um vorher zu sehen, wohin er führt.
propose-heading = Link vorschlagen
propose-by-pull-request = Die Links stehen in einer Textdatei in einem Git-Repository, der Zuordnungstabelle. Wer möchte, schlägt dort mit einem Pull Request einen Link vor, indem er der Tabelle einen solchen Eintrag hinzufügt:
propose-code = Ohne { $key } wird der Code aus der URL abgeleitet. Sobald der Pull Request angenommen ist, funktioniert der Link hier.

## Die Seite eines Links

preview-title = Wohin { $link } führt
preview-heading = Wohin dieser Link führt
preview-purpose = Dies ist eine Vorschau: Dem Link wurde nicht gefolgt.
leads-to = Führt zu
continue-to = Weiter zu { $host }
host-in-unicode = Der Name dieses Hosts hat Buchstaben, die anderen ähnlich sehen können: { $host }
short-link = Kurzlink
forwards = Gibt weiter
forwards-query = die Abfrage
forwards-path = den Pfad nach dem Code
forwards-path-and-query = den Pfad nach dem Code und die Abfrage
owner = Zuständig
tags = Schlagwörter
valid = Gültig
valid-always = unbefristet
valid-through = bis { $day }
valid-until = bis { $time }
archived-copy = Archivierte Kopie
last-check = Letzte Prüfung

check-ok = Hat am { $day } funktioniert.
check-moved = Hat am { $day } funktioniert und ist dauerhaft umgezogen.
check-own-missing = Führt zu einem Kurzlink, den es nicht gibt.
check-own-gone = Führt zu einem Kurzlink, der nicht mehr verwendet wird.
check-failing = Hat am { $day } nicht funktioniert.
check-failing-worked = Hat am { $day } nicht funktioniert, zuletzt am { $worked }.
check-dead = Scheint seit dem { $day } nicht mehr zu funktionieren.
check-dead-worked = Scheint seit dem { $day } nicht mehr zu funktionieren; hat es zuletzt am { $worked }.
check-gone = Ist seit dem { $day } endgültig entfernt.
check-gone-worked = Ist seit dem { $day } endgültig entfernt; hat zuletzt am { $worked } funktioniert.
check-soft-404 = Fehlt vermutlich seit dem { $day }, obwohl der Host Erfolg meldet.
check-soft-404-worked = Fehlt vermutlich seit dem { $day }, obwohl der Host Erfolg meldet; hat zuletzt am { $worked } funktioniert.
check-blocked = Konnte am { $day } nicht geprüft werden, weil der Host automatische Anfragen abweist; im Browser funktioniert der Link vielleicht.
check-blocked-worked = Konnte am { $day } nicht geprüft werden, weil der Host automatische Anfragen abweist; im Browser funktioniert der Link vielleicht, hier zuletzt am { $worked }.
check-robots-disallowed = Nicht geprüft, weil die robots.txt des Hosts es nicht erlaubt.
check-insecure = Ist seit dem { $day } nicht sicher: Der Host hat ein ungültiges Zertifikat oder veraltetes TLS.
check-insecure-worked = Ist seit dem { $day } nicht sicher: Der Host hat ein ungültiges Zertifikat oder veraltetes TLS; hat zuletzt am { $worked } funktioniert.

## Die Seite eines Links, der nicht mehr verwendet wird

gone-title = { $link } wird nicht mehr verwendet
gone-heading = Dieser Link wird nicht mehr verwendet
gone-link = Der Kurzlink { $link } ist außer Betrieb.
gone-link-since = Der Kurzlink { $link } ist seit dem { $day } außer Betrieb.
gone-link-expired = Der Kurzlink { $link } war bis { $day } gültig.
gone-reserved = Er bleibt vergeben und wird nie woandershin führen.
gone-archive = Es gibt eine archivierte Kopie:
gone-owner = Zuständig ist { $owner }.

## Die Seite eines Pfads, der nirgendwohin führt

not-found-title = Diesen Kurzlink gibt es nicht
not-found-path = Den Link { $path } gibt es hier nicht.
not-found-hint = Bei Kurzlinks zählt Groß- und Kleinschreibung, und vielleicht fehlt das Ende.
suggestions = Gemeint war vielleicht
