package org.gatepost.device;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON: objects are maps in their order, arrays lists, whole numbers {@code Long}. */
final class Json {
  private static final int DEPTH_MAX = 64;
  private final String text;
  private int at;
  private int depth;

  private Json(String text) {
    this.text = text;
  }

  /** Reads one value. Refuses what is no JSON by {@code IllegalArgumentException}. */
  static Object read(String text) {
    Json reader = new Json(text);
    Object value = reader.value();
    if (reader.next() != 0) throw reader.malformed();
    return value;
  }

  /** Returns the object that the text is; null: it is none. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> objectIn(Object text) {
    try {
      Object value = text instanceof String ? read((String) text) : text;
      return value instanceof Map ? (Map<String, Object>) value : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
  }

  private IllegalArgumentException malformed() {
    return new IllegalArgumentException("no JSON at character " + at);
  }

  /** Passes white space; returns the character that comes, 0 at the end. */
  private char next() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    return at < text.length() ? text.charAt(at) : 0;
  }

  private boolean takes(char wanted) {
    boolean isIt = next() == wanted;
    if (isIt) at++;
    return isIt;
  }

  private void expect(char wanted) {
    if (!takes(wanted)) throw malformed();
  }

  private Object value() {
    char first = next();
    if (first == '"') return string();
    if (first == '{' || first == '[') {
      if (++depth > DEPTH_MAX) throw malformed();
      Object nested = first == '{' ? object() : array();
      depth--;
      return nested;
    }
    int from = at;
    while (at < text.length() && isOfWord(text.charAt(at))) at++;
    String word = text.substring(from, at);
    if (word.equals("null")) return null;
    if (word.equals("true") || word.equals("false")) return word.equals("true");
    if (!word.matches("-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) throw malformed();
    try {
      return Long.valueOf(word);
    } catch (NumberFormatException e) {
      return Double.valueOf(word);
    }
  }

  private static boolean isOfWord(char one) {
    return Character.isLetterOrDigit(one) || "+-.".indexOf(one) >= 0;
  }

  private Map<String, Object> object() {
    Map<String, Object> all = new LinkedHashMap<>();
    expect('{');
    if (takes('}')) return all;
    do {
      next();
      String name = string();
      expect(':');
      all.put(name, value());
    } while (takes(','));
    expect('}');
    return all;
  }

  private List<Object> array() {
    List<Object> all = new ArrayList<>();
    expect('[');
    if (takes(']')) return all;
    do all.add(value());
    while (takes(','));
    expect(']');
    return all;
  }

  private String string() {
    StringBuilder out = new StringBuilder();
    expect('"');
    try {
      for (char one; (one = text.charAt(at++)) != '"'; ) out.append(one == '\\' ? escaped() : one);
    } catch (IndexOutOfBoundsException e) {
      throw malformed();
    }
    return out.toString();
  }

  private char escaped() {
    char one = text.charAt(at++);
    if (one == 'u') {
      at += 4;
      return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }
    int which = "\"\\/bfnrt".indexOf(one);
    if (which < 0) throw malformed();
    return "\"\\/\b\f\n\r\t".charAt(which);
  }

  private static void write(Object value, StringBuilder out) {
    if (value instanceof Map) {
      char before = '{';
      for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
        out.append(before);
        write(String.valueOf(entry.getKey()), out);
        write(entry.getValue(), out.append(':'));
        before = ',';
      }
      out.append(before == '{' ? "{}" : "}");
    } else if (value instanceof Iterable) {
      char before = '[';
      for (Object one : (Iterable<?>) value) {
        write(one, out.append(before));
        before = ',';
      }
      out.append(before == '[' ? "[]" : "]");
    } else if (value instanceof CharSequence) {
      out.append('"');
      for (int n = 0; n < ((CharSequence) value).length(); n++) {
        char one = ((CharSequence) value).charAt(n);
        if (one < ' ') out.append(String.format("\\u%04x", (int) one));
        else out.append(one == '"' || one == '\\' ? "\\" : "").append(one);
      }
      out.append('"');
    } else {
      out.append(value);
    }
  }
}
