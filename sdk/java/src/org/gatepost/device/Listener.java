package org.gatepost.device;

/** The handlers of an app. They are called on the kit's threads, never on the app's main thread. */
public interface Listener {
  /**
   * Handles a new message, one after the other. What it throws is acknowledged as {@code failed}.
   * It must not wait for a method of the device, which waits for it.
   *
   * @return how to acknowledge; null: as is usual, {@code received}, a command {@code executed}
   */
  Outcome onMessage(Message message) throws Exception;

  /**
   * Tells that the device is open, closed for a while, or ended; with a reason, or "". It may be
   * called while a message is handled.
   */
  default void onState(State state, String detail) {}
}
