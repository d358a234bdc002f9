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
        let raw = value.as_object()?.clone();
        let is_stub = raw.get("stub") == Some(&Value::Bool(true));
        let payload = match raw.get("payload") {
            Some(payload) => payload.as_object()?.clone(),
            None if is_stub => Map::new(),
            None => return None,
        };
        let kind = raw.get("notification_type").and_then(Value::as_i64).unwrap_or(0);
        Some(Message { id: raw.get("id")?.as_i64()?, kind, payload, raw, is_stub })
    }

    /// The action of a command; empty for a notification.
    pub fn action(&self) -> &str {
        text_in(&self.payload, "action_type")
    }

    /// Says why the message cannot be handled.
    pub(crate) fn unknown(&self) -> Option<String> {
        match self.kind {
            NOTIFICATION => None,
            COMMAND if ACTIONS.contains(&self.action()) => None,
            COMMAND => Some(format!("unknown action_type {}", self.action())),
            other => Some(format!("unknown notification_type {other}")),
        }
    }

    /// Returns the texts for a locale (`pt-BR`), else for its language, else the general ones.
    pub fn texts(&self, locale: &str) -> Texts {
        let own = locale_in(&self.payload, locale);
        let of = |name: &str, own_name: &str| match own.map_or("", |own| text_in(own, own_name)) {
            "" => text_in(&self.payload, name).to_string(),
            text => text.to_string(),
        };
        let html = of("body", "body");
        Texts {
            title: of("title", "title"),
            plain: plain_text(&html),
            html,
            link: of("link_for_open", "link-for-open"),
        }
    }
}

pub(crate) fn text_in<'a>(record: &'a Map<String, Value>, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or("")
}

fn locale_in<'a>(payload: &'a Map<String, Value>, locale: &str) -> Option<&'a Map<String, Value>> {
    let wanted = tidy_tag(locale);
    let rank = |key: &str| match tidy_tag(key) {
        tag if tag == wanted => 3,
        tag if tag == language_of(&wanted) => 2,
        tag if language_of(&tag) == language_of(&wanted) => 1,
        _ => 0,
    };
    let all = payload.get("locales")?.as_object()?.iter();
    let fits = all.filter_map(|(key, texts)| Some((rank(key), texts.as_object()?)));
    // Of equal ones, the first.
    fits.filter(|one| one.0 > 0).rev().max_by_key(|one| one.0).map(|one| one.1)
}

/// Spells a tag in one way. Providers write CN for Chinese.
fn tidy_tag(tag: &str) -> String {
    match tag.trim().to_lowercase().replace('_', "-") {
        cn if cn == "cn" => "zh-cn".to_string(),
        tidy => tidy,
    }
}

fn language_of(tag: &str) -> &str {
    tag.split('-').next().unwrap_or("")
}

const BLOCKS: [&str; 13] =
    ["p", "div", "li", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "blockquote", "pre", "br"];

/// Returns filtered HTML as text: blocks become line breaks, entities are decoded.
pub fn plain_text(html: &str) -> String {
    let mut text = String::new();
    for (at, part) in html.split('<').enumerate() {
        let (tag, words) = match part.split_once('>') {
            Some((tag, words)) if at > 0 => (tag.trim().to_lowercase(), words),
            _ => {
                text.push_str(if at > 0 { "<" } else { "" });
                (String::new(), part)
            }
        };
        let is_end = tag.starts_with('/') || tag.starts_with("br");
        if is_end && BLOCKS.contains(&tag.trim_matches(['/', ' '])) {
            text.push('\n');
        }
        text.extend(words.chars().map(|c| if c.is_whitespace() { ' ' } else { c }));
    }
    let decoded = decoded(&text);
    let words =
        |line: &str| line.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
    let mut tidy = decoded.split('\n').map(words).collect::<Vec<_>>().join("\n");
    while tidy.contains("\n\n\n") {
        tidy = tidy.replace("\n\n\n", "\n\n");
    }
    tidy.trim().to_string()
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('&');
    let mut whole = parts.next().unwrap_or("").to_string();
    for part in parts {
        match part.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest))) {
            Some((sign, rest)) => whole.extend([sign.to_string().as_str(), rest]),
            None => whole.extend(["&", part]),
        }
    }
    whole
}

fn entity(name: &str) -> Option<char> {
    match (name, name.strip_prefix('#')) {
        ("amp", _) => Some('&'),
        ("lt", _) => Some('<'),
        ("gt", _) => Some('>'),
        ("quot", _) => Some('"'),
        ("apos", _) => Some('\''),
        ("nbsp", _) => Some(' '),
        (_, Some(code)) => char::from_u32(match code.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => code.parse().ok()?,
        }),
        _ => None,
    }
}
