//! The `git` program, for what libgit2 does differently: `git` pushes to a path so that the remote
//! compares and runs its hooks, and in a person's checkout it follows all of that person's
//! settings.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use super::program_error::{GitProgramError, MAX_ANSWER};
use crate::git::captured::Captured;
use crate::git::commit_id::CommitId;
use crate::git::secrets::Secrets;
use crate::git::transport::{Pushed, RemoteUrl, SECRET_VARIABLES, SERVICE_VARIABLES};
use crate::git::wire::PLACE_VARIABLES;

/// The limit for keeping Git's errors, which may contain an endless message of a remote.
pub(super) const MAX_ERRORS: u64 = 64 << 10;

/// Git, run in one directory.
#[derive(Debug)]
pub struct GitProgram {
    directory: PathBuf,
    /// The timeout of one command.
    pub(super) timeout: Duration,
    /// The known secrets that it must not show.
    secrets: RefCell<Secrets>,
    pub(super) runtime: Runtime,
}

/// Git's answer.
#[derive(Debug)]
struct GitOutput {
    /// The exit status, unless a signal ended it.
    status: Option<i32>,
    out: String,
    err: String,
}

impl GitProgram {
    /// Runs Git in a directory, with a timeout for each command.
    ///
    /// # Errors
    ///
    /// If the system lacks the resources for that.
    pub fn new(directory: &Path, timeout: Duration) -> io::Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            timeout,
            secrets: RefCell::default(),
            runtime: Builder::new_current_thread().enable_all().build()?,
        })
    }

    /// Hides the secrets of an address in all later errors and answers.
    pub fn hide_secrets_of(&self, remote: &RemoteUrl) {
        let secrets = self.secrets.take().with(remote.secrets());
        self.secrets.replace(secrets);
    }

    /// Runs a command and returns its output, without the last line break. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If it cannot be run, times out or fails.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String, GitProgramError> {
        self.run_with(arguments, "")
    }

    /// Runs a command as [`run`](Self::run) does, with an input.
    ///
    /// # Errors
    ///
    /// If it cannot be run, times out or fails.
    pub fn run_with<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &str,
    ) -> Result<String, GitProgramError> {
        let answer = self.runtime.block_on(self.output_of(arguments, input))?;
        match answer.status {
            Some(0) => Ok(answer.out.trim_end().to_owned()),
            status => Err(GitProgramError::Failed {
                status,
                command: command_of(arguments),
                said: self.readable(match answer.err.trim() {
                    "" => &answer.out,
                    err => err,
                }),
            }),
        }
    }

    /// Makes this process ignore interrupts (SIGINT) and requests to end (SIGTERM) from now on.
    ///
    /// Commands that run in the foreground of a terminal are still interrupted.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn outlive_interrupts(&self) -> Result<(), GitProgramError> {
        let _guard = self.runtime.enter();
        for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
            // The signal is not read: a handler is enough to keep it from killing the process.
            let _ = signal(kind).map_err(|source| self.failed(source))?;
        }
        Ok(())
    }

    /// Pushes a commit to a branch that is expected to be at another one, or not to exist.
    ///
    /// # Errors
    ///
    /// If Git cannot be run at all. Any other failure is an answer.
    pub fn push(
        &self,
        remote: &str,
        commit: CommitId,
        branch: &str,
        expected: Option<CommitId>,
    ) -> Result<Pushed, GitProgramError> {
        let specification = format!("{commit}:{branch}");
        // Without it, a branch that was moved back meanwhile would be moved forward again.
        let lease = format!(
            "--force-with-lease={branch}:{}",
            expected.map(|id| id.to_string()).unwrap_or_default()
        );
        let arguments = ["push", "--porcelain", &lease, "--", remote, &specification];
        match self.runtime.block_on(self.output_of(&arguments, "")) {
            Ok(answer) => Ok(pushed(&answer, |said| self.readable(said))),
            Err(error @ GitProgramError::TimedOut { .. }) => Ok(Pushed::Unclear {
                reason: error.to_string(),
            }),
            Err(error) => Err(error),
        }
    }

    pub(super) fn readable(&self, said: &str) -> String {
        self.secrets.borrow().readable(said)
    }

    /// Returns a command without arguments, whose input and output are pipes.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new("git");
        let service = SECRET_VARIABLES.iter().chain(&SERVICE_VARIABLES);
        for variable in service.chain(&PLACE_VARIABLES) {
            command.env_remove(variable);
        }
        command
            .current_dir(&self.directory)
            // Its messages are also parsed here.
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    async fn output_of<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &str,
    ) -> Result<GitOutput, GitProgramError> {
        let failed = |source| self.failed(source);
        let mut command = self.command();
        let spawned = command.args(arguments).kill_on_drop(true).spawn();
        let mut child = spawned.map_err(failed)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let exchange = async {
            let send_input = async {
                if let Some(mut stdin) = stdin {
                    // A process that does not read it reports the reason below.
                    let _ = stdin.write_all(input.as_bytes()).await;
                }
            };
            let ((), status, out, err) = tokio::join!(
                send_input,
                child.wait(),
                Captured::read(stdout, MAX_ANSWER),
                Captured::read(stderr, MAX_ERRORS),
            );
            Ok((status?, out?, err?))
        };
        match timeout(self.timeout, exchange).await {
            Ok(output) => {
                let (status, out, err) = output.map_err(failed)?;
                if out.is_cut {
                    return Err(GitProgramError::TooMuch {
                        command: command_of(arguments),
                    });
                }
                Ok(GitOutput {
                    status: status.code(),
                    out: out.text(),
                    err: err.text(),
                })
            }
            Err(_) => Err(GitProgramError::TimedOut {
                command: command_of(arguments),
                timeout: self.timeout,
            }),
        }
    }

    pub(super) fn failed(&self, source: io::Error) -> GitProgramError {
        match source.kind() {
            io::ErrorKind::NotFound if self.directory.is_dir() => GitProgramError::Missing,
            _ => GitProgramError::Process {
                directory: self.directory.clone(),
                source,
            },
        }
    }
}

