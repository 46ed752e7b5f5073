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
date-and-time = { $date }, { $time } Uhr (UTC)
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
look-first = Hängen Sie { $plus } an einen Kurzlink an, um vorher zu sehen, wohin er führt.
propose-heading = Link vorschlagen
propose-by-pull-request = Die Links stehen in einer Textdatei in einem Git-Repository, der Zuordnungstabelle. Wer möchte, schlägt dort mit einem Pull Request einen Link vor, indem er der Tabelle einen solchen Eintrag hinzufügt:
propose-code = Ohne { $key } wird der Code aus der URL abgeleitet. Sobald der Pull Request angenommen ist, funktioniert der Link hier.

## Die Liste der Links

search = Suchen
search-for = Wörter in einem Link
search-tag = Schlagwort
search-state = Zustand
state-any = beliebig
state-live = gültig
state-retired = stillgelegt
state-expired = abgelaufen
list-all-one = Es gibt { $count } Link.
list-all-other = Es gibt { $count } Links.
list-found-one = { $count } Link gefunden.
list-found-other = { $count } Links gefunden.
list-empty = Keine Links gefunden.
list-pages = Seiten der Liste
list-first = Erste Links
list-next = Weitere Links
opensearch = Öffnet oder durchsucht die Kurzlinks von { $name }.

## Die Seite eines Links

preview-title = Wohin { $link } führt
preview-heading = Wohin dieser Link führt
preview-purpose = Dies ist eine Vorschau: Dem Link wurde nicht gefolgt.
leads-to = Führt zu
variant = Für { $types }
continue-to = Weiter zu { $host }
host-in-unicode = Der Name dieses Hosts hat Buchstaben, die anderen ähnlich sehen können: { $host }
short-link = Kurzlink
other-codes = Weitere Codes
forwards = Gibt weiter
forwards-query = die Abfrage
forwards-path = den Pfad nach dem Code
forwards-path-and-query = den Pfad nach dem Code und die Abfrage
forwards-all = nichts; alle Pfade unter dem Code führen zur selben Seite
forwards-all-and-query = die Abfrage; alle Pfade unter dem Code führen zur selben Seite
below = Pfade unter dem Code führen zu
variant-below = Pfade unter dem Code führen für { $types } zu
owner = Zuständig
tags = Schlagwörter
valid = Gültig
valid-always = unbefristet
valid-through = bis { $day }
valid-until = bis { $time }
archived-copy = Archivierte Kopie
last-check = Letzte Prüfung
qr-code = QR-Code von { $link }
in-repository = Im Repository
in-repository-line = { $file }, Zeile { $line }
propose-change = Änderung vorschlagen
report-link = Link melden
report-subject = Zum Kurzlink { $link }

check-ok = Hat am { $day } funktioniert.
check-moved = Hat am { $day } funktioniert und ist dauerhaft umgezogen.
check-own-missing = Führt zu einem Kurzlink, den es nicht gibt.
check-own-gone = Führt zu einem Kurzlink, der nicht mehr verwendet wird.
check-failing = Hat am { $day } nicht funktioniert.
check-failing-worked = Hat am { $day } nicht funktioniert; hat zuletzt am { $worked } funktioniert.
check-dead = Scheint seit dem { $day } nicht mehr zu funktionieren.
check-dead-worked = Scheint seit dem { $day } nicht mehr zu funktionieren; hat zuletzt am { $worked } funktioniert.
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
gone-link-since-time = Der Kurzlink { $link } ist seit dem { $time }, außer Betrieb.
gone-link-expired = Der Kurzlink { $link } war bis zum { $day } gültig.
gone-link-expired-time = Der Kurzlink { $link } war bis zum { $time }, gültig.
gone-reserved = Er bleibt vergeben und wird nie woandershin führen.
gone-archive = Es gibt eine archivierte Kopie:
gone-owner = Zuständig ist { $owner }.

## Die Seite eines Pfads, der nirgendwohin führt

not-found-title = Diesen Kurzlink gibt es nicht
not-found-path = Den Link { $path } gibt es hier nicht.
not-found-hint = Bei Kurzlinks zählt Groß- und Kleinschreibung, und vielleicht fehlt das Ende.
suggestions = Gemeint war vielleicht

