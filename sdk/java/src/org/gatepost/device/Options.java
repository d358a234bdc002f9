package org.gatepost.device;

import java.util.LinkedHashMap;
import java.util.Map;
import javax.net.SocketFactory;
import javax.net.ssl.SSLSocketFactory;

/** The parts and settings of a device. */
public final class Options {
  final String url;
  final Map<String, Object> registration = new LinkedHashMap<>();
  String hwid;
  String locale = "";
  Map<String, Object> push;
  boolean polls;
  int ping;
  double pace = 1;
  SocketFactory sockets = SocketFactory.getDefault();
  SSLSocketFactory tls = (SSLSocketFactory) SSLSocketFactory.getDefault();

  /** {@code url}: {@code https://HOST} of the appliance. */
  public Options(String url) {
    this.url = url;
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

  /** Polls, where no socket may stay open. */
  public Options polls() {
    polls = true;
    return this;
  }

  /** Seconds between two pings of a stream, 15 to 600, so that a phone sleeps longer. */
  public Options ping(int seconds) {
    ping = seconds;
    return this;
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

  /** The headers of a subscription's fetch. */
  Map<String, String> headers(String hwid) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("x-hwid", hwid);
    String[] names = {"x-device-os", "x-ver-os", "x-device-model", "x-app-version"};
    String[] fields = {"os", "os_version", "device_name", "app_version"};
    for (int n = 0; n < names.length; n++) {
      String value = Message.textIn(registration, fields[n]);
      if (!value.isEmpty()) headers.put(names[n], value);
    }
    return headers;
  }

  static Map<String, Object> address(String gateway, Object token) {
    if (gateway == null) return null;
    Map<String, Object> push = new LinkedHashMap<>();
    push.put("gateway", gateway);
    push.put("token", token);
    return push;
  }
}
