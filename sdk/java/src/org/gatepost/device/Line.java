package org.gatepost.device;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;

/** The calls of a device over HTTP, and its stream. Nothing here knows what a message means. */
final class Line {
  private static final int BODY_BYTES_MAX = 16 * 1024 * 1024;
  /** The wait of a poll, s, unless the server names another, and the longest. */
  private static final int POLL_SECONDS = 60;
  private static final int POLL_SECONDS_MAX = 240;
  /** The pings that a server may promise, s. */
  private static final int PING_MIN = 15;
  private static final int PING_MAX = 600;
  private static final int REQUEST_MS = 30_000;
  private static final int STEADY_MS = 10_000;

  /** The events of a stream, on the thread that holds it. */
  interface Events {
    void opened();

    void messages(Answer answer);

    /** The server refused the token, and closes the stream. */
    void refused(Answer answer);

    /** The server kept acknowledgements, or will never keep them. */
    void answered(List<Ack> acks);
  }

  /** How a stream ended. */
  static final class Closed {
    int code = 1006;
    String reason = "";
    boolean wasOpen;
    /** Why the handshake had no answer; null: it had one. */
    Fault fault;
    /** It lasted so long that the pauses are reset. */
    boolean wasSteady;
  }

  private static final class Sent {
    List<Ack> acks;
    ScheduledFuture<?> timer;
  }

  /** How long the next poll may wait, s. */
  volatile int pollSeconds = POLL_SECONDS;

  private final Options options;
  private final URI address;
  private final Steps timers;
  private final Set<Wire> wires = Collections.newSetFromMap(new ConcurrentHashMap<>());
  private final Deque<Sent> unanswered = new ArrayDeque<>();
  private WebSocket socket;
  private Wire streamWire;
  private volatile boolean isStopped;

  Line(Options options, Steps timers) {
    this.options = options;
    this.timers = timers;
    address = addressIn(options.url);
  }

  static boolean hasScheme(String url) {
    return url.matches("(?i)https?://.*");
  }

  private static URI addressIn(String url) {
    String begins = url + " is no address: it begins with https:// or http://, and a host follows";
    if (!hasScheme(url)) throw new IllegalArgumentException(begins);
    URI address = URI.create(url);
    if (address.getHost() == null) throw new IllegalArgumentException(begins);
    return address;
  }

  /** The address of the calls, for a person. */
  String shown() {
    return options.url.replaceAll("/+$", "") + options.base;
  }

  int ms(double unpaced) {
    return (int) Math.max(1, unpaced * options.pace);
  }

  /** Ends all that is under way, and all that comes, at once. */
  void stop() {
    isStopped = true;
    for (Wire wire : wires) wire.close();
  }

  /** Makes a wire that {@link #stop} reaches. */
  private Wire begin() {
    Wire wire = new Wire(options, address);
    wires.add(wire);
    if (isStopped) wire.close();
    return wire;
  }

  private void end(Wire wire) {
    wire.close();
    wires.remove(wire);
  }

  /** The headers of all that is asked. */
  private Map<String, String> commonHeaders() {
    Map<String, String> headers = new LinkedHashMap<>();
    String locale = options.locale.replace('_', '-');
    if (locale.matches("[A-Za-z0-9-]{1,35}")) headers.put("Accept-Language", locale);
    if (options.frameMax > 0) headers.put("X-Frame-Max", "" + options.frameMax);
    return headers;
  }

  /** Asks the server. A body makes it a POST. */
  Answer ask(String path, String token, Object body, int extraSeconds) {
    Answer answer = answerTo(path, token, body, extraSeconds);
    boolean isPlain = answer.fault == null && answer.msg.equals("Ok");
    options.say(path + (isPlain ? "" : " " + (answer.fault == null ? answer.msg : answer.fault)));
    return answer;
  }

  private Answer answerTo(String path, String token, Object body, int extraSeconds) {
    Map<String, String> headers = commonHeaders();
    headers.put("Connection", "close");
    if (token != null) headers.put("Authorization", "Bearer " + token);
    String text = body == null ? "" : Json.write(body);
    if (body != null) {
      headers.put("Content-Type", "application/json");
      headers.put("Content-Length", "" + text.getBytes(StandardCharsets.UTF_8).length);
    }
    Wire wire = begin();
    try {
      wire.connect(ms(REQUEST_MS) + extraSeconds * 1_000);
      wire.request(body == null ? "GET" : "POST", options.base + path, headers, text);
      Map<String, String> head = wire.head();
      String said = bodyOf(wire, head);
      if (!path.equals("/ack")) pollSeconds = pollSecondsIn(head.get("x-wait-max"));
      Answer answer = Answer.in(said);
      return answer == null ? new Answer(Fault.in(head.get(""), said)) : answer;
    } catch (IOException | NumberFormatException e) {
      return new Answer(Fault.of(e));
    } finally {
      end(wire);
    }
  }

