//! Why something did not work, in a word for programs and a sentence for people.

use serde_json::Value;
use std::error::Error;
use std::fmt;

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

/// Faults of a call: the word, what the errors of libraries say, and the rest of a sentence that
/// begins with the address.
const FAULTS: [(&str, &[&str], &str); 4] = [
    ("refused_port", &["refused"], "refused its port: no server listens there"),
    ("name", &["dns error", "lookup address"], "has a host whose name was not found"),
    (
        "tls",
        &["certificate", "tls", "handshake", "corrupt message", "fatal alert"],
        "failed in TLS",
    ),
    ("timeout", &["timed out"], "did not answer in time"),
];

impl Reason {
    pub(crate) fn new(word: &str, text: impl Into<String>) -> Reason {
        Reason { word: word.to_string(), text: text.into(), ..Reason::default() }
    }

    /// Reads that of an answer, or of one notice in `ended`.
    pub(crate) fn read(from: &Value) -> Reason {
        let first =
            |names: &[&str]| names.iter().find_map(|name| from[name].as_str()).unwrap_or("");
        Reason {
            word: first(&["reason", "msg"]).to_string(),
            text: first(&["text", "msg"]).to_string(),
            msg: first(&["msg"]).to_string(),
            at: first(&["at"]).into(),
            limit: from["limit"].as_u64().map(|limit| limit as u32),
            free_url: first(&["free_url"]).to_string(),
        }
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

impl fmt::Display for Reason {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text.as_str() {
            text if text.is_empty() || text == self.word => to.write_str(&self.word),
            text => write!(to, "{}: {text}", self.word),
        }
    }
}

impl Error for Reason {}
