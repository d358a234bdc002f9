package org.gatepost.device;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The state of a device across restarts: one text in the store of the app. Immutable. */
final class Memory {
  private static final int SEEN_MAX = 1_000;
  private static final int ACKS_MAX = 1_000;

  final String hwid;
  /** Null: the device is not registered. */
  final String token;
  /** How the last messages were acknowledged, the oldest first. */
  private final Map<Long, String> seen;
  final List<Ack> acks;

  private Memory(String hwid, String token, Map<Long, String> seen, List<Ack> acks) {
    this.hwid = hwid;
    this.token = token;
    this.seen = seen;
    this.acks = acks;
  }

  /** Reads a state; what is none makes a new device, with the HWID given or one that is drawn. */
  static Memory read(String text, String givenHwid) {
    Map<String, Object> fields = text == null ? null : Json.objectIn(text);
    try {
      if (fields != null && fields.get("version").equals(1L)) {
        Memory kept = readFields(fields);
        // The token is of the HWID that was registered.
        if (givenHwid == null || givenHwid.equals(kept.hwid)) return kept;
      }
    } catch (ClassCastException | NullPointerException | IndexOutOfBoundsException e) {
      // It is no state.
    }
    String hwid = givenHwid == null ? drawHwid() : givenHwid;
    return new Memory(hwid, null, new LinkedHashMap<>(), new ArrayList<>());
  }

  private static Memory readFields(Map<String, Object> fields) {
    Map<Long, String> seen = new LinkedHashMap<>();
    for (Object one : (List<?>) fields.get("seen")) {
      seen.put((Long) ((List<?>) one).get(0), (String) ((List<?>) one).get(1));
    }
    List<Ack> acks = new ArrayList<>();
    for (Object one : (List<?>) fields.get("acks")) {
      Map<?, ?> ack = (Map<?, ?>) one;
      acks.add(
          new Ack((Long) ack.get("id"), (String) ack.get("state"), (String) ack.get("detail")));
    }
    String hwid = (String) fields.get("hwid");
    return new Memory(hwid.toString(), (String) fields.get("token"), seen, acks);
  }

  String write() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("version", 1);
    fields.put("hwid", hwid);
    fields.put("token", token);
    List<Object> pairs = new ArrayList<>();
    for (Map.Entry<Long, String> one : seen.entrySet()) {
      pairs.add(Arrays.<Object>asList(one.getKey(), one.getValue()));
    }
    fields.put("seen", pairs);
    fields.put("acks", mapsOf(acks));
    return Json.write(fields);
  }

  static List<Object> mapsOf(List<Ack> acks) {
    List<Object> maps = new ArrayList<>();
    for (Ack ack : acks) maps.add(ack.toMap());
    return maps;
  }

  Memory withToken(String renewed) {
    return new Memory(hwid, renewed, seen, acks);
  }

  /** Returns how a message was acknowledged; null: it is new. */
  String seen(long id) {
    return seen.get(id);
  }

  /** Returns the state that knows a message, and owes its acknowledgement. */
  Memory knowing(Ack ack) {
    Map<Long, String> known = new LinkedHashMap<>(seen);
    known.remove(ack.id);
    known.put(ack.id, ack.state);
    if (known.size() > SEEN_MAX) known.remove(known.keySet().iterator().next());
    return new Memory(hwid, token, known, acks).owing(ack);
  }

  /** Returns the state that owes an acknowledgement too. */
  Memory owing(Ack ack) {
    List<Ack> owed = without(Arrays.asList(ack)).acks;
    owed.add(ack);
    int from = Math.max(0, owed.size() - ACKS_MAX);
    return new Memory(hwid, token, seen, new ArrayList<>(owed.subList(from, owed.size())));
  }

  /** Returns the state without the acknowledgements that the server confirmed. */
  Memory without(List<Ack> sent) {
    List<Ack> owed = new ArrayList<>(acks);
    owed.removeIf(ack -> sent.stream().anyMatch(ack::says));
    return new Memory(hwid, token, seen, owed);
  }

  /** Returns 32 random hexadecimal digits: nothing that names the phone. */
  static String drawHwid() {
    byte[] bytes = new byte[16];
    new SecureRandom().nextBytes(bytes);
    StringBuilder out = new StringBuilder();
    for (byte one : bytes) out.append(String.format("%02x", one));
    return out.toString();
  }
}
