//! The units under `deploy/systemd`: plain files, and the template next to the service that it
//! repeats.

use std::fs;

/// Settings of the service, and their counterparts in the template.
const INSTANCE: &[(&str, &[&str])] = &[
    (
        "Description=Waypost, a URL shortener",
        &["Description=Waypost, a URL shortener (%i)"],
    ),
    (
        "EnvironmentFile=-/etc/default/waypost",
        &[
            "EnvironmentFile=-/etc/default/waypost",
            "EnvironmentFile=-/etc/default/%N",
        ],
    ),
    ("StateDirectory=waypost", &["StateDirectory=%N"]),
];

/// Returns a unit's lines without its comments, which are no settings.
fn settings(unit: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("deploy/systemd/{unit}")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_template_is_the_service_but_for_its_instance() {
    let mut expected = settings("waypost.service");
    assert!(expected.len() > 30, "{expected:?}");
    for (service, template) in INSTANCE {
        let at = expected.iter().position(|line| line == service);
        let at = at.unwrap_or_else(|| panic!("no {service:?} in waypost.service"));
        expected.splice(at..=at, template.iter().map(|&line| line.to_owned()));
    }
    assert_eq!(settings("waypost@.service"), expected);
}

#[test]
fn no_unit_is_a_symbolic_link() {
    // systemd refuses a link from `waypost@.service` to a file whose name has no `@`.
    for item in fs::read_dir("deploy/systemd").unwrap() {
        let item = item.unwrap();
        assert!(!item.file_type().unwrap().is_symlink(), "{item:?}");
    }
}
