package org.gatepost.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An answer of the server, to a call or on the stream. */
final class Answer {
  final boolean isOk;
  final String msg;
  /** The token of a registration; null: none. */
  final String token;
  /** The messages of an inbox; null: it is not about messages. */
  final List<Map<String, Object>> data;

  private Answer(Map<String, Object> fields) {
    isOk = fields.get("rc").equals(1L);
    msg = (String) fields.get("msg");
    Object given = fields.get("device_token");
    token = given instanceof String ? (String) given : null;
    Object messages = fields.get("data");
    data = messages instanceof List ? new ArrayList<>() : null;
    if (data == null) return;
    for (Object one : (List<?>) messages) {
      Map<String, Object> message = Json.objectIn(one);
      if (message != null && Message.idIn(message) > 0) data.add(message);
    }
  }

  /** Returns the answer that a text is; null: none, as half a text or the page of a proxy. */
  static Answer in(String text) {
    Map<String, Object> fields = Json.objectIn(text);
    boolean isWhole =
        fields != null && fields.get("rc") instanceof Long && fields.get("msg") instanceof String;
    return isWhole ? new Answer(fields) : null;
  }
}
