//! A device of a Gatepost provider: it registers, receives messages by a stream, by polls and by
//! pushes, gives each message to the app once, and acknowledges it.

mod app;
mod device;
mod message;
mod socket;
mod state;

pub use app::{fetch_headers, App, BoxError, Delivery, Done, End, Options, Reason, Server, Status};
pub use device::Device;
pub use message::{plain_text, Message, Texts};
pub use state::{hwid_in, FileStore, Store};
