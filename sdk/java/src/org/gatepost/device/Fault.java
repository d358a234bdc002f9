package org.gatepost.device;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Locale;
import javax.net.ssl.SSLException;

/** Why no answer came that can be relied on: a word, and a sentence about an address. */
enum Fault {
  REFUSED_PORT(" refused the connection: nothing listens there"),
  TLS(" does not speak TLS, or its certificate is not trusted"),
  NAME(": this host was not found"),
  TIMEOUT(" did not answer in time"),
  NOT_JSON(" answered a page, not an answer of Gatepost"),
  WRONG_PATH(" has no devices at this path (404)"),
  NO_ANSWER(" gave no answer");

  private final String sentence;

  Fault(String sentence) {
    this.sentence = sentence;
  }

  Report about(String address) {
    return new Report(State.CLOSED, name().toLowerCase(Locale.ROOT), address + sentence);
  }

  /** An attempt may still reach the server, late. */
  boolean isOpen() {
    return this == TIMEOUT || this == NO_ANSWER;
  }

  static Fault of(Exception thrown) {
    if (thrown instanceof UnknownHostException) return NAME;
    if (thrown instanceof SSLException) return TLS;
    if (thrown instanceof SocketTimeoutException) return TIMEOUT;
    boolean isRefused = String.valueOf(thrown.getMessage()).contains("refused");
    return thrown instanceof ConnectException && isRefused ? REFUSED_PORT : NO_ANSWER;
  }

  /** Why an answer of HTTP is none of Gatepost. */
  static Fault in(String status, String body) {
    if ("404".equals(status)) return WRONG_PATH;
    String text = body.trim();
    return text.isEmpty() || text.startsWith("{") ? NO_ANSWER : NOT_JSON;
  }

  /** Why a connection ended before the answer to its handshake; null: there was an answer. */
  static Fault ofHandshake(IOException thrown) {
    return thrown instanceof WebSocket.Refused ? ((WebSocket.Refused) thrown).fault() : of(thrown);
  }
}
