package org.gatepost.device;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * A device of a provider: it registers, gets its messages by a stream, by polls and by pushes as
 * one, hands each to the app once, and acknowledges. One thread holds the stream or polls, one
 * makes the other calls, and one changes the state and calls the app, so that neither a slow app
 * nor a slow network keeps the others waiting. The protocol is docs/device-protocol.md.
 */
public final class Device implements AutoCloseable {
  private static final int PAUSE_FIRST_MS = 500;
  private static final int PAUSE_LAST_MS = 60_000;
  /** Two tokens that die within this are two devices with one HWID. */
  private static final int RENEWAL_MS = 3_600_000;
  private static final int CLOSE_TOKEN = 4001;
  private static final int CLOSE_REPLACED = 4002;
  private static final String TOKEN_ERROR = "Device token error";
  /** Acknowledgements in one request. */
  private static final int ACKS_EACH = 100;

  private final Options options;
  private final Listener listener;
  private final Keeper keeper;
  private final Line line;
  /** Changes of the state, with the app's handling of messages. */
  private final Steps changes = new Steps("gatepost-changes");
  /** Registrations, acknowledgements by call, and what a push asks for. */
  private final Steps calls = new Steps("gatepost-calls");
  private volatile Thread runner;
  private State ending;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile Map<String, Object> push;
  private volatile boolean isRegistered;
  private boolean wasRenewed;
  private long renewedAtNs;
  /** The token that was shown where the answer was lost: no other device renewed it. */
  private String doubted;

  /** Makes a device; {@link #start} lets it work. Refuses a URL that is none. */
  public Device(Options options, Store store, Listener listener) {
    this.options = options;
    this.listener = listener;
    keeper = new Keeper(store, options.hwid);
    push = options.push;
    line = new Line(options, changes);
  }

  /** Lets it work until {@link #close}, a refusal, or another stream of the device. */
  public synchronized void start() {
    if (runner != null) throw new IllegalStateException("it runs");
    runner = new Thread(this::run, "gatepost-device");
    runner.setDaemon(true);
    runner.start();
  }

  /** Waits until it ended; returns why: {@code CLOSED}, {@code REFUSED} or {@code REPLACED}. */
  public State await() throws InterruptedException {
    ended.await();
    synchronized (ended) {
      return ending;
    }
  }

  /** Ends at once: nothing is waited for. What was not acknowledged is, at the next start. */
  @Override
  public void close() {
    end(State.CLOSED, "");
  }

  /**
   * Takes the data of a push. {@code wasShown}: the system has shown the notification, so that the
   * app must not. The result is done when the message is handled.
   */
  public Future<?> push(Map<String, ?> data, boolean wasShown) {
    CompletableFuture<Void> taken = changes.add(() -> takePush(data, wasShown));
    return calls.addAfter(
        taken,
        () -> {
          long id = Message.idIn(data);
          boolean isMissing = id > 0 && keeper.now().seen(id) == null;
          if (isMissing && !line.isOpen()) fetchInbox(keeper.now().token, false);
          sendAcks();
        });
  }

  /** Tells that the user opened a notification. */
  public Future<?> opened(long id) {
    Ack ack = new Ack(id, "opened", null);
    return calls.addAfter(changes.add(() -> change(now -> now.owing(ack))), this::sendAcks);
  }

  /** Tells that the network gave another address for pushes; {@code gateway} null: none. */
  public Future<?> setPush(String gateway, Object token) {
    return calls.add(
        () -> {
          push = Options.address(gateway, token);
          isRegistered = false;
          if (runner != null && !hasEnded()) register();
        });
  }

  /** Returns the headers by which a subscription's fetch names this device. */
  public Map<String, String> headers() throws IOException {
    return options.headers(keeper.now().hwid);
  }

  private boolean hasEnded() {
    return ended.getCount() == 0;
  }

  private void end(State why, String detail) {
    synchronized (ended) {
      if (ending != null) return;
      ending = why;
    }
    line.stop();
    if (why != State.CLOSED) tell(why, detail);
    ended.countDown();
  }

