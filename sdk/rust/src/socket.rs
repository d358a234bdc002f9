//! A WebSocket (RFC 6455) of a client over a connection that was upgraded.

use crate::state::random;
use reqwest::Upgraded;
use std::io::Error;
use std::mem::take;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub(crate) const TEXT: u8 = 1;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

/// The most bytes of a message, far above the server's largest.
const BYTES_MAX: usize = 4 << 20;

pub(crate) struct Socket {
    pub stream: Upgraded,
    /// The bytes that came after the last frame.
    pub buffer: Vec<u8>,
    /// The fragments of the next message.
    pub message: Vec<u8>,
}

impl Socket {
    /// Draws the key of a handshake: 16 bytes in base64.
    pub fn key() -> String {
        let digits = format!("{:016x}{:016x}", random(), random());
        format!("{}A==", &digits[..21])
    }

    /// Reads a message or a control frame; none: the connection ended. It may be dropped and called
    /// again.
    pub async fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            while let Some((head, data)) = self.frame() {
                if head & CLOSE > 0 {
                    return Some((head & 0xf, data));
                }
                self.message.extend(data);
                if head & 0x80 > 0 {
                    return Some((TEXT, take(&mut self.message)));
                }
            }
            let is_large = self.buffer.len() + self.message.len() > BYTES_MAX;
            if is_large || self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        }
    }

    /// Takes a whole frame off what was read.
    fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let &[head, size, ref rest @ ..] = self.buffer.as_slice() else { return None };
        let (from, size) = match size & 0x7f {
            126 => (4, u16::from_be_bytes(*rest.first_chunk()?).into()),
            127 => (10, u64::from_be_bytes(*rest.first_chunk()?)),
            size => (2, size.into()),
        };
        let end = usize::try_from(size).ok()?.checked_add(from)?;
        let data = self.buffer.get(from..end)?.to_vec();
        self.buffer.drain(..end);
        Some((head, data))
    }

    pub async fn send(&mut self, opcode: u8, data: &[u8]) -> Result<(), Error> {
        let mut frame = vec![0x80 | opcode];
        match data.len() {
            size @ ..126 => frame.push(0x80 | size as u8),
            size @ ..0x1_0000 => {
                frame.push(0xfe);
                frame.extend((size as u16).to_be_bytes());
            }
            size => {
                frame.push(0xff);
                frame.extend((size as u64).to_be_bytes());
            }
        }
        let mask = (random() as u32).to_be_bytes();
        frame.extend(mask);
        frame.extend(data.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.stream.write_all(&frame).await?;
        self.stream.flush().await
    }
}
