package org.gatepost.device;

import java.util.Map;

/** How it stands with a device, and why. */
public final class Report {
  static final String SLOT_ENDED = "a slot of this device ended";

  public final State state;
  /**
   * Why, in one word: of the server, such as {@code slot_freed} or {@code link_limit_reached}; or
   * of the connection, {@code refused_port}, {@code tls}, {@code not_json}, {@code wrong_path},
   * {@code timeout}, {@code name} or {@code no_answer}. "": no word.
   */
  public final String reason;
  /** Why, in English; "": there is nothing to say. */
  public final String detail;
  /** The text of the server for the user, in the language of the device; "": none. */
  public final String text;
  /** How many devices the link takes; 0: it was not told. */
  public final long limit;
  /** Where the user frees a slot; "": nowhere. */
  public final String freeUrl;

  Report(State state, String reason, String detail) {
    this.state = state;
    this.reason = reason;
    this.detail = detail;
    text = freeUrl = "";
    limit = 0;
  }

  /** Reads what an answer says of the reason. */
  Report(State state, String detail, Map<String, ?> said) {
    this.state = state;
    this.detail = detail;
    reason = Message.textIn(said, "reason");
    text = Message.textIn(said, "text");
    limit = Message.numberIn(said, "limit");
    freeUrl = Message.textIn(said, "free_url");
  }

  @Override
  public String toString() {
    String why = detail.isEmpty() ? "" : ": " + detail;
    return state + why + (reason.isEmpty() ? "" : ", " + reason);
  }
}
