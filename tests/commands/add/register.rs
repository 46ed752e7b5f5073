//! What is registered and what is refused, decided on texts alone.

use serde_json::Value;

use waypost::mapping::{CodeError, Forward, Scheme, SourceFile, Status, Timestamp};
use waypost::registry::{
    ControlCharacter, Destination, MayShadow, Registration, RegistrationRefusal,
    RegistrationRequest, RequestedCode, TextFile,
};

const HEAD: &str = "base_url: https://short.code/\n";

/// More than any table here has.
const MAX_BYTES: u64 = 1 << 20;

fn files(texts: &[(&str, &str)]) -> Vec<TextFile> {
    let file = |(path, text): &(&str, &str)| SourceFile::new((*path).into(), (*text).into());
    texts.iter().map(|it| file(it).into()).collect()
}

fn register(
    files: &[TextFile],
    request: &RegistrationRequest,
    max_bytes: u64,
    now: Timestamp,
) -> Result<Registration, RegistrationRefusal> {
    waypost::registry::register(&files.to_vec().into(), request, max_bytes, now)
}

/// Returns the text of a file.
fn text_of(file: &TextFile) -> String {
    String::from_utf8(file.whole().unwrap().bytes).unwrap()
}

fn request(url: &str) -> RegistrationRequest {
    RegistrationRequest {
        url: url.to_owned(),
        ..RegistrationRequest::default()
    }
}

fn custom(url: &str, code: &str) -> RegistrationRequest {
    RegistrationRequest {
        code: RequestedCode::Custom(code.to_owned()),
        ..request(url)
    }
}

fn number(url: &str, code: RequestedCode) -> RegistrationRequest {
    RegistrationRequest {
        code,
        ..request(url)
    }
}

fn at(url: &str, destination: Destination) -> RegistrationRequest {
    RegistrationRequest {
        destination,
        ..request(url)
    }
}

fn now() -> Timestamp {
    Timestamp::parse_start("2026-11-21").unwrap()
}

/// Registers in a table of one file, after its base URL.
fn in_one(text: &str, request: &RegistrationRequest) -> Result<Registration, RegistrationRefusal> {
    register(
        &files(&[("t.yaml", &format!("{HEAD}{text}"))]),
        request,
        MAX_BYTES,
        now(),
    )
}

/// Returns what a registration adds to an empty list, after the head of the document.
fn added(head: &str, request: &RegistrationRequest) -> String {
    let text = in_one(&format!("{head}mapping: []\n"), request)
        .unwrap()
        .file;
    let text = text_of(&text);
    let before = format!("{HEAD}{head}mapping:\n");
    text.strip_prefix(&before).unwrap().to_owned()
}

fn refused(text: &str, request: &RegistrationRequest) -> RegistrationRefusal {
    in_one(text, request).unwrap_err()
}

#[test]
fn a_target_is_written_in_canonical_form() {
    let registration = in_one("mapping: []\n", &request("HTTPS://Framasoft.org:443")).unwrap();
    assert_eq!(registration.short_url, "https://short.code/t0P0JMya");
    assert_eq!(registration.place.to_string(), "t.yaml:3:3");
    assert_eq!(
        text_of(&registration.file).as_bytes(),
        format!("{HEAD}mapping:\n- url: https://framasoft.org/\n").as_bytes()
    );
}

#[test]
fn what_is_said_of_a_link_is_written() {
    let request = RegistrationRequest {
        aliases: vec!["2024".to_owned()],
        title: Some("a: b".to_owned()),
        status: Status::from_code(301),
        expires: "2030-01-01".parse().ok(),
        ..custom("https://e.org/", "no")
    };
    assert_eq!(
        added("", &request),
        "- url: https://e.org/\n  short-code: \"no\"\n  aliases: [\"2024\"]\n  title: \"a: b\"\n  \
         status: 301\n  expires: 2030-01-01\n"
    );
}

#[test]
fn a_url_is_registered_once() {
    let live = "mapping:\n- url: HTTPS://E.org\n  short-code: a\n";
    let RegistrationRefusal::AlreadyRegistered(holder) = refused(live, &request("https://e.org/"))
    else {
        panic!()
    };
    assert_eq!(holder.short_url, "https://short.code/a");
    assert_eq!(holder.place.to_string(), "t.yaml:3:3");
    assert!(!holder.is_gone);
    // It is found whatever code is requested.
    assert!(matches!(
        refused(live, &custom("https://e.org/", "b")),
        RegistrationRefusal::AlreadyRegistered(_)
    ));
}

