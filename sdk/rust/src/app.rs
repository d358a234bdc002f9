//! What an app gives to its device, and what it gets.

use crate::message::{Message, Texts};
use reqwest::{Client, Url};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::future::Future;

/// The error of a handler: its text goes to the provider.
pub type BoxError = Box<dyn Error + Send + Sync>;

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

/// The terms of a device that are not the usual ones.
#[derive(Default)]
pub struct Options {
    /// Further fields of a registration: `os`, `os_version`, `device_name`, `app_version`, …
    pub facts: BTreeMap<String, String>,
    /// The one that the app has; else one is drawn and kept.
    pub hwid: Option<String>,
    /// The language of texts, such as `pt-BR`.
    pub locale: String,
    /// Where pushes go: an object with `gateway` (`fcm`, `apns` or `webpush`) and `token`, a text or
    /// the subscription of Web Push.
    pub push: Option<Value>,
    /// Holds no socket open beside its polls.
    pub polls: bool,
    /// Seconds between two pings of a stream (15 to 600), or between two polls; 0: the usual.
    pub ping: u64,
    /// The largest frame of the stream, bytes (1,024 to 65,536); 0: the server's.
    pub frame_max: u32,
    /// Multiplies all times, for tests; 0 is 1.
    pub pace: f64,
    /// The app's client, if it has one; it must speak HTTP/1.1.
    pub client: Option<Client>,
}

/// Why a device is closed, was refused, or lost a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reason {
    /// A refusal of the server (`Install not found`, `link_limit_reached`, `slot_freed`), or of the
    /// line: `refused_port`, `tls`, `not_json`, `wrong_path`, `bad_url`, `timeout`, `name`,
    /// `no_answer`, `silence`.
    pub word: String,
    /// A sentence: the server's in the language of the device, the kit's in English.
    pub text: String,
    /// The server's `msg`, which is the same in all languages.
    pub msg: String,
    /// When a place ended; as the server's other times.
    pub at: Box<str>,
    /// The limit of the link that is full.
    pub limit: Option<u32>,
    /// Where the user frees a slot.
    pub free_url: String,
    /// That of the server's close frame.
    pub(crate) code: u16,
}

/// Faults of a call: the word, what the errors of libraries say, and the rest of a sentence that
/// begins with the address.
const FAULTS: [(&str, &[&str], &str); 4] = [
    ("refused_port", &["refused"], "refused its port: no server listens there"),
    ("name", &["dns error", "lookup address"], "has a host whose name was not found"),
    ("tls", &["certificate", "tls", "handshake", "corrupt", "fatal alert"], "failed in TLS"),
    ("timeout", &["timed out"], "did not answer in time"),
];

impl Reason {
    pub(crate) fn new(word: &str, text: impl Into<String>) -> Reason {
        Reason { word: word.to_string(), text: text.into(), ..Reason::default() }
    }

    /// Reads that of an answer, or of one notice in `ended`.
    pub(crate) fn read(from: &Value) -> Reason {
        let text = |name: &str| from[name].as_str().unwrap_or("").to_string();
        let or_msg = |name: &str| text(if from[name].is_string() { name } else { "msg" });
        let (word, sentence, msg) = (or_msg("reason"), or_msg("text"), text("msg"));
        let limit = from["limit"].as_u64().map(|limit| limit as u32);
        let (at, free_url) = (text("at").into(), text("free_url"));
        Reason { word, text: sentence, msg, at, limit, free_url, code: 0 }
    }

    /// Says what kept a call to `url` from an answer.
    pub(crate) fn of_call(fault: reqwest::Error, url: &str) -> Reason {
        // A word in the address says nothing.
        let fault = fault.without_url();
        let chain = std::iter::successors(Some(&fault as &dyn Error), |&one| one.source());
        let all = chain.map(|one| format!(": {one}")).collect::<String>();
        let says = |sign: &&str| all.to_lowercase().contains(sign);
        let known = FAULTS.iter().find(|(_, signs, _)| signs.iter().any(says));
        let (word, _, what) = known.unwrap_or(&("no_answer", &[], "did not answer"));
        Reason::new(word, format!("{url} {what}{all}."))
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}: {}", self.word, self.text)
    }
}

impl Error for Reason {}

type Fields = BTreeMap<String, String>;

/// The address of a server, with what a registration shows there.
#[derive(Clone, Debug)]
pub struct Server {
    /// Stands before `/register`, `/inbox`, `/ack` and `/stream`.
    pub(crate) base: String,
    pub(crate) shown: Fields,
}

impl Server {
    /// The server at `https://HOST`, and the link that the user opened. The hash is the SHA-256 of
    /// its domain. Fails with `bad_url`.
    pub fn of_link(url: &str, install_code: &str, domain_hash: &str) -> Result<Server, Reason> {
        let base = format!("{}/device", http(url)?.as_str().trim_end_matches('/'));
        let shown = fields([("install_code", install_code), ("domain_hash", domain_hash)]);
        Ok(Server { base, shown })
    }

    /// The server that the answer to a subscription's fetch names, if it names one. `header` gives a
    /// header of the answer. Ask your user before you make a device with it.
    pub fn discovered<'a>(
        fetched: &str,
        header: impl FnOnce(&'static str) -> Option<&'a str>,
    ) -> Option<Server> {
        // A path of the same host, and nothing else: the answer names no other server.
        let path = header("x-device-server").filter(|path| is_path(path))?;
        let base = http(fetched).ok()?.join(path).ok()?.to_string();
        Some(Server { base, shown: fields([("subscription_url", fetched)]) })
    }
}

/// Whether a header names a path of segments of letters, digits, `.`, `_`, `~` and `-`.
fn is_path(path: &str) -> bool {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "._~-".contains(sign);
    let is_segment = |part: &str| !["", ".", ".."].contains(&part) && part.chars().all(is_sign);
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_segment))
}

fn http(url: &str) -> Result<Url, Reason> {
    let read = Url::parse(url).ok().filter(|url| ["https", "http"].contains(&url.scheme()));
    let text = format!("The address {url:?} must begin with https:// and name a host.");
    read.ok_or_else(|| Reason::new("bad_url", text))
}

pub(crate) fn fields<'a>(from: impl IntoIterator<Item = (&'a str, &'a str)>) -> Fields {
    let filled = from.into_iter().filter(|(_, value)| !value.is_empty());
    filled.map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

/// Returns the headers of a subscription's fetch: they name the device, and ask for the server.
pub fn fetch_headers(hwid: &str, facts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let fact = |name: &str| facts.get(name).map_or("", String::as_str);
    fields([
        ("x-hwid", hwid),
        ("x-device-protocol", "1"),
        ("x-device-os", fact("os")),
        ("x-ver-os", fact("os_version")),
        ("x-device-model", fact("device_name")),
        ("x-app-version", fact("app_version")),
    ])
}
