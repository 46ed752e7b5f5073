//! The service on each listener, with its limits.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::config::Config;
use super::net::{
    AdminRoom, Listener, NoFastPath, REDIRECT_CONNECTIONS, Threads, accept_all, all_returned,
    next_permit, prepared, serve_plain,
};
use super::ops::admin;
use super::public::{HookPace, ListenerPurpose, Public};
use super::registrations::Service;
use super::reload::Reloads;
use super::state::Shared;
use super::tls::Tls;

/// The limit of admin connections. Operators and probes are few; a separate limit guarantees their
/// access. At the limit, the connection that has been quiet longest is closed, so that no probe
/// waits.
const ADMIN_CONNECTIONS: u32 = 64;

/// The parts that every listener is served with.
pub(super) struct Serving<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) config: &'a Config,
    pub(super) threads: &'a Threads,
}

impl Serving<'_> {
    /// Serves short links until the server closes and its connections are done.
    pub(super) async fn short_links(
        &self,
        listener: Listener,
        hooks: HookPace,
        registrations: Option<Arc<Service>>,
    ) {
        let purpose = ListenerPurpose::Links {
            hook: self.config.hook.clone().map(|secret| (secret, hooks)),
            registrations,
        };
        let (name, limit) = ("public", self.config.max_connections);
        let tls = self.config.tls.as_ref();
        self.public(listener, name, limit, tls, purpose).await;
    }

    /// Redirects clients to HTTPS, at this port if the table names none, for the same time.
    pub(super) async fn https_redirects(&self, listener: Option<Listener>, port: u16) {
        if let Some(listener) = listener {
            let purpose = ListenerPurpose::HttpsRedirects { port };
            let (name, limit) = ("https-redirect", REDIRECT_CONNECTIONS);
            self.public(listener, name, limit, None, purpose).await;
        }
    }

    /// Serves a public listener until the server closes and its connections are done.
    async fn public(
        &self,
        listener: Listener,
        name: &'static str,
        limit: u32,
        tls: Option<&Tls>,
        purpose: ListenerPurpose,
    ) {
        let timeouts = self.config.timeouts;
        let permits = Arc::new(Semaphore::new(limit as usize));
        let public = Arc::new(Public {
            shared: Arc::clone(self.shared),
            permits: Arc::clone(&permits),
            purpose,
            fast_path: self.config.fast_path,
        });
        let next_permit = || next_permit(&permits);
        accept_all(
            listener,
            name,
            &self.shared.lifecycle,
            next_permit,
            |stream, permit| {
                let thread = self.threads.least_busy();
                let client = public.client(&thread.counts);
                let (place, tls) = (thread.place(), tls.cloned());
                thread.serve(async move {
                    let _held = (permit, place);
                    let _open = client.open();
                    let Ok(stream) = prepared(stream) else {
                        return;
                    };
                    let (phases, plain) = (client.phases(), client.clone());
                    let result = match tls {
                        None => {
                            serve_plain(stream, timeouts, phases, plain, |request| {
                                client.answer(request)
                            })
                            .await
                        }
                        Some(tls) => {
                            let client = client.clone();
                            let answer = move |request| client.answer(request);
                            // Boxed, so that connections without TLS do not reserve space for it.
                            Box::pin(tls.serve(stream, timeouts, phases, plain, answer)).await
                        }
                    };
                    if result.is_err_and(|error| error.is_parse()) {
                        client.refused();
                    }
                });
            },
        )
        .await;
        all_returned(&permits, limit).await;
    }

    /// Serves operators until the server closes and their connections are done.
    pub(super) async fn operators(&self, listener: Listener, reloads: Reloads) {
        let room = Arc::new(AdminRoom::new(ADMIN_CONNECTIONS));
        let timeouts = self.config.timeouts.of_operators();
        let serve = |stream, place| {
            let shared = Arc::clone(self.shared);
            let reloads = reloads.clone();
            room.serve(place, |activity| async move {
                let Ok(stream) = prepared(stream) else {
                    return;
                };
                let phases = shared.lifecycle.phases();
                let answer = |request| {
                    Box::pin(async {
                        activity.note();
                        let answer = admin::answer(&shared, &reloads, request).await;
                        activity.note();
                        answer
                    })
                };
                // Clients here report their errors themselves.
                let _ = serve_plain(stream, timeouts, phases, NoFastPath, answer).await;
            });
        };
        accept_all(
            listener,
            "admin",
            &self.shared.lifecycle,
            || room.place(),
            serve,
        )
        .await;
        room.until_empty().await;
    }
}
