//! A bare repository, a server that follows it, and clients with tokens.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use waypost::git::{Anyone, Credentials};
use waypost::registry::{CommitIdentity, Registrar};
use waypost::server::{Config, PrivateUrls, Registrations, RemoteSource, Server, TokenFile};
use waypost::source::{FetchOptions, Following, Schedule};

use crate::bare_remote;
use crate::git::git;
use crate::schema::Description;
use crate::support::{Reply, Running, quiet, until};

/// A table without a link.
pub(crate) const EMPTY: &str = "base_url: https://short.code/\nmapping: []\n";

/// The tokens of `ada`, `bob` and an admin; with `printf %s TOKEN | openssl dgst -sha256`.
pub(crate) const ADA: &str = "ada-secret";
pub(crate) const BOB: &str = "bob-secret";
pub(crate) const ADMIN: &str = "admin-secret";
pub(crate) const TOKENS: &str = "# OWNER SHA256
ada cb3ac4f9f4ba2da6f063a94debb6009ec2ee2abcf28f90cd97fdb92fdc44d736
bob 9f03ef1533a68d2f506f81ef463c1183a82a6bd40e45613f36e6fe1889cf1b99
root 16175223c8ddce5ace0493c948569c211b03c4c6bb3d3e484434999448cffe01 admin
";

