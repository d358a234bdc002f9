package org.gatepost.device;

import java.util.LinkedHashMap;
import java.util.Map;

/** An acknowledgement that the server has not confirmed. */
final class Ack {
  private static final int DETAIL_LENGTH_MAX = 255;
  final long id;
  final String state;
  /** Why the message could not be handled; null: it could. */
  final String detail;

  Ack(long id, String state, String detail) {
    this.id = id;
    this.state = state;
    String line = detail == null ? "" : detail.replaceAll("\\p{Cc}+", " ");
    this.detail = line.isEmpty() ? null : line.substring(0, lengthOf(line));
  }

  private static int lengthOf(String line) {
    int length = Math.min(line.length(), DETAIL_LENGTH_MAX);
    // Half of a surrogate pair is no character.
    return Character.isHighSurrogate(line.charAt(length - 1)) ? length - 1 : length;
  }

  boolean says(Ack other) {
    return id == other.id && state.equals(other.state);
  }

  Map<String, Object> toMap() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", id);
    fields.put("state", state);
    if (detail != null) fields.put("detail", detail);
    return fields;
  }
}
