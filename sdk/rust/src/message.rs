//! A message of the provider, and its texts in the language of a device.

use serde_json::{Map, Value};

const NOTIFICATION: i64 = 10;
pub(crate) const COMMAND: i64 = 20;
const ACTIONS: [&str; 4] = ["import-data", "update-subscription", "set-settings", "sub-change"];

/// A message as the server sent it.
#[derive(Clone, Debug)]
pub struct Message {
    /// The same in every copy, and in acknowledgements.
    pub id: i64,
    /// 10 for a notification, 20 for a command.
    pub kind: i64,
    /// Says what to do.
    pub payload: Map<String, Value>,
    /// All fields, `created_at` and `expires_at` among them.
    pub raw: Map<String, Value>,
    /// The server sent the id alone, because the frame would be too large.
    pub(crate) is_stub: bool,
}

/// The texts of a message in the language of the device. What is empty is not there.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Plain text.
    pub title: String,
    /// HTML that the server filtered.
    pub html: String,
    /// The same as text with line breaks.
    pub plain: String,
    /// The address that a tap opens.
    pub link: String,
}

impl Message {
    /// Reads a message of the inbox, or the one in a push, which FCM sends as text.
    pub(crate) fn read(value: &Value) -> Option<Message> {
        if let Value::String(text) = value {
            return Message::read(&serde_json::from_str::<Map<_, _>>(text).ok()?.into());
        }
        let is_stub = value["stub"] == true;
        let payload = value["payload"].as_object().cloned().or(is_stub.then(Map::new))?;
        let kind = value["notification_type"].as_i64().unwrap_or(0);
        let raw = value.as_object()?.clone();
        Some(Message { id: value["id"].as_i64()?, kind, payload, raw, is_stub })
    }

    /// Those of an answer of the inbox, or of a frame like it.
    pub(crate) fn all_in(answer: &Value) -> Vec<Message> {
        answer["data"].as_array().into_iter().flatten().filter_map(Message::read).collect()
    }

    /// The action of a command; empty for a notification.
    pub fn action(&self) -> &str {
        self.payload.get("action_type").and_then(Value::as_str).unwrap_or("")
    }

    /// Says why the message cannot be handled.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.kind {
            NOTIFICATION => Ok(()),
            COMMAND if ACTIONS.contains(&self.action()) => Ok(()),
            COMMAND => Err(format!("unknown action_type {}", self.action())),
            other => Err(format!("unknown notification_type {other}")),
        }
    }

    /// Returns the texts for a locale (`pt-BR`), else for its language, else the general ones.
    pub fn texts(&self, locale: &str) -> Texts {
        let own = self.payload.get("locales").and_then(|all| locale_in(all, locale));
        let of = |own_name: &str, name: &str| {
            let both = [own.and_then(|own| own.get(own_name)), self.payload.get(name)];
            let mut texts = both.into_iter().flatten().filter_map(Value::as_str);
            texts.find(|text| !text.is_empty()).unwrap_or("").to_string()
        };
        let html = of("body", "body");
        let (title, plain) = (of("title", "title"), plain_text(&html));
        Texts { title, html, plain, link: of("link-for-open", "link_for_open") }
    }
}

fn locale_in<'a>(locales: &'a Value, locale: &str) -> Option<&'a Value> {
    let wanted = tidy_tag(locale);
    let language = language_of(&wanted);
    let tags = locales.as_object()?.iter().map(|(key, texts)| (tidy_tag(key), texts));
    let fits = tags.filter(|(tag, texts)| texts.is_object() && language_of(tag) == language);
    // Of equal ones, the first.
    fits.rev().max_by_key(|(tag, _)| (*tag == wanted, tag == language)).map(|(_, texts)| texts)
}

/// Spells a tag in one way. Providers write CN for Chinese.
fn tidy_tag(tag: &str) -> String {
    match tag.trim().to_lowercase().replace('_', "-").as_str() {
        "cn" => "zh-cn".to_string(),
        tidy => tidy.to_string(),
    }
}

fn language_of(tag: &str) -> &str {
    tag.split('-').next().unwrap_or("")
}

/// Tags that end a line.
const BREAKS: &str = "br br/ /p /div /li /h1 /h2 /h3 /h4 /h5 /h6 /tr /blockquote /pre";

/// Returns filtered HTML as text: blocks become line breaks, entities are decoded.
pub fn plain_text(html: &str) -> String {
    let html = html.replace(char::is_whitespace, " ");
    let text = replaced(&html, '<', '>', |tag| {
        let tag = tag.to_lowercase().replace(' ', "");
        Some(if BREAKS.split(' ').any(|one| one == tag) { "\n".into() } else { String::new() })
    });
    let decoded = replaced(&text, '&', ';', |name| Some(entity(name)?.to_string()));
    let tidy = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines: Vec<_> = decoded.split('\n').map(tidy).collect();
    lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
    lines.join("\n").trim().to_string()
}

/// Replaces what stands between two signs, and the signs, unless `new` returns none for it.
fn replaced(text: &str, from: char, to: char, new: impl Fn(&str) -> Option<String>) -> String {
    let mut parts = text.split(from);
    let mut whole = parts.next().unwrap_or("").to_string();
    for part in parts {
        match part.split_once(to).and_then(|(inner, rest)| Some((new(inner)?, rest))) {
            Some((new, rest)) => whole.extend([new.as_str(), rest]),
            None => whole.extend([&from.to_string(), part]),
        }
    }
    whole
}

const ENTITIES: [(&str, char); 6] =
    [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", ' ')];

fn entity(name: &str) -> Option<char> {
    let Some(code) = name.strip_prefix('#') else {
        return ENTITIES.iter().find(|one| one.0 == name).map(|one| one.1);
    };
    let code = match code.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => code.parse(),
    };
    char::from_u32(code.ok()?)
}