fn command_of<A: AsRef<OsStr>>(arguments: &[A]) -> String {
    let mut words = arguments.iter().map(|it| it.as_ref().to_string_lossy());
    loop {
        match words.next().as_deref() {
            Some("-c") => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            name => return name.unwrap_or_default().to_owned(),
        }
    }
}

/// Parses the output of `git push --porcelain` (git-push(1), "OUTPUT") about one branch.
fn pushed(answer: &GitOutput, readable: impl Fn(&str) -> String) -> Pushed {
    let mut lines = (answer.out.lines()).filter_map(|line| {
        let (flag, rest) = line.split_once('\t')?;
        let (_, summary) = rest.split_once('\t')?;
        Some((flag, summary))
    });
    let said = remote_words(&answer.err);
    match lines.next() {
        Some(("!", summary)) if summary.starts_with("[remote failure]") => Pushed::Unclear {
            reason: readable(&format!("{summary} {said}")),
        },
        Some(("!", summary)) => Pushed::rejected(&readable(summary), &readable(&said)),
        // Someone else made the same commit in the same second.
        Some(("=", _)) => Pushed::moved(),
        Some(_) if answer.status == Some(0) => Pushed::Landed {
            said: readable(&said),
        },
        _ => Pushed::Unclear {
            reason: readable(&answer.err),
        },
    }
}

/// Returns the remote's own messages.
fn remote_words(err: &str) -> String {
    let lines = err.lines().filter_map(|line| line.strip_prefix("remote:"));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(success: bool, line: &str, err: &str) -> Pushed {
        let answer = GitOutput {
            status: Some(i32::from(!success)),
            out: format!("To /srv/links.git\n{line}\nDone\n"),
            err: err.to_owned(),
        };
        pushed(&answer, |said| Secrets::default().readable(said))
    }

    #[test]
    fn what_it_prints_is_read_up_to_a_bound() {
        let directory = tempfile::tempdir().unwrap();
        let git = GitProgram::new(directory.path(), Duration::from_secs(60)).unwrap();
        let print = |bytes: usize, to: &str| {
            let script = format!("!head -c {bytes} /dev/zero | tr '\\0' x {to} && :");
            git.run(&["-c", &format!("alias.print={script}"), "print"])
        };
        let most = MAX_ANSWER as usize;
        assert_eq!(print(most, "").unwrap().len(), most);
        assert!(matches!(
            print(most + 1, ""),
            Err(GitProgramError::TooMuch { .. })
        ));
        assert_eq!(print(4 * most, ">&2").unwrap(), "");
    }

    #[test]
    fn no_error_shows_a_secret_of_the_remote() {
        let directory = tempfile::tempdir().unwrap();
        let git = GitProgram::new(directory.path(), Duration::from_secs(60)).unwrap();
        git.hide_secrets_of(&RemoteUrl::parse("https://u:p%2Fwd@h.example/r").unwrap());
        let failing =
            "alias.fail=!echo Authorization: Basic dTpwL3dk p%2fwd p/wd https://h:b@h && false";
        let said = git.run(&["-c", failing, "fail"]).unwrap_err().to_string();
        assert!(
            said.ends_with("Authorization: Basic *** *** *** https://***@h"),
            "{said}"
        );
    }

    #[test]
    fn words_without_end_are_read_and_not_kept() {
        let git = GitProgram::new(Path::new("."), Duration::from_secs(60)).unwrap();
        let run = |script: &str| {
            let alias = format!("alias.flood=!{script}");
            git.run(&["-c", &alias, "flood"]).unwrap_err()
        };
        let flood = "head -c 3000000 /dev/zero";
        let failed = run(&format!("echo sorry >&2; {flood} >&2; exit 3"));
        let GitProgramError::Failed { said, status, .. } = failed else {
            panic!("{failed}");
        };
        assert_eq!((said.trim(), status), ("sorry", Some(3)));
    }

    #[test]
    fn reads_how_a_push_ended() {
        let err = "Enumerating objects: 5, done.\nremote: See https://h.example/new \nTo /srv\n";
        assert_eq!(
            read(true, " \tabc:refs/heads/main\ta..b", err),
            Pushed::Landed {
                said: "See https://h.example/new".to_owned()
            }
        );
        assert_eq!(
            read(
                false,
                "!\tabc:refs/heads/main\t[rejected] (fetch first)",
                ""
            ),
            Pushed::Lost {
                reason: "[rejected] (fetch first)".to_owned()
            }
        );
        assert_eq!(
            read(
                false,
                "!\tabc:refs/heads/main\t[remote rejected] (pre-receive hook declined)",
                "remote: no links on Sundays\n"
            ),
            Pushed::Refused {
                reason: "[remote rejected] (pre-receive hook declined): no links on Sundays"
                    .to_owned()
            }
        );
        let same = "=\tabc:refs/heads/main\t[up to date]";
        assert_eq!(read(true, same, ""), Pushed::moved());
        let cut = "fatal: the remote end hung up unexpectedly";
        let unclear = Pushed::Unclear {
            reason: cut.to_owned(),
        };
        assert_eq!(read(false, "", cut), unclear);
        assert!(matches!(
            read(
                false,
                "!\tabc:refs/heads/main\t[remote failure] (remote failed to report status)",
                ""
            ),
            Pushed::Unclear { .. }
        ));
    }
}
