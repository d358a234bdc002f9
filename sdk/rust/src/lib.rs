//! A device of a Gatepost provider: it registers, receives messages by a stream, by polls and by
//! pushes, gives each message to the app once, and acknowledges it.

mod app;
mod device;
mod fault;
mod line;
mod message;
mod server;
mod state;

pub use app::{App, BoxError, Delivery, Done, End, Mode, Options, PushAddress, Status};
pub use device::Device;
pub use fault::Reason;
pub use message::{plain_text, Message, Texts};
pub use server::{fetch_headers, Server};
pub use state::{hwid_in, FileStore, Store};
