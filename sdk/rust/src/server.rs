//! Where the server is, and how a device shows that it belongs to a link.

use crate::fault::Reason;
use reqwest::Url;
use std::collections::BTreeMap;

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
        let path = header("x-device-server").filter(|path| is_path(path))?;
        let from = http(fetched).ok()?;
        let to = from.join(path).ok()?;
        // A path of the same host, and nothing else: the answer names no other server.
        let is_path = to.origin() == from.origin() && to.query().or(to.fragment()).is_none();
        let base = to.as_str().trim_end_matches('/').to_string();
        is_path.then(|| Server { base, shown: fields([("subscription_url", fetched)]) })
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

fn fields<'a>(from: impl IntoIterator<Item = (&'a str, &'a str)>) -> Fields {
    from.into_iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

/// The headers for facts of a device.
const HEADERS: [(&str, &str); 4] = [
    ("x-device-os", "os"),
    ("x-ver-os", "os_version"),
    ("x-device-model", "device_name"),
    ("x-app-version", "app_version"),
];

/// Returns the headers of a subscription's fetch: they name the device, and ask for the server.
pub fn fetch_headers(hwid: &str, facts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let named = HEADERS.iter().filter_map(|(name, fact)| Some((*name, facts.get(*fact)?.as_str())));
    let all = [("x-hwid", hwid), ("x-device-protocol", "1")].into_iter().chain(named);
    fields(all.filter(|(_, value)| !value.is_empty()))
}
