//! Why something did not work, in a word for programs and a sentence for people.

use serde_json::{Map, Value};
use std::error::Error;
use std::fmt;
use std::io::ErrorKind;

/// Why a device is closed, was refused, or lost a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reason {
    /// A refusal of the server (`Install not found`, `link_limit_reached`, `slot_freed`), or of the
    /// line: `refused_port`, `tls`, `not_json`, `wrong_path`, `bad_url`, `timeout`, `name`,
    /// `no_answer`, `silence`, `store`.
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
}

impl Reason {
    pub(crate) fn new(word: &str, text: impl Into<String>) -> Reason {
        Reason { word: word.to_string(), text: text.into(), ..Reason::default() }
    }

    /// Reads that of an answer, or of one notice in `ended`.
    pub(crate) fn read(from: &Map<String, Value>) -> Reason {
        let text = |name: &str| from.get(name).and_then(Value::as_str).unwrap_or("").to_string();
        let first = |names: [&str; 2]| names.map(text).into_iter().find(|it| !it.is_empty());
        Reason {
            word: first(["reason", "msg"]).unwrap_or_default(),
            text: first(["text", "msg"]).unwrap_or_default(),
            msg: text("msg"),
            at: text("at").into(),
            limit: from.get("limit").and_then(Value::as_u64).map(|limit| limit as u32),
            free_url: text("free_url"),
        }
    }

    /// Says what kept a call to `url` from an answer.
    pub(crate) fn of_call(fault: &(dyn Error + 'static), url: &str) -> Reason {
        let mut all = String::new();
        let mut refused = false;
        let mut next = Some(fault);
        while let Some(one) = next {
            let kind = one.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
            refused |= kind == Some(ErrorKind::ConnectionRefused);
            all = format!("{all}: {one}");
            next = one.source();
        }
        let has = |words: &[&str]| words.iter().any(|word| all.to_lowercase().contains(word));
        if refused {
            Reason::new("refused_port", format!("No server listens at {url}: it refused the port."))
        } else if has(&["dns error", "lookup address"]) {
            Reason::new("name", format!("The name of the host in {url} was not found."))
        } else if has(&["certificate", "tls", "handshake", "corrupt message", "fatal alert"]) {
            Reason::new("tls", format!("TLS with {url} failed{all}."))
        } else if has(&["timed out", "deadline has elapsed"]) {
            Reason::new("timeout", format!("{url} did not answer in time."))
        } else {
            Reason::new("no_answer", format!("{url} did not answer{all}."))
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_one = self.text.is_empty() || self.text == self.word;
        to.write_str(&self.word)?;
        if is_one {
            Ok(())
        } else {
            write!(to, ": {}", self.text)
        }
    }
}

impl Error for Reason {}
