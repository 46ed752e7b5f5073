//! Remote repositories: how to follow them, and how links are registered in them.

mod git;
mod in_repository;
mod registrations;

pub(crate) use git::{AccessArgs, GitArgs};
pub(crate) use in_repository::InRepository;
pub(crate) use registrations::{RegistrationArgs, require_branch};
