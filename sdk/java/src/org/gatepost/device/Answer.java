package org.gatepost.device;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** An answer of the server, to a call or on the stream. */
final class Answer {
  private static final String TOKEN_ERROR = "Device token error";

  /** Why nothing came that can be relied on; null: all of this did. */
  final Fault fault;

  final boolean isOk;
  final String msg;
  /** The token of a registration; null: none. */
  final String token;
  /** The messages of an inbox; null: it is not about messages. */
  final List<Map<String, Object>> data;
  /** The places that ended, by this answer. */
  final List<Report> ended = new ArrayList<>();

  private final Map<String, Object> fields;

  Answer(Fault fault) {
    this.fault = fault;
    isOk = false;
    msg = "";
    token = null;
    data = null;
    fields = Collections.emptyMap();
  }

  private Answer(Map<String, Object> fields) {
    this.fields = fields;
    fault = null;
    isOk = fields.get("rc").equals(1L);
    msg = (String) fields.get("msg");
    Object given = fields.get("device_token");
    token = given instanceof String ? (String) given : null;
    Object messages = fields.get("data");
    data = messages instanceof List ? new ArrayList<>() : null;
    for (Map<String, Object> one : objectsIn("data")) if (Message.idIn(one) > 0) data.add(one);
    for (Map<String, Object> one : objectsIn("ended")) {
      ended.add(new Report(State.ENDED, Report.SLOT_ENDED, one));
    }
  }

  private List<Map<String, Object>> objectsIn(String name) {
    List<Map<String, Object>> all = new ArrayList<>();
    Object list = fields.get(name);
    if (!(list instanceof List)) return all;
    for (Object one : (List<?>) list) {
      Map<String, Object> object = Json.objectIn(one);
      if (object != null) all.add(object);
    }
    return all;
  }

  /** The token that was shown is refused. */
  boolean refusesToken() {
    return !isOk && msg.equals(TOKEN_ERROR);
  }

  /** Returns why the device is refused. */
  Report refusal() {
    boolean isEnd = refusesToken() && fields.get("reason") != null;
    return new Report(State.REFUSED, isEnd ? Report.SLOT_ENDED : msg, fields);
  }

  /** Returns the answer that a text is; null: none, as half a text or the page of a proxy. */
  static Answer in(String text) {
    Map<String, Object> fields = Json.objectIn(text);
    boolean isWhole =
        fields != null && fields.get("rc") instanceof Long && fields.get("msg") instanceof String;
    return isWhole ? new Answer(fields) : null;
  }
}