  private static String bodyOf(Wire wire, Map<String, String> head) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    String length = head.get("content-length");
    if ("chunked".equalsIgnoreCase(head.get("transfer-encoding"))) {
      for (int size; (size = Integer.parseInt(wire.line(64).split(";")[0].trim(), 16)) != 0; ) {
        all.write(wire.readBytes(size, BODY_BYTES_MAX - all.size()));
        wire.line(2);
      }
    } else if (length != null) {
      all.write(wire.readBytes(Long.parseLong(length), BODY_BYTES_MAX));
    } else {
      for (int one; (one = wire.read()) >= 0 && all.size() < BODY_BYTES_MAX; ) all.write(one);
    }
    return new String(all.toByteArray(), StandardCharsets.UTF_8);
  }

  /** An older server names no wait, and refuses a longer one. */
  private static int pollSecondsIn(String named) {
    boolean isOne = named != null && named.matches("0*[1-9][0-9]{0,5}");
    return isOne ? Math.min(Integer.parseInt(named), POLL_SECONDS_MAX) : POLL_SECONDS;
  }

  synchronized boolean isOpen() {
    return socket != null;
  }

  /** Ends the stream at once, without a word. */
  synchronized void cut() {
    if (streamWire != null) streamWire.close();
  }

  /** Tells whether the answer to an acknowledgement is still to come. */
  synchronized boolean isUnderWay(Ack ack) {
    return unanswered.stream().anyMatch(sent -> sent.acks.stream().anyMatch(ack::says));
  }

  /** Sends acknowledgements on the stream. One without an answer ends it: they are sent again. */
  void acknowledge(List<Ack> acks) throws IOException {
    WebSocket open;
    synchronized (this) {
      if (socket == null) return;
      open = socket;
      Sent sent = new Sent();
      sent.acks = acks;
      sent.timer = timers.after(ms(REQUEST_MS), this::cut);
      unanswered.add(sent);
    }
    open.send(Json.write(Collections.singletonMap("items", Memory.mapsOf(acks))));
  }

  /** Holds a stream until it ends. */
  Closed hold(String token, Events on) {
    Closed closed = new Closed();
    long openedNs = 0;
    Wire wire = begin();
    try {
      wire.connect(ms(REQUEST_MS));
      String path = options.base + "/stream" + (options.ping == 0 ? "" : "?ping=" + options.ping);
      Map<String, String> head = WebSocket.shakeHands(wire, path, token, commonHeaders());
      wire.waitFor(ms(silenceSeconds(head.get("x-ping-interval")) * 1_000));
      WebSocket opened = new WebSocket(wire);
      open(wire, opened);
      closed.wasOpen = true;
      openedNs = System.nanoTime();
      on.opened();
      for (String text; (text = opened.read()) != null; ) take(text, on);
      closed.code = opened.code;
      closed.reason = opened.reason;
    } catch (SocketTimeoutException e) {
      closed.reason = "silence";
      closed.fault = Fault.TIMEOUT;
    } catch (IOException e) {
      closed.reason = String.valueOf(e.getMessage());
      closed.fault = Fault.ofHandshake(e);
    } finally {
      end(wire);
      open(null, null);
    }
    long lastedMs = (System.nanoTime() - openedNs) / 1_000_000L;
    closed.wasSteady = closed.wasOpen && lastedMs >= ms(STEADY_MS);
    return closed;
  }

  private synchronized void open(Wire wire, WebSocket opened) {
    streamWire = wire;
    socket = opened;
    for (Sent sent : unanswered) sent.timer.cancel(false);
    unanswered.clear();
  }

  /** The usual ping comes every 9 s; of one that was asked for the server says how often. */
  private static int silenceSeconds(String interval) {
    boolean isOne = interval != null && interval.matches("[0-9]{1,4}");
    int seconds = isOne ? Integer.parseInt(interval) : 0;
    return seconds >= PING_MIN && seconds <= PING_MAX ? 2 * seconds + 10 : 30;
  }

  private void take(String text, Events on) throws IOException {
    Answer answer = Answer.in(text);
    if (answer == null) throw new IOException("no answer");
    if (answer.data != null) {
      on.messages(answer);
      return;
    }
    if (answer.refusesToken()) {
      on.refused(answer);
      return;
    }
    Sent sent;
    synchronized (this) {
      sent = unanswered.poll();
    }
    if (sent == null) return;
    sent.timer.cancel(false);
    on.answered(sent.acks);
  }
}
