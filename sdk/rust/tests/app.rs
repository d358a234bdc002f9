//! What an app can do wrong, and what a subscription can name. A server of a few lines answers.

use gatepost_device::{fetch_headers, hwid_in, plain_text, Options, Server, Store};
use gatepost_device::{App, BoxError, Delivery, Device, Done, End, FileStore, Status};
use std::io::{BufRead, BufReader, Error, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::sync::Arc;
use std::time::Duration;

const MESSAGES: &str = r#"{"rc":1,"msg":"Ok","data":[
    {"id":1,"notification_type":10,"payload":{"body":"panics"}},
    {"id":2,"notification_type":10,"payload":{"body":"fails"}},
    {"id":3,"notification_type":10,"payload":{"body":"shows"}}]}"#;

/// Answers each call; sends the bodies of acknowledgements.
fn serve(acks: Sender<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let acks = acks.clone();
            std::thread::spawn(move || while answer(&connection, &acks).is_some() {});
        }
    });
    url
}

fn answer(mut connection: &TcpStream, acks: &Sender<String>) -> Option<()> {
    let mut reader = BufReader::new(connection);
    let mut lines = Vec::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
        if line == "\r\n" {
            break;
        }
        if let Some(named) = line.to_lowercase().strip_prefix("content-length:") {
            length = named.trim().parse().ok()?;
        }
        lines.push(line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let said = match lines[0].split(' ').nth(1)? {
        "/device/register" => r#"{"rc":1,"msg":"Ok","device_token":"T"}"#,
        "/device/inbox" => MESSAGES,
        "/device/ack" => {
            acks.send(String::from_utf8(body).ok()?).ok()?;
            r#"{"rc":1,"msg":"Ok"}"#
        }
        _ => {
            std::thread::sleep(Duration::from_secs(1));
            r#"{"rc":1,"msg":"Ok","data":[]}"#
        }
    };
    write!(connection, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{said}", said.len()).ok()
}

struct Careless;

impl App for Careless {
    async fn on_message(&self, got: Delivery) -> Result<Done, BoxError> {
        match got.texts.plain.as_str() {
            "panics" => panic!("as the test wants"),
            "fails" => Err("it has no screen".into()),
            _ => Ok(Done::Usual),
        }
    }

    fn on_status(&self, _: Status) {
        panic!("as the test wants");
    }
}

/// A store that takes what a device keeps first, and nothing more.
#[derive(Clone, Default)]
struct Full(Arc<AtomicUsize>);

impl Store for Full {
    fn read(&self) -> Result<Option<String>, Error> {
        Ok(None)
    }

    fn write(&self, _: &str) -> Result<(), Error> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(()),
            _ => Err(Error::other("the disk is full")),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn panics_errors_and_a_full_disk_end_nothing() {
    let (acks, got) = channel();
    let server = Server::of_link(&serve(acks), "LinkCode0001", "a").expect("a server");
    let store = Full::default();
    let options = Options { polls: true, pace: 0.1, ..Options::default() };
    let device = Device::new(server, store.clone(), Careless, options).expect("a device");
    let device = Arc::new(device);
    let first = tokio::spawn({
        let device = device.clone();
        async move { device.run().await }
    });
    let acked = tokio::task::spawn_blocking(move || got.recv_timeout(Duration::from_secs(20)));
    let items = acked.await.expect("a thread").expect("acknowledgements");
    for expected in [
        r#"{"id":1,"state":"failed","detail":"the handler panicked"}"#,
        r#"{"id":2,"state":"failed","detail":"it has no screen"}"#,
        r#"{"id":3,"state":"received"}"#,
    ] {
        assert!(items.contains(expected), "{items}");
    }
    assert!(store.0.load(Ordering::Relaxed) > 3);
    // A second call disturbs nothing.
    assert_eq!(device.run().await, End::Running);
    assert!(!first.is_finished());
    first.abort();
}

#[tokio::test]
async fn a_device_that_was_stopped_runs_again() {
    let server = Server::of_link("http://127.0.0.1:1", "LinkCode0001", "a").expect("a server");
    let device =
        Device::new(server, Full::default(), Careless, Options::default()).expect("a device");
    let is_running = AtomicBool::new(true);
    for _ in 0..2 {
        tokio::select! {
            _ = device.run() => is_running.store(false, Ordering::Relaxed),
            () = tokio::time::sleep(Duration::from_millis(1)) => {}
        }
    }
    assert!(is_running.load(Ordering::Relaxed));
}

#[test]
fn an_address_that_is_none_fails_at_once() {
    for url in ["push.example.com", "ftp://push.example.com", "https://", ""] {
        let fault = Server::of_link(url, "LinkCode0001", "a").expect_err(url);
        assert_eq!(fault.word, "bad_url");
        assert!(fault.text.contains(&format!("{url:?}")));
    }
}

#[test]
fn a_subscription_names_a_path_of_its_own_host_or_nothing() {
    let found = |path: Option<&'static str>| {
        Server::discovered("https://sub.example.com/sub/KEY", |name| {
            assert_eq!(name, "x-device-server");
            path
        })
    };
    assert!(found(Some("/.well-known/device-messages")).is_some());
    for other in
        ["//other.example/x", "https://other.example/x", "x", "", "/\\other.example", "/x?y"]
    {
        assert!(found(Some(other)).is_none(), "{other}");
    }
    assert!(found(None).is_none());
    assert!(Server::discovered("no address", |_| Some("/x")).is_none());
}

#[test]
fn a_hwid_is_drawn_once_and_named_by_the_fetch() {
    let path = std::env::temp_dir().join(format!("gatepost-device-{}", std::process::id()));
    let store = FileStore(path.clone());
    let hwid = hwid_in(&store).expect("a HWID");
    assert_eq!((hwid.len(), hwid_in(&store).expect("the same")), (32, hwid.clone()));
    let headers = fetch_headers(&hwid, &[("os".to_string(), "ios".to_string())].into());
    assert_eq!(headers["x-hwid"], hwid);
    assert_eq!(headers["x-device-os"], "ios");
    assert_eq!(headers["x-device-protocol"], "1");
    std::fs::remove_file(path).expect("the file is there");
}

#[test]
fn filtered_html_becomes_text() {
    for (html, text) in [
        ("<p>One</p><p>two &amp; <b>three</b></p>", "One\ntwo & three"),
        ("a<br>b<br/>c<BR />d", "a\nb\nc\nd"),
        ("&lt;b&gt; &#33;&#x21; &nbsp;&unknown; &", "<b> !! &unknown; &"),
        (" a \n b </li>\n\n</ul></div></p> c", "a b\n\nc"),
        ("1 < 2", "1 < 2"),
    ] {
        assert_eq!(plain_text(html), text);
    }
}
