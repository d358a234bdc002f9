//! Where the server is, and how a device shows that it belongs to a link.

use crate::fault::Reason;
use reqwest::Url;
use std::collections::BTreeMap;

/// The address of a server, with what a registration shows there.
#[derive(Clone, Debug)]
pub struct Server {
    /// Stands before `/register`, `/inbox`, `/ack` and `/stream`.
    pub(crate) base: String,
    pub(crate) shown: BTreeMap<String, String>,
}

impl Server {
    /// The server at `https://HOST`, and the link that the user opened. The hash is the SHA-256 of
    /// its domain. Fails with `bad_url`.
    pub fn of_link(url: &str, install_code: &str, domain_hash: &str) -> Result<Server, Reason> {
        let base = format!("{}/device", http(url)?.as_str().trim_end_matches('/'));
        let shown = [("install_code", install_code), ("domain_hash", domain_hash)];
        let shown = shown.map(|(name, value)| (name.to_string(), value.to_string())).into();
        Ok(Server { base, shown })
    }

    /// The server that the answer to a subscription's fetch names, if it names one. `header` gives a
    /// header of the answer. Ask your user before you make a device with it.
    pub fn discovered<'a>(
        fetched: &str,
        header: impl FnOnce(&'static str) -> Option<&'a str>,
    ) -> Option<Server> {
        let path = header("x-device-server")?;
        let from = http(fetched).ok()?;
        let base = from.join(path).ok()?;
        // A path of the same host, and nothing else: the answer names no other server.
        let is_path = path.starts_with('/') && base.origin() == from.origin();
        let is_plain = base.query().is_none() && base.fragment().is_none();
        let shown = BTreeMap::from([("subscription_url".to_string(), fetched.to_string())]);
        let base = base.as_str().trim_end_matches('/').to_string();
        (is_path && is_plain).then_some(Server { base, shown })
    }
}

fn http(url: &str) -> Result<Url, Reason> {
    let read = Url::parse(url).ok().filter(|url| ["https", "http"].contains(&url.scheme()));
    let text = format!("The address {url:?} must begin with https:// and name a host.");
    read.ok_or_else(|| Reason::new("bad_url", text))
}

/// Returns the headers of a subscription's fetch: they name the device, and ask for the server.
pub fn fetch_headers(hwid: &str, facts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::from([
        ("x-hwid".to_string(), hwid.to_string()),
        ("x-device-protocol".to_string(), "1".to_string()),
    ]);
    for (name, fact) in [
        ("x-device-os", "os"),
        ("x-ver-os", "os_version"),
        ("x-device-model", "device_name"),
        ("x-app-version", "app_version"),
    ] {
        if let Some(value) = facts.get(fact).filter(|value| !value.is_empty()) {
            headers.insert(name.to_string(), value.clone());
        }
    }
    headers
}
