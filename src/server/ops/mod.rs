//! The interface to operators and service managers: the admin listener, health, status and
//! notifications.

pub(super) mod admin;
pub(super) mod health;
mod notify_socket;
mod service_manager;
mod status;

pub(crate) use service_manager::ServiceManager;
