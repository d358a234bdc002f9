//! A device of a Gatepost provider: it registers, receives messages by a stream, by polls and by
//! pushes, gives each message to the app once, and acknowledges it.

mod device;
mod fault;
mod line;
mod message;
mod server;
mod state;

pub use device::{hwid_in, App, BoxError, Delivery, Device, Done, End, Mode, Options, Status};
pub use device::{PushAddress, Store};
pub use fault::Reason;
pub use message::{plain_text, Message, Texts};
pub use server::{fetch_headers, Server};
pub use state::FileStore;
