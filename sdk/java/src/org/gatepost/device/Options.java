package org.gatepost.device;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import javax.net.SocketFactory;
import javax.net.ssl.SSLSocketFactory;

/** The parts and settings of a device. */
public final class Options {
  final String url;
  final Map<String, Object> registration = new LinkedHashMap<>();
  String hwid;
  String locale = "";
  Map<String, Object> push;
  String base = "/device";
  /** An unknown token has no answer there that says so: each start registers. */
  boolean isDiscovered;
  boolean polls = true;
  int asleep;
  int ping;
  int frameMax;
  BooleanSupplier isAllowed = () -> true;
  private Consumer<String> log = line -> {};
  double pace = 1;
  SocketFactory sockets = SocketFactory.getDefault();
  SSLSocketFactory tls = (SSLSocketFactory) SSLSocketFactory.getDefault();

  /** {@code url}: {@code https://HOST} of the appliance. */
  public Options(String url) {
    this.url = url;
  }

  /** The path of the calls on that host; else {@code /device}. */
  Options base(String path) {
    base = path;
    isDiscovered = true;
    return this;
  }

  /** A field of {@code POST /device/register} but {@code hwid} and {@code push}. */
  public Options register(String field, Object value) {
    registration.put(field, value);
    return this;
  }

  /** The HWID that the app has already; else one is drawn and kept. */
  public Options hwid(String given) {
    hwid = given;
    return this;
  }

  /** The language of texts, {@code pt-BR}. */
  public Options locale(String tag) {
    locale = tag;
    return this;
  }

  /** Where pushes go; {@code token}: a text, or the map that is the subscription of Web Push. */
  public Options push(String gateway, Object token) {
    push = address(gateway, token);
    return this;
  }

  /** Polls, as is usual: no socket stays open but that of a poll that waits. */
  public Options polls() {
    polls = true;
    return this;
  }

  /** Holds a stream in place of polls: messages come within a second. */
  public Options streams() {
    polls = false;
    return this;
  }

  /** Seconds between two polls, which then do not wait, so that a phone sleeps: 15 to 86,400. */
  public Options asleep(int seconds) {
    if (seconds < 15 || seconds > 86_400) {
      throw new IllegalArgumentException("asleep: not 15 to 86,400 seconds");
    }
    asleep = seconds;
    return this;
  }

  /** Seconds between two pings of a stream, 15 to 600, so that a phone sleeps longer. */
  public Options ping(int seconds) {
    ping = seconds;
    return this;
  }

  /** The largest frame or answer with several messages, 1,024 to 65,536 bytes; else any. */
  public Options frameMax(int bytes) {
    if (bytes < 1_024 || bytes > 65_536) {
      throw new IllegalArgumentException("frameMax: not 1,024 to 65,536 bytes");
    }
    frameMax = bytes;
    return this;
  }

  /**
   * Connects only while this says so, and cuts a stream within ten seconds: such as while the
   * tunnel is up. It is called on the kit's threads.
   */
  public Options onlyWhile(BooleanSupplier allowed) {
    isAllowed = allowed;
    return this;
  }

  /** Takes lines about what the device does, without secrets and texts of messages. */
  public Options log(Consumer<String> lines) {
    log = lines;
    return this;
  }

  void say(String line) {
    try {
      log.accept(line);
    } catch (RuntimeException | AssertionError | LinkageError e) {
      // A log that fails ends nothing.
    }
  }

  /** Makes the sockets: a VPN app protects its own there. They must come unconnected. */
  public Options sockets(SocketFactory factory) {
    sockets = factory;
    return this;
  }

  /** Puts TLS onto the sockets; for certificates of one's own. */
  public Options tls(SSLSocketFactory factory) {
    tls = factory;
    return this;
  }

  /** Multiplies all pauses and limits of time: for tests. */
  public Options pace(double factor) {
    pace = factor;
    return this;
  }

  static Map<String, Object> address(String gateway, Object token) {
    if (gateway == null) return null;
    Map<String, Object> push = new LinkedHashMap<>();
    push.put("gateway", gateway);
    push.put("token", token);
    return push;
  }
}
