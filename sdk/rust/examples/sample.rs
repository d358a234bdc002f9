//! A phone in the terminal: cargo run --example sample -- https://HOST LINK DOMAIN_HASH

use gatepost_device::{App, BoxError, Delivery, Device, Done, FileStore, Options, Server, Status};

struct Terminal;

impl App for Terminal {
    async fn on_message(&self, got: Delivery) -> Result<Done, BoxError> {
        match got.message.action() {
            "" => println!("{}\n{}", got.texts.title, got.texts.plain),
            action => println!("{action}: {:?}", got.message.payload),
        }
        Ok(Done::Usual)
    }

    fn on_status(&self, status: Status) {
        match status {
            Status::Open => println!("(open)"),
            Status::Closed(reason) => println!("(closed) {reason}"),
            Status::Ended(reason) => println!("(a place ended) {reason}"),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, link, hash] = words.as_slice() else {
        return Err("give the address of the server, the link and the hash of its domain".into());
    };
    let mut options = Options::default();
    options.facts.insert("os".to_string(), "linux".to_string());
    options.locale = "en".to_string();
    let (server, store) = (Server::of_link(url, link, hash)?, FileStore("device.json".into()));
    let device = Device::new(server, store, Terminal, options)?;
    tokio::select! {
        end = device.run() => println!("ended: {end:?}"),
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(())
}