#[test]
fn a_url_stays_registered_when_its_link_is_gone() {
    for entry in [
        "- url: https://framasoft.org/\n  retired: true\n",
        "- url: https://framasoft.org/\n  short-code: x\n  retired: 2026-11-21\n",
        "- url: https://framasoft.org/\n  expires: 2026-11-20\n",
        // It dropped its target, which its code still identifies.
        "- short-code: t0P0JMya\n  retired: true\n",
    ] {
        let text = format!("mapping:\n{entry}");
        match refused(&text, &request("https://framasoft.org/")) {
            RegistrationRefusal::AlreadyRegistered(holder) => assert!(holder.is_gone, "{entry}"),
            other => panic!("{entry}{other:?}"),
        }
    }
    // If there are two, the live one is named.
    let text = "mapping:\n- url: https://e.org/\n  retired: true\n- url: https://e.org/\n  short-code: b\n";
    let RegistrationRefusal::AlreadyRegistered(holder) = refused(text, &request("https://e.org/"))
    else {
        panic!()
    };
    assert_eq!(holder.short_url, "https://short.code/b");
}

#[test]
fn a_code_is_given_once() {
    let text = "mapping:\n- url: https://e.org/\n  short-code: a\n  aliases: [b]\n\
                - number: 62\n  retired: true\n";
    for (requested, by) in [
        (custom("https://n.org/", "a"), 3),
        (custom("https://n.org/", "b"), 3),
        (custom("https://n.org/", "10"), 6),
        (number("https://n.org/", RequestedCode::Number(62)), 6),
        (
            RegistrationRequest {
                aliases: vec!["b".to_owned()],
                ..request("https://n.org/")
            },
            3,
        ),
    ] {
        match refused(text, &requested) {
            RegistrationRefusal::CodeTaken { holder, .. } => {
                assert_eq!(holder.place.position.line, by, "{requested:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    let twice = RegistrationRequest {
        aliases: vec!["x".to_owned()],
        ..custom("https://n.org/", "x")
    };
    assert!(matches!(
        refused(text, &twice),
        RegistrationRefusal::CodeRepeated { .. }
    ));
    assert!(matches!(
        refused(text, &custom("https://n.org/", "metrics")),
        RegistrationRefusal::Code(CodeError::Reserved { .. })
    ));
    assert!(matches!(
        refused(text, &custom("https://n.org/", "a+")),
        RegistrationRefusal::Code(CodeError::Character { character: '+' })
    ));
}

#[test]
fn a_derived_code_that_is_taken_is_probed_for_and_written_out() {
    let vectors: Value = serde_json::from_str(include_str!("../../vectors/codes.json")).unwrap();
    for scheme in Scheme::ALL {
        let head = format!("code-scheme: {}\n", scheme.name());
        for vector in vectors[format!("{}_collisions", scheme.name())]
            .as_array()
            .unwrap()
        {
            let text = |key: &str| vector[key].as_str().unwrap();
            let url = |at: usize| vector["urls"][at].as_str().unwrap();
            for (first, second) in [(0, 1), (1, 0)] {
                let before = format!("{head}mapping:\n- url: {}\n", url(first));
                let registration = in_one(&before, &request(url(second))).unwrap();
                assert_eq!(registration.code, text("next"));
                let written = text_of(&registration.file);
                let line = format!("  short-code: {}\n", text("next"));
                assert!(written.contains(&line), "{written}");
                // That one may be taken, too.
                let before = format!(
                    "{before}- url: https://e.org/\n  aliases: [\"{}\"]\n",
                    text("next")
                );
                let registration = in_one(&before, &request(url(second))).unwrap();
                let mut probed = scheme.probe(text("code")).skip(1);
                assert_eq!(registration.code, probed.next().unwrap().as_str());
            }
            let alone = added(&head, &request(url(1)));
            assert_eq!(alone, format!("- url: {}\n", url(1)));
        }
    }
}

#[test]
fn the_next_number_follows_the_highest_one() {
    let next = |text: &str| {
        let request = number("https://n.org/", RequestedCode::NextNumber);
        in_one(text, &request).map(|it| it.code)
    };
    assert_eq!(next("mapping: []\n").unwrap(), "1");
    let text =
        "mapping:\n- url: https://e.org/\n  number: 61\n- url: https://e.org/2\n  number: 3\n";
    assert_eq!(next(text).unwrap(), "10");
    // A custom code is not a number, but it is taken; so is the code of a retired number.
    let text = format!(
        "{text}- url: https://e.org/3\n  short-code: \"10\"\n- url: https://e.org/4\n  short-code: zzzz\n\
         - number: 61000\n  retired: true\n"
    );
    assert_eq!(next(&text).unwrap(), "fRT");
    assert_eq!(next(&text.replace("61000", "60")).unwrap(), "11");
    let last = "mapping:\n- url: https://e.org/\n  number: 18446744073709551615\n";
    assert!(matches!(next(last), Err(RegistrationRefusal::NoNumberLeft)));
    // A site may use numbers by default.
    let head = "defaults: {new: number}\n";
    assert_eq!(
        added(head, &request("https://n.org/")),
        "- url: https://n.org/\n  number: 1\n"
    );
}

#[test]
fn a_number_whose_code_is_a_reserved_word_is_skipped() {
    let before = "metrics".bytes().fold(0_u64, |number, byte| {
        let digit = b"0123456789abcdefghijklmnopqrstuvwxyz"
            .iter()
            .position(|&it| it == byte);
        number * 62 + digit.unwrap() as u64
    }) - 1;
    let text = format!("mapping:\n- url: https://e.org/\n  number: {before}\n");
    let request = number("https://n.org/", RequestedCode::NextNumber);
    assert_eq!(in_one(&text, &request).unwrap().code, "metrict");
}

#[test]
fn the_site_and_the_file_are_never_guessed() {
    let table = files(&[
        ("d/a.yaml", "base_url: https://a.example/\nmapping: []\n"),
        ("d/b.yaml", "base_url: https://b.example/\nmapping: []\n"),
        ("d/c.yaml", "base_url: https://b.example/\nmapping: []\n"),
    ]);
    let try_ = |request: &RegistrationRequest| register(&table, request, MAX_BYTES, now());
    let document = |name: &str| Destination::Document(Some(name.to_owned()));
    let url = "https://n.org/";
    assert!(matches!(
        try_(&request(url)),
        Err(RegistrationRefusal::SeveralSites { .. })
    ));
    let on = |site: &str, destination| RegistrationRequest {
        site: Some(site.to_owned()),
        ..at(url, destination)
    };
    assert!(matches!(
        try_(&on("https://c.example/", Destination::default())),
        Err(RegistrationRefusal::UnknownSite { .. })
    ));
    let a = try_(&on("https://A.example", Destination::default())).unwrap();
    assert_eq!(a.place.to_string(), "d/a.yaml:3:3");
    assert!(matches!(
        try_(&on("https://b.example/", Destination::default())),
        Err(RegistrationRefusal::SeveralFiles { .. })
    ));
    assert!(matches!(
        try_(&on("https://b.example/", document("a.yaml"))),
        Err(RegistrationRefusal::UnknownFile { .. })
    ));
    for name in ["c.yaml", "d/c.yaml"] {
        let c = try_(&at(url, document(name))).unwrap();
        assert_eq!(&*c.file.path, "d/c.yaml");
        assert!(c.short_url.starts_with("https://b.example/"));
    }
    let fragment = Destination::Fragment("d/".to_owned());
    let new = try_(&on("https://b.example/", fragment.clone())).unwrap();
    assert_eq!(*new.file.path, *format!("d/{}.yaml", new.code));
    assert_eq!(
        text_of(&new.file),
        "base_url: https://b.example/\nmapping:\n- url: https://n.org/\n"
    );
    // A URL is registered in a site.
    let mut table = table;
    table.push(new.file);
    let again = register(
        &table,
        &on("https://b.example/", fragment),
        MAX_BYTES,
        now(),
    );
    assert!(matches!(
        again,
        Err(RegistrationRefusal::AlreadyRegistered(_))
    ));
    assert!(
        register(
            &table,
            &on("https://a.example/", Destination::default()),
            MAX_BYTES,
            now()
        )
        .is_ok()
    );
}

#[test]
fn a_fragment_joins_the_only_site() {
    let mut table = files(&[(
        "d/a.yaml",
        &format!("{HEAD}code-scheme: crc64-xz\nmapping: []\n"),
    )]);
    let fragment = Destination::Fragment("d".to_owned());
    let request = at("https://framasoft.org/", fragment);
    let new = register(&table, &request, MAX_BYTES, now()).unwrap();
    assert_eq!(new.code, "VDxGgZ3y2qk");
    assert_eq!(
        text_of(&new.file),
        "mapping:\n- url: https://framasoft.org/\n"
    );
    // Another file may have its name already.
    let other = SourceFile::new(new.file.path, b"mapping: []\n".to_vec());
    table.push(other.into());
    assert!(matches!(
        register(&table, &request, MAX_BYTES, now()),
        Err(RegistrationRefusal::FileExists { .. })
    ));
}

#[test]
fn what_is_not_valid_is_refused() {
    let text = "mapping:\n- url: https://e.org/\ntests:\n- {from: /x, to: not-found}\n";
    let forwarding = RegistrationRequest {
        forward: Some(Forward::Path),
        ..request("https://n.org/a")
    };
    for request in [custom("https://n.org/", "x"), forwarding] {
        let RegistrationRefusal::Unsound { problems } = refused(text, &request) else {
            panic!("{request:?}")
        };
        assert_eq!(problems.len(), 1);
    }
    // A test that already fails is not caused by the entry.
    let failing = text.replace("not-found", "gone");
    assert!(in_one(&failing, &request("https://n.org/")).is_ok());
    for url in ["http://short.code/x", "https://short.code./"] {
        assert!(matches!(
            refused(text, &request(url)),
            RegistrationRefusal::OwnLink { .. }
        ));
    }
    assert!(matches!(
        refused("mapping: [{url: https://e.org/}]\n", &request("https://n.org/")),
        RegistrationRefusal::CannotInsert { entry, .. } if entry == "- url: https://n.org/"
    ));
    assert!(matches!(
        refused("mapping:\n- url: x\n", &request("https://n.org/")),
        RegistrationRefusal::TableHasErrors(problems) if problems.len() == 1
    ));
    let bell = RegistrationRequest {
        owner: Some("a\u{7}".to_owned()),
        ..request("https://n.org/")
    };
    assert!(matches!(
        refused(text, &bell),
        RegistrationRefusal::ControlCharacter(ControlCharacter { what: "owner", .. })
    ));
}

#[test]
fn new_warnings_are_reported() {
    let text = "mapping:\n- url: https://e.org/\n  short-code: a.\n";
    let registration = in_one(text, &custom("https://n.org/", "b.")).unwrap();
    let [warning] = &registration.warnings[..] else {
        panic!("{:?}", registration.warnings)
    };
    assert_eq!(warning.message, "the code \"b.\" ends in a full stop");
}

#[test]
fn of_many_files_a_few_are_named() {
    let mut table = files(&[("d/a.yaml", &format!("{HEAD}mapping: []\n"))]);
    let more = (0..9).map(|number| format!("d/b{number}.yaml"));
    table.extend(more.flat_map(|path| files(&[(&path, "mapping: []\n")])));
    let refusal = register(&table, &request("https://n.org/"), MAX_BYTES, now()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the site has several files: d/a.yaml, d/b0.yaml, d/b1.yaml, d/b2.yaml and 6 more"
    );
}

#[test]
fn a_table_that_could_not_be_read_again_is_not_made() {
    let table = files(&[("t.yaml", &format!("{HEAD}mapping: []\n"))]);
    let full = table[0].size();
    assert!(matches!(
        register(&table, &request("https://n.org/"), full, now()),
        Err(RegistrationRefusal::TooLarge { max_bytes }) if max_bytes == full
    ));
}

#[test]
fn published_paths_are_taken_over_only_where_that_is_allowed() {
    let text = "mapping:\n- url: https://bank.example/\n  short-code: bank\n  owner: ada\n  \
                forward: path\n- url: https://docs.example/\n  short-code: docs\n";
    let asks = |code: &str, may_shadow: MayShadow| RegistrationRequest {
        may_shadow,
        ..custom("https://n.org/", code)
    };
    let ada = || MayShadow::OwnedBy("ada".into());
    for (code, may_shadow, by) in [
        ("bank/login", MayShadow::None, "bank"),
        ("bank/login", MayShadow::OwnedBy("eve".into()), "bank"),
        // It has no owner.
        ("docs.", ada(), "docs"),
    ] {
        match refused(text, &asks(code, may_shadow)) {
            RegistrationRefusal::Shadows { holder, path, .. } => {
                assert_eq!((&*holder.code, &*path), (by, code))
            }
            other => panic!("{other:?}"),
        }
    }
    // An alias is a code like any other.
    let alias = RegistrationRequest {
        aliases: vec!["docs.".to_owned()],
        ..request("https://n.org/")
    };
    assert!(matches!(
        refused(text, &alias),
        RegistrationRefusal::Shadows { .. }
    ));
    for (code, may_shadow, trailers) in [
        (
            "bank/login",
            ada(),
            &["Waypost-Allow: retarget bank/login"][..],
        ),
        ("docs.", MayShadow::Any, &["Waypost-Allow: retarget docs."]),
        ("banks", MayShadow::Any, &[]),
    ] {
        let registration = in_one(text, &asks(code, may_shadow)).unwrap();
        assert!(
            registration.trailers.iter().eq(trailers),
            "{registration:?}"
        );
    }
    // Paths below a forwarding code are published as well.
    let text = "mapping:\n- url: https://e.org/\n  short-code: team/a\n";
    let prefix = RegistrationRequest {
        forward: Some(Forward::Path),
        ..custom("https://n.org/", "team")
    };
    assert!(matches!(
        refused(text, &prefix),
        RegistrationRefusal::Shadows { .. }
    ));
}
