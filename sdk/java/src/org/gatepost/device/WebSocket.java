package org.gatepost.device;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/** The client's side of RFC 6455 on a wire, for texts. */
final class WebSocket {
  /** A handshake that was answered by something else. */
  static final class Refused extends IOException {
    private static final long serialVersionUID = 1;
    final String status;

    Refused(String status) {
      super("status " + status);
      this.status = status;
    }

    Fault fault() {
      return "404".equals(status) ? Fault.WRONG_PATH : null;
    }
  }

  private static final int CONTINUATION = 0;
  private static final int TEXT = 1;
  private static final int CLOSE = 8;
  private static final int PING = 9;
  private static final int PONG = 10;
  private static final int CONTROL_BYTES_MAX = 125;
  private static final int MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
  private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

  private final SecureRandom random = new SecureRandom();
  private final Wire wire;
  /** The code of the server's close; 1006: there was none. */
  int code = 1006;

  String reason = "";

  /** Shakes hands on a connected wire. Returns the headers of the answer; fails if it refuses. */
  static Map<String, String> shakeHands(
      Wire wire, String path, String token, Map<String, String> more) throws IOException {
    byte[] drawn = new byte[16];
    new SecureRandom().nextBytes(drawn);
    String key = Base64.getEncoder().encodeToString(drawn);
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Connection", "Upgrade");
    headers.put("Upgrade", "websocket");
    headers.put("Sec-WebSocket-Version", "13");
    headers.put("Sec-WebSocket-Key", key);
    headers.put("Authorization", "Bearer " + token);
    headers.putAll(more);
    wire.request("GET", path, headers, "");
    Map<String, String> answer = wire.head();
    if (!"101".equals(answer.get(""))) throw new Refused(answer.get(""));
    if (!acceptOf(key).equals(answer.get("sec-websocket-accept"))) {
      throw new IOException("no WebSocket");
    }
    return answer;
  }

  private static String acceptOf(String key) throws IOException {
    try {
      byte[] text = (key + GUID).getBytes(StandardCharsets.US_ASCII);
      return Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-1").digest(text));
    } catch (GeneralSecurityException e) {
      throw new IOException(e);
    }
  }

  WebSocket(Wire wire) {
    this.wire = wire;
  }

  /** Waits for a text, and answers pings meanwhile; null: the server closed the stream. */
  String read() throws IOException {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    boolean isPart = false;
    while (true) {
      int first = wire.readByte();
      int kind = first & 0x0f;
      // Bits that no extension gave a meaning; and a ping or close in parts.
      boolean isOdd = (first & 0x70) != 0 || (kind >= CLOSE && first < 0x80);
      if (isOdd) throw new IOException("odd frame");
      int most = kind >= CLOSE ? CONTROL_BYTES_MAX : MESSAGE_BYTES_MAX - message.size();
      byte[] payload = wire.readBytes(lengthOf(wire.readByte()), most);
      if (kind == PING) write(PONG, payload);
      else if (kind == CLOSE) {
        close(payload);
        return null;
      } else if (kind != PONG) {
        if (kind != (isPart ? CONTINUATION : TEXT)) throw new IOException("odd frame");
        message.write(payload);
        isPart = (first & 0x80) == 0;
        if (!isPart) return new String(message.toByteArray(), StandardCharsets.UTF_8);
      }
    }
  }

  private long lengthOf(int second) throws IOException {
    int bytes = second == 126 ? 2 : second == 127 ? 8 : 0;
    // A server may not mask.
    if (second > 127) throw new IOException("odd frame");
    if (bytes == 0) return second;
    long length = 0;
    for (int n = 0; n < bytes; n++) length = length << 8 | wire.readByte();
    return length;
  }

  private void close(byte[] payload) throws IOException {
    if (payload.length >= 2) {
      code = (payload[0] & 0xff) << 8 | payload[1] & 0xff;
      reason = new String(payload, 2, payload.length - 2, StandardCharsets.UTF_8);
    }
    write(CLOSE, payload);
  }

  void send(String text) throws IOException {
    write(TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes one frame, masked as RFC 6455 wants it. */
  private void write(int kind, byte[] payload) throws IOException {
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.write(0x80 | kind);
    int length = payload.length;
    if (length < 126) {
      frame.write(0x80 | length);
    } else {
      frame.write(0x80 | (length < 0x10000 ? 126 : 127));
      int bits = length < 0x10000 ? 16 : 64;
      for (int n = bits - 8; n >= 0; n -= 8) frame.write((int) ((long) length >> n));
    }
    byte[] mask = new byte[4];
    random.nextBytes(mask);
    frame.write(mask);
    for (int n = 0; n < length; n++) frame.write(payload[n] ^ mask[n & 3]);
    wire.write(frame.toByteArray());
  }
}
