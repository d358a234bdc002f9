package org.gatepost.device;

import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;

/** The handlers of an app. They are called on the kit's threads, never on the app's main thread. */
public interface Listener {
  /**
   * Handles a new message, one after the other. What it throws is acknowledged as {@code failed}.
   * It must not wait for a method of the device, which waits for it.
   *
   * @return how to acknowledge; null: as is usual, {@code received}, a command {@code executed}
   */
  Outcome onMessage(Message message) throws Exception;

  /** Tells {@link #onReport} in short. */
  default void onState(State state, String detail) {}

  /**
   * Tells how it stands with the device, with the reason. It may be called while a message is
   * handled. What it throws ends nothing.
   */
  default void onReport(Report report) {
    onState(report.state, report.detail);
  }

  /** Makes a listener of a handler that returns nothing. */
  static Listener of(Consumer<Message> handler) {
    return message -> {
      handler.accept(message);
      return null;
    };
  }

  /** Makes a listener of a handler that ends later: the next message waits for it. */
  static Listener async(Function<Message, ? extends CompletionStage<Outcome>> handler) {
    return message -> handler.apply(message).toCompletableFuture().get();
  }
}
