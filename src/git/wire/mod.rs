//! Git's own protocol (gitprotocol-pack(5), version 0): with `upload-pack`, over TCP or through the
//! program `git` on this machine, and with `receive-pack` there.
//!
//! libgit2 supports it too, but not with a program, and without a choice of how packs are
//! processed. Nothing here limits the time of anything: the process around it is killed from
//! outside.

mod advertisement;
mod endpoint;
mod packet_stream;
mod packets;
mod receive_pack;
mod remote_messages;
mod request;
mod upload_pack;
mod wire_error;

pub(crate) use advertisement::{AdvertisedRef, MAX_ADVERTISED};
pub(crate) use endpoint::{Endpoint, PLACE_VARIABLES, has_git_program};
pub(crate) use packet_stream::read_packet;
pub(crate) use receive_pack::{BranchMove, PushReport};
pub(crate) use remote_messages::RemoteMessages;
pub(crate) use request::FetchRequest;
pub(crate) use upload_pack::{ShallowChange, UploadPack};
pub(crate) use wire_error::WireError;
