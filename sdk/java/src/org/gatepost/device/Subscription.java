package org.gatepost.device;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A server of devices that is found by a subscription: its fetch asks, and the answer names it. */
public final class Subscription {
  private static final String SERVER = "x-device-server";
  /** A path on the same host, which no reader takes for another one. */
  private static final String PATH = "(?:/(?!\\.+(?:/|$))[A-Za-z0-9._~-]+)+";

  private Subscription() {}

  /** Draws a HWID for an app that has none, to be kept: random, it names nothing of the phone. */
  public static String newHwid() {
    return Memory.drawHwid();
  }

  /**
   * Returns the headers of a subscription's fetch: {@code x-hwid} and its kin, and the question for
   * a server of devices. {@code fields}: those of a registration, such as {@code os}.
   */
  public static Map<String, String> headers(String hwid, Map<String, ?> fields) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("x-hwid", hwid);
    headers.put("x-device-protocol", "1");
    String[] names = {"x-device-os", "x-ver-os", "x-device-model", "x-app-version"};
    String[] from = {"os", "os_version", "device_name", "app_version"};
    for (int n = 0; n < names.length; n++) {
      // Nothing in a value ends its line.
      String value = Message.textIn(fields, from[n]).replaceAll("\\p{Cc}", " ");
      if (!value.isEmpty()) headers.put(names[n], value);
    }
    return headers;
  }

  /**
   * Returns options of a device by the address that answered and the headers of the answer, a value
   * each or a list of them; null: that server takes no devices. The app makes the device when its
   * user wants messages: nothing is sent before. The HWID must be that of the fetch.
   */
  public static Options server(String address, Map<String, ?> headers) {
    String path = null;
    for (Map.Entry<String, ?> one : headers.entrySet()) {
      if (SERVER.equalsIgnoreCase(one.getKey())) path = textOf(one.getValue());
    }
    if (path == null || path.length() > 127 || !path.matches(PATH)) return null;
    URI from;
    try {
      from = URI.create(address);
    } catch (IllegalArgumentException e) {
      return null;
    }
    if (from.getHost() == null || from.getRawUserInfo() != null) return null;
    if (!Line.hasScheme(address)) return null;
    String own = from.getRawPath().isEmpty() ? "/" : from.getRawPath();
    if (from.getRawQuery() != null) own += "?" + from.getRawQuery();
    return new Options(from.getScheme() + "://" + from.getRawAuthority())
        .base(path)
        .register("subscription_url", own);
  }

  private static String textOf(Object value) {
    boolean isList = value instanceof List && !((List<?>) value).isEmpty();
    Object first = isList ? ((List<?>) value).get(0) : value;
    return first instanceof String ? ((String) first).trim() : null;
  }
}
