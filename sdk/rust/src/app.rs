//! What an app gives to its device, and what it gets.

use crate::fault::Reason;
use crate::message::{Message, Texts};
use crate::server::Server;
use crate::state::Store;
use reqwest::Client;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::Future;

/// The error of a handler: its text goes to the provider.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A message for the app.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub message: Message,
    pub texts: Texts,
    /// The state of the device with this message in it. An app that writes it to its store in the
    /// transaction of its own effect returns [`Done::Kept`]: then the message is handled exactly
    /// once, else at least once.
    pub state: String,
}

/// The outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Done {
    /// A notification was received, a command executed.
    Usual,
    Opened,
    Failed,
    /// The app wrote [`Delivery::state`] itself.
    Kept,
}

/// A change that the app may show its user.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    Open,
    /// The device comes back by itself.
    Closed(Reason),
    /// The device lost a place, and works on with the others.
    Ended(Reason),
}

/// Why a device ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Show the reason to the user, and run again only when the user asks for it.
    Refused(Reason),
    /// Another stream of this device is in use: do not start it again.
    Replaced,
    /// The device runs already: the other call goes on.
    Running,
}

/// The app of a device. A panic or an error in it ends nothing.
pub trait App: Send + Sync {
    /// Handles a new message, one after the other. An error is acknowledged as failed. It must not
    /// wait for its device, which waits for it.
    fn on_message(&self, got: Delivery) -> impl Future<Output = Result<Done, BoxError>> + Send;

    fn on_status(&self, _status: Status) {}

    /// Takes a line for a log.
    fn log(&self, _line: &str) {}
}

/// How messages come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Mode {
    #[default]
    Stream,
    /// Holds no socket open beside its polls.
    Poll,
}

/// Where pushes go: `gateway` is `fcm`, `apns` or `webpush`; `token` a text, or the subscription
/// of Web Push.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PushAddress {
    pub gateway: String,
    pub token: Value,
}

/// The terms of a device.
pub struct Options {
    pub server: Server,
    pub store: Box<dyn Store>,
    /// Further fields of a registration: `os`, `os_version`, `device_name`, `app_version`, …
    pub facts: BTreeMap<String, String>,
    /// The one that the app has; else one is drawn and kept.
    pub hwid: Option<String>,
    /// The language of texts, such as `pt-BR`.
    pub locale: String,
    pub push: Option<PushAddress>,
    pub mode: Mode,
    /// Seconds between two pings of a stream (15 to 600), or between two polls; 0: the usual.
    pub ping: u64,
    /// The largest frame of the stream, bytes (1,024 to 65,536); 0: the server's.
    pub frame_max: u32,
    /// Multiplies all times, for tests.
    pub pace: f64,
    /// The app's client, if it has one; it must speak HTTP/1.1.
    pub client: Option<Client>,
}

impl Options {
    pub fn new(server: Server, store: impl Store + 'static) -> Options {
        Options {
            server,
            store: Box::new(store),
            facts: BTreeMap::new(),
            hwid: None,
            locale: String::new(),
            push: None,
            mode: Mode::Stream,
            ping: 0,
            frame_max: 0,
            pace: 1.0,
            client: None,
        }
    }
}
