package org.gatepost.device;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A message of the provider, with its texts in the language of the device. */
public final class Message {
  public static final int NOTIFICATION = 10;
  public static final int COMMAND = 20;
  private static final List<String> ACTIONS =
      Arrays.asList("import-data", "update-subscription", "set-settings", "sub-change");

  /** The same in every copy, and what is acknowledged. */
  public final long id;
  /** {@link #NOTIFICATION} or {@link #COMMAND}. */
  public final long type;
  /** {@code yyyy-MM-dd HH:mm:ss}, as the server writes times; "": it says none. */
  public final String createdAt;
  public final String expiresAt;
  public final Map<String, Object> payload;
  /** Of a command: {@code update-subscription} and others; "": a notification. */
  public final String action;
  /** Plain text, as all of these "": it has none. */
  public final String title;
  /** HTML that the server filtered. */
  public final String html;
  /** The same as plain text, with line ends. */
  public final String plain;
  /** The address to open on a tap. */
  public final String link;
  /**
   * The state that knows this message. An app that writes it to its store in the transaction of its
   * own effect returns {@link Outcome#KEPT}: the message is then handled exactly once, else at
   * least once.
   */
  public final String state;

  Message(Map<String, Object> fields, String locale, String state) {
    id = idIn(fields);
    type = numberIn(fields, "notification_type");
    createdAt = textIn(fields, "created_at");
    expiresAt = textIn(fields, "expires_at");
    Map<String, Object> sent = Json.objectIn(fields.get("payload"));
    payload = sent == null ? Collections.<String, Object>emptyMap() : sent;
    action = textIn(payload, "action_type");
    Map<String, Object> own = textsFor(Json.objectIn(payload.get("locales")), locale);
    title = eitherOf(textIn(own, "title"), textIn(payload, "title"));
    html = eitherOf(textIn(own, "body"), textIn(payload, "body"));
    plain = Plain.textOf(html);
    link = eitherOf(textIn(own, "link-for-open"), textIn(payload, "link_for_open"));
    this.state = state;
  }

  /** Returns the id of a message or push; 0: it has none. */
  static long idIn(Map<String, ?> fields) {
    Object id = fields.get("id");
    if (id instanceof Number) return ((Number) id).longValue();
    boolean isText = id instanceof String && ((String) id).matches("[0-9]{1,15}");
    return isText ? Long.parseLong((String) id) : 0;
  }

  /** It is larger than the device takes with others, and is fetched alone. */
  static boolean isStub(Map<String, ?> fields) {
    return fields.get("stub") == Boolean.TRUE;
  }

  static long numberIn(Map<String, ?> fields, String name) {
    Object value = fields.get(name);
    return value instanceof Number ? ((Number) value).longValue() : 0;
  }

  static String textIn(Map<String, ?> fields, String name) {
    Object value = fields.get(name);
    return value instanceof String ? (String) value : "";
  }

  /** Returns why the message cannot be handled; null: it can. */
  String whyUnknown() {
    if (type == NOTIFICATION) return null;
    if (type != COMMAND) return "unknown notification_type " + type;
    return ACTIONS.contains(action) ? null : "unknown action_type " + action;
  }

  private static String eitherOf(String own, String general) {
    return own.isEmpty() ? general : own;
  }

  /** Finds the texts of a locale, else of its language in general, else of that language at all. */
  private static Map<String, Object> textsFor(Map<String, Object> locales, String locale) {
    String wanted = tidyTag(locale);
    Map<String, Object> found = null;
    int best = 0;
    if (locales != null) {
      for (Map.Entry<String, Object> one : locales.entrySet()) {
        int fit = fitOf(tidyTag(one.getKey()), wanted);
        if (fit <= best) continue;
        best = fit;
        found = Json.objectIn(one.getValue());
      }
    }
    return found == null ? Collections.<String, Object>emptyMap() : found;
  }

  private static int fitOf(String tag, String wanted) {
    if (tag.equals(wanted)) return 3;
    String language = wanted.split("-", 2)[0];
    if (tag.equals(language)) return 2;
    return tag.split("-", 2)[0].equals(language) ? 1 : 0;
  }

  /** {@code CN} is how providers write Chinese. */
  private static String tidyTag(String tag) {
    String tidy = tag.trim().toLowerCase(Locale.ROOT).replace('_', '-');
    return tidy.equals("cn") ? "zh-cn" : tidy;
  }
}