/// A server that registers, and the repository `remote.git` that it follows.
pub(crate) struct Fixture {
    pub(crate) server: Running,
    pub(crate) root: PathBuf,
    description: Description,
    /// The answers that were seen: status and content.
    pub(crate) seen: Arc<Mutex<Vec<(u16, Value)>>>,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with_table(EMPTY).await
    }

    pub(crate) async fn with_table(text: &str) -> Self {
        Self::configured(quiet(), text).await
    }

    pub(crate) async fn configured(config: Config, text: &str) -> Self {
        Self::of(config, "mapping.yaml", &[("mapping.yaml", text)]).await
    }

    /// Refuses URLs with a private address.
    pub(crate) async fn refusing_private(text: &str) -> Self {
        let files = [("mapping.yaml", text)];
        Self::started(quiet(), "mapping.yaml", &files, PrivateUrls::Refused).await
    }

    /// Serves the table at a path in a repository of these files.
    pub(crate) async fn of(config: Config, path: &str, files: &[(&str, &str)]) -> Self {
        Self::started(config, path, files, PrivateUrls::Accepted).await
    }

    async fn started(
        config: Config,
        path: &str,
        files: &[(&str, &str)],
        private: PrivateUrls,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        bare_remote::create(&root);
        bare_remote::push(&root, files);
        fs::write(root.join("tokens"), TOKENS).unwrap();

        let (remote, transfer) = (bare_remote::url(&root), bare_remote::transfer(&root));
        let followed = RemoteSource::start(Following {
            remote,
            reference: None,
            path: path.to_owned(),
            state_dir: None,
            max_bytes: 1 << 20,
            memory: None,
            fetch: FetchOptions {
                // Longer than any test.
                schedule: Schedule::every(Duration::from_secs(3_600)),
                credentials: Credentials::default(),
                transfer,
                verifier: Arc::new(Anyone),
                observer: Arc::new(|_| ()),
            },
        })
        .unwrap();
        let author = CommitIdentity {
            name: "W".to_owned(),
            email: "w@example.org".to_owned(),
        };
        let registrar = Registrar::new(Arc::clone(followed.follower()), author);
        let tokens = TokenFile::read(&root.join("tokens")).unwrap();
        let registrations = Registrations::new(tokens, registrar).with_private_urls(private);
        let server = Server::load(config, followed).await.unwrap();
        let server = server.registering(Some(registrations));
        let server = Running::run(server, directory, false).await;
        let description = server.get("/-/api/openapi.json").await.json();
        Self {
            server,
            root,
            description: Description::new(description),
            seen: Arc::default(),
        }
    }

    /// Runs git in the remote, with arguments that hold no spaces.
    pub(crate) fn remote(&self, arguments: &str) -> String {
        git(&self.root.join("remote.git"), arguments)
    }

    /// Returns the table as the remote has it.
    pub(crate) fn table(&self) -> String {
        self.remote("show main:mapping.yaml")
    }

    /// Returns how many commits the remote's branch has.
    pub(crate) fn commits(&self) -> usize {
        self.remote("rev-list --count main").parse().unwrap()
    }

    /// Pushes a table as another user.
    pub(crate) fn push(&self, text: &str) {
        git(&self.root.join("work"), "pull --quiet origin main");
        bare_remote::push(&self.root, &[("mapping.yaml", text)]);
    }

    /// Lets the remote run a script as a hook.
    pub(crate) fn hook(&self, name: &str, script: &str) {
        bare_remote::hook(&self.root, name, script);
    }

    /// Keeps the remote from answering pushes until [`Fixture::release`].
    pub(crate) fn hold(&self) {
        let (held, released) = (self.root.join("held"), self.root.join("released"));
        let (held, released) = (held.display(), released.display());
        let wait = format!("touch {held}; until [ -e {released} ]; do sleep 0.01; done");
        self.hook("pre-receive", &wait);
    }

    /// Waits until a push is held.
    pub(crate) async fn until_held(&self) {
        until(async || self.root.join("held").exists()).await;
    }

    pub(crate) fn release(&self) {
        fs::write(self.root.join("released"), "").unwrap();
    }

    /// Requests a registration as `ada`.
    pub(crate) async fn register(&self, body: &str) -> Reply {
        self.register_as(ADA, "", body).await
    }

    /// Requests a registration, with further header lines, each ending in CRLF.
    pub(crate) async fn register_as(&self, token: &str, headers: &str, body: &str) -> Reply {
        let headers =
            format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n{headers}");
        self.post(&headers, body).await
    }

    /// Posts a body with these header lines.
    pub(crate) async fn post(&self, headers: &str, body: &str) -> Reply {
        let length = body.len();
        let headers = format!("{headers}Content-Length: {length}\r\n\r\n{body}");
        // The blank line that ends the head is in there already.
        let head = "Host: short.code\r\nConnection: close\r\n";
        let path = "/-/api/links";
        let request = format!("POST {path} HTTP/1.1\r\n{head}{headers}");
        self.checked("post", path, self.server.say(request).await)
    }

    /// Requests a change of the link with a code, if it still has an entity tag.
    pub(crate) async fn edit(
        &self,
        token: &str,
        method: &str,
        code: &str,
        tag: &str,
        body: &str,
    ) -> Reply {
        let media_type = match method {
            "PATCH" => "Content-Type: application/merge-patch+json\r\n",
            _ => "",
        };
        let headers = format!("{media_type}If-Match: {tag}\r\n");
        self.send(token, method, code, &headers, body).await
    }

    /// Sends a request about the link with a code, with these header lines.
    pub(crate) async fn send(
        &self,
        token: &str,
        method: &str,
        code: &str,
        headers: &str,
        body: &str,
    ) -> Reply {
        let length = body.len();
        let mut head = format!(
            "{method} /-/api/links/{code} HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n\
             Authorization: Bearer {token}\r\nContent-Length: {length}\r\n{headers}"
        );
        if method == "PATCH" && !headers.contains("Content-Type") {
            head += "Content-Type: application/json\r\n";
        }
        let reply = self.server.say(format!("{head}\r\n{body}")).await;
        self.checked(&method.to_ascii_lowercase(), "/-/api/links/{code}", reply)
    }

    /// Looks a link up, by what follows `/-/api/links`.
    pub(crate) async fn look_up(&self, rest: &str) -> Reply {
        let path = format!("/-/api/links{rest}");
        let described = match rest.starts_with('/') {
            true => "/-/api/links/{code}",
            false => "/-/api/links",
        };
        self.checked("get", described, self.server.get(&path).await)
    }

    /// Checks an answer against the description of the service.
    fn checked(&self, method: &str, path: &str, reply: Reply) -> Reply {
        self.description.check(method, path, &reply);
        let seen = (status(&reply), reply.json());
        self.seen.lock().unwrap().push(seen);
        reply
    }

    /// Returns how many registrations had this result.
    pub(crate) async fn counted(&self, result: &str) -> f64 {
        let name = format!("waypost_registrations_total{{result=\"{result}\"}}");
        self.server.metric(&name).await.unwrap()
    }
}

/// Returns the status of an answer.
pub(crate) fn status(reply: &Reply) -> u16 {
    let line = reply.status_line();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Returns what the type of a problem ends in.
pub(crate) fn problem(reply: &Reply) -> String {
    let content = reply.json();
    let kind = content["type"].as_str().unwrap().to_owned();
    kind.rsplit(':').next().unwrap().to_owned()
}