## Das Formular, das einen Link vorschlägt

propose-purpose = Geben Sie die Seite ein, auf die ein Kurzlink führen soll. Das ändert noch nichts: Sie sehen, wie der Link wäre und wie Sie den Vorschlag denen schicken, die darüber entscheiden.
field-url = Adresse der Seite
field-code = Kurzcode (freiwillig)
field-code-hint = Ohne Angabe wird einer gebildet.
field-title = Titel (freiwillig)
field-tags = Schlagwörter (freiwillig)
field-tags-hint = Durch Kommas getrennt.
field-expires = Letzter Tag, an dem der Link gilt (freiwillig)
propose-check = Vorschlag prüfen
propose-another = Vorschlag ändern
proposed-possible = Dieser Link ist möglich. Er gilt, sobald Ihr Vorschlag angenommen ist.
proposed-file = Datei im Repository
proposed-lines = Was hinzukommt
send-heading = Vorschlag abschicken
send = Seite zum Abschicken öffnen
send-filled = Eine Seite des Repositorys öffnet sich, in der alles ausgefüllt ist. Melden Sie sich dort an, sehen Sie es durch und schlagen Sie die Änderung vor.
send-changed = Die Datei { $file } öffnet sich im Repository, ihr ganzer Text ist ausgefüllt. Melden Sie sich dort an, sehen Sie durch, was sich ändert, und schlagen Sie die Änderung vor.
send-new-file = Eine Seite des Repositorys öffnet sich für die neue Datei { $file }. Falls ihr Text dort leer ist, fügen Sie die Zeilen von oben ein; schlagen Sie dann die Änderung vor.
send-edit = Die Datei { $file } öffnet sich im Repository. Fügen Sie die Zeilen von oben am Ende ihrer Liste { $key } ein und schlagen Sie die Änderung vor.
send-repository = Das Repository öffnet sich. Ergänzen Sie dort die Zeilen von oben in der Datei { $file } und schlagen Sie die Änderung vor.
send-nowhere = Schicken Sie die Zeilen von oben denen, die diese Links pflegen.
send-issue-heading = Als Issue abschicken
send-issue = Ein Issue des Repositorys öffnet sich, in dem alles ausgefüllt ist. Melden Sie sich dort an und schicken Sie es ab: Daraus wird ein Branch mit Ihrem Vorschlag, und ein Kommentar sagt es.
send-issue-open = Issue öffnen
send-token-heading = Mit einem Token abschicken
field-token = Token
field-token-hint = Wenn Sie ein Token dieses Servers haben, wird Ihr Vorschlag ein Branch des Repositorys, zur Durchsicht.
send-with-token = Zur Durchsicht schicken
sent-heading = Zur Durchsicht geschickt
sent-branch = Ihr Vorschlag ist im Repository, auf dem Branch { $branch }. Der Link gilt, sobald dieser zusammengeführt ist.
sent-known = Ihr Vorschlag war schon im Repository, auf dem Branch { $branch }. Der Link gilt, sobald dieser zusammengeführt ist.
sent-review = Pull-Request öffnen
unsent-token = Das Token ist nicht gültig.
unsent-many = Zu viele Ihrer Vorschläge warten. Bitte in ein paar Sekunden noch einmal versuchen.
unsent-refused = Das Repository nimmt den Branch nicht an. Fragen Sie die, die diese Links pflegen.
unsent-for-now = Dem Repository lässt sich im Augenblick nichts schicken. Bitte in ein paar Sekunden noch einmal versuchen.
bookmark-heading = Die Seite vorschlagen, die Sie gerade lesen
bookmark = Ziehen Sie diesen Link zu Ihren Lesezeichen. Auf jeder Seite öffnet das Lesezeichen dieses Formular für sie:
refused-url = Die Adresse kann nicht verwendet werden: { $reason }.
refused-private = Die Adresse ist eine private, die von anderswo nicht zu erreichen ist.
refused-own-link = Die Adresse ist schon ein Kurzlink dieser Sammlung. Geben Sie die Seite ein, auf die er führt.
refused-registered = Zu dieser Seite gibt es schon einen Kurzlink.
refused-registered-gone = Zu dieser Seite gab es einen Kurzlink, der nicht mehr in Gebrauch ist.
refused-code = Der Code kann nicht verwendet werden: { $reason }.
refused-code-taken = Der Code { $code } ist vergeben. Wählen Sie einen anderen.
refused-code-gone = Der Code { $code } gehörte zu einem Link, der nicht mehr in Gebrauch ist, und bleibt reserviert. Wählen Sie einen anderen.
refused-shadows = Der Code { $code } würde ändern, wohin ein Link führt, der in Gebrauch ist. Wählen Sie einen anderen.
refused-name-long = Der Code ist zu lang für den Namen einer Datei. Wählen Sie einen kürzeren.
refused-expires = Der letzte Tag ist kein Datum. Schreiben Sie ihn wie in 2030-12-31.
refused-expired = Der letzte Tag ist schon vorbei. Wählen Sie einen späteren oder keinen.
refused-code-unreachable = Die Adresse des Codes { $code } gehört zu einer anderen Linksammlung. Wählen Sie einen anderen Code.
refused-text-long = Der Titel oder ein Schlagwort ist zu lang.
refused-tags-many = Der Link hat zu viele Schlagwörter: Höchstens { $count } sind möglich.
refused-text-control = Der Titel oder ein Schlagwort enthält ein Zeichen, das sich nicht zeigen lässt.
refused-text-direction = Der Titel oder ein Schlagwort enthält ein Zeichen, das die Schreibrichtung ändert.
refused-otherwise = Dieser Link ist nicht möglich: { $reason }.