  private void tell(State state, String detail) {
    try {
      if (!hasEnded()) listener.onState(state, detail);
    } catch (RuntimeException | AssertionError | LinkageError e) {
      // The app's fault shows as others do, and ends no thread of the kit.
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  private void run() {
    try {
      for (int pauseMs = PAUSE_FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_LAST_MS)) {
        if (work()) pauseMs = PAUSE_FIRST_MS;
        double jitter = 0.5 + ThreadLocalRandom.current().nextDouble();
        if (ended.await(line.ms(pauseMs * jitter), TimeUnit.MILLISECONDS)) return;
      }
    } catch (InterruptedException e) {
      close();
    }
  }

  /** Registers and listens once. Returns whether it went well for a while. */
  private boolean work() {
    try {
      String token = registered();
      return token != null && !hasEnded() && (options.polls ? poll(token) : listen(token));
    } catch (IOException | RuntimeException | AssertionError | LinkageError e) {
      tell(State.CLOSED, "the store or the app failed: " + e.getMessage());
      return false;
    }
  }

  private void change(UnaryOperator<Memory> changed) throws IOException {
    changes.run(() -> keeper.write(changed.apply(keeper.now())));
  }

  /** Registers where it is due; returns the token; null: there is none now. */
  private String registered() throws IOException {
    // A gateway that calls an address dead drops it: with a push, each start registers.
    boolean isDue = keeper.now().token == null || (push != null && !isRegistered);
    if (isDue) calls.run(this::register);
    return keeper.now().token;
  }

  private void register() throws IOException {
    Memory shown = keeper.now();
    Map<String, Object> address = push;
    Map<String, Object> body = new LinkedHashMap<>(options.registration);
    body.put("hwid", shown.hwid);
    if (address != null) body.put("push", address);
    Answer answer = line.ask("/device/register", shown.token, body, 0);
    if (hasEnded()) return;
    if (answer == null) doubted = shown.token;
    String msg = answer == null ? "Unknown error" : answer.msg;
    if (answer != null && answer.isOk && answer.token != null) {
      change(now -> now.withToken(answer.token));
      isRegistered = address == push;
    } else if (msg.equals(TOKEN_ERROR) && shown.token != null) {
      forget(shown.token);
    } else if (msg.equals("Too many requests") || msg.equals("Unknown error")) {
      tell(State.CLOSED, answer == null ? "no answer" : msg);
    } else {
      end(State.REFUSED, msg);
    }
  }

  /** Forgets a token that died. Registers again once: two devices with one HWID would go on. */
  private void forget(String token) throws IOException {
    if (!token.equals(keeper.now().token)) return;
    change(now -> now.withToken(null));
    isRegistered = false;
    if (token.equals(doubted)) return;
    long nowNs = System.nanoTime();
    long sinceMs = (nowNs - renewedAtNs) / 1_000_000L;
    if (wasRenewed && sinceMs < line.ms(RENEWAL_MS)) {
      end(State.REFUSED, "another device registers this HWID");
    }
    wasRenewed = true;
    renewedAtNs = nowNs;
  }

  private boolean listen(String token) throws IOException {
    Line.Closed closed = line.hold(token, new Hearing());
    if (closed.wasOpen) {
      tell(State.CLOSED, closed.reason.isEmpty() ? "code " + closed.code : closed.reason);
    }
    if (hasEnded()) return closed.wasSteady;
    if (closed.code == CLOSE_REPLACED) end(State.REPLACED, closed.reason);
    else if (closed.code == CLOSE_TOKEN) calls.run(() -> forget(token));
    // Why a handshake failed, the inbox answers; and a proxy may let calls through alone.
    else if (!closed.wasOpen) fetchInbox(token, false);
    return closed.wasSteady;
  }

  /** Turns events of the stream into steps, because a handler must not delay a pong. */
  private final class Hearing implements Line.Events {
    @Override
    public void opened() {
      tell(State.OPEN, "");
      calls.add(Device.this::sendAcks);
    }

    @Override
    public void messages(List<Map<String, Object>> messages) {
      CompletableFuture<Void> taken = changes.add(() -> take(messages));
      // A state that cannot be written ends the stream: the messages come again.
      taken.exceptionally(
          fault -> {
            line.cut();
            return null;
          });
      calls.addAfter(taken, Device.this::sendAcks);
    }

    @Override
    public void answered(List<Ack> acks) {
      changes.add(() -> change(now -> now.without(acks)));
    }
  }

  private boolean poll(String token) throws IOException {
    for (int count = 0; ; count++) {
      // A message that is not acknowledged comes at once, again and again. The first does not wait.
      boolean isWell = calls.ask(this::sendAcks) && fetchInbox(token, count > 0);
      if (!isWell && count > 0) tell(State.CLOSED, "no answer");
      if (!isWell || hasEnded()) return count > 0;
      if (count == 0) tell(State.OPEN, "");
    }
  }

  /** Takes what lies in the inbox; false: it did not answer. */
  private boolean fetchInbox(String token, boolean waits) throws IOException {
    if (token == null) return false;
    int seconds = waits ? line.pollSeconds : 0;
    String path = "/device/inbox" + (waits ? "?wait=" + seconds : "");
    Answer answer = line.ask(path, token, null, seconds);
    if (answer == null || hasEnded()) return false;
    if (answer.msg.equals(TOKEN_ERROR)) calls.run(() -> forget(token));
    if (!answer.isOk) return false;
    if (answer.data != null) changes.run(() -> take(answer.data));
    return true;
  }

  /** Takes what a push says by itself. */
  private void takePush(Map<String, ?> data, boolean wasShown) throws IOException {
    long id = Message.idIn(data);
    Map<String, Object> message = Json.objectIn(data.get("message"));
    if (id <= 0) return;
    if (wasShown && "notification".equals(data.get("kind"))) {
      if (keeper.now().seen(id) == null) change(now -> now.knowing(new Ack(id, "received", null)));
    } else if (message != null && Message.idIn(message) == id) {
      take(Collections.singletonList(message));
    }
  }

  private void take(List<Map<String, Object>> messages) throws IOException {
    for (Map<String, Object> one : messages) handle(one);
  }

  /** Handles a message that is new. A duplicate is acknowledged again: the first may be lost. */
  private void handle(Map<String, Object> fields) throws IOException {
    if (hasEnded()) return;
    Memory now = keeper.now();
    long id = Message.idIn(fields);
    String before = now.seen(id);
    if (before != null) {
      Ack again = new Ack(id, before, null);
      // One that is owed already has its detail, and needs no further write.
      if (now.acks.stream().noneMatch(again::says)) keeper.write(now.owing(again));
      return;
    }
    boolean isCommand = Message.numberIn(fields, "notification_type") == Message.COMMAND;
    Ack ack = new Ack(id, isCommand ? "executed" : "received", null);
    Memory known = now.knowing(ack);
    try {
      Message message = new Message(fields, options.locale, known.write());
      if (message.whyUnknown() != null) throw new IllegalStateException(message.whyUnknown());
      Outcome said = listener.onMessage(message);
      if (said == Outcome.KEPT) {
        keeper.wasWritten(known);
        return;
      }
      if (said != null) ack = new Ack(id, said.name().toLowerCase(Locale.ROOT), null);
    } catch (Exception | AssertionError | LinkageError e) {
      ack = new Ack(id, "failed", e.getMessage() == null ? e.toString() : e.getMessage());
    }
    keeper.write(now.knowing(ack));
  }

  /** Sends what is not confirmed: on the stream, else by a call. False: some could not be sent. */
  private boolean sendAcks() throws IOException {
    Memory now = keeper.now();
    List<Ack> due = new ArrayList<>(now.acks);
    due.removeIf(line::isUnderWay);
    for (int from = 0; from < due.size(); from += ACKS_EACH) {
      if (hasEnded() || now.token == null) return false;
      List<Ack> some = due.subList(from, Math.min(due.size(), from + ACKS_EACH));
      if (line.isOpen()) {
        line.acknowledge(some);
        continue;
      }
      Object body = Collections.singletonMap("items", Memory.mapsOf(some));
      Answer answer = line.ask("/device/ack", now.token, body, 0);
      if (answer == null || !answer.isOk) return false;
      change(all -> all.without(some));
    }
    return true;
  }
}
