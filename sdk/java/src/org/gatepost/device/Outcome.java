package org.gatepost.device;

/** How a message is acknowledged. */
public enum Outcome {
  RECEIVED,
  OPENED,
  EXECUTED,
  FAILED,
  /**
   * The app wrote {@link Message#state} to its store in the transaction of its own effect, so that
   * the message is handled exactly once.
   */
  KEPT
}