## Die Seiten abgelehnter Anfragen

refused-method-title = Hierher lässt sich nichts senden
refused-method = Einem Kurzlink kann man folgen oder ihn ansehen, aber er nimmt nichts entgegen.
refused-host-title = Keine Links unter dieser Adresse
refused-host = Dieser Server hat keine Kurzlinks unter diesem Hostnamen. Vielleicht enthält die Adresse einen Tippfehler.
refused-search-title = Diese Suche ist nicht möglich
refused-search-repeated = Die Adresse enthält ein Feld der Suche zweimal. Beginnen Sie neu bei der Liste aller Links.
refused-search-long = Der gesuchte Text ist zu lang. Suchen Sie nach weniger Wörtern.
refused-search-state = Diesen Zustand gibt es nicht. Links funktionieren, sind zurückgezogen oder abgelaufen.
refused-request-title = Diese Anfrage ist nicht gültig
refused-request = Der Server versteht die Anfrage nicht. Vielleicht enthält die Adresse einen Tippfehler, oder ein Teil davon ist zu lang.
refused-origin-title = Dieses Formular ist nicht von dieser Website
refused-origin = Ein Link lässt sich nur mit dem Formular dieser Website vorschlagen. Öffnen Sie es hier, und füllen Sie es neu aus.
refused-slow-title = Diese Anfrage hat zu lange gedauert
refused-slow = Der Server hat das Formular nicht rechtzeitig ganz erhalten. Bitte senden Sie es noch einmal.
refused-size-title = Dieses Formular ist zu groß
refused-size = Das Formular enthält mehr Text, als dieser Server annimmt. Kürzen Sie ihn, und senden Sie es noch einmal.
refused-type-title = Das ist kein Formular
refused-type = Hier wird nur angenommen, was das Formular dieser Website sendet.
refused-fields-title = Diese Anfrage ist zu groß
refused-fields = Der Browser hat mehr Kopfzeilen gesendet, als dieser Server annimmt. Vielleicht hilft es, die Cookies dieser Website zu löschen.
refused-for-now-title = Gerade nicht erreichbar
refused-for-now = Dieser Server kann im Augenblick nicht antworten. Bitte in ein paar Sekunden noch einmal versuchen.

## Exportierte Seiten

exported-links = Kurzlinks von { $host }
exported-purpose = Ein Kurzlink ist diese Adresse, gefolgt von einem Code.
