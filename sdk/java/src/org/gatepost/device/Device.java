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
import java.util.concurrent.atomic.AtomicInteger;
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
  private static final int CLOSE_FREED = 4004;
  /** A poll that waits, and comes back sooner with nothing, is no wait. */
  private static final int SPIN_MS = 1_000;
  private static final int WATCH_MS = 10_000;
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
  private volatile State ending;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile Map<String, Object> push;
  private volatile boolean isRegistered;
  private boolean wasRenewed;
  private long renewedAtNs;
  /** The token that was shown where the answer was lost: no other device renewed it. */
  private String doubted;
  /** A handshake without an answer may reach the server late. Of the thread of the line alone. */
  private boolean gaveUp;
  /** Frames that wait for the whole message of a stub, or for one that does. */
  private final AtomicInteger fetching = new AtomicInteger();

  /** Makes a device; {@link #start} lets it work. Refuses a URL that is none. */
  public Device(Options options, Store store, Listener listener) {
    this.options = options;
    this.listener = listener;
    keeper = new Keeper(store, options.hwid);
    push = options.push;
    line = new Line(options, changes);
  }

  /** Lets it work, once, until {@link #close}, a refusal, or another stream of the device. */
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
    end(new Report(State.CLOSED, "", ""));
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
    return Subscription.headers(keeper.now().hwid, options.registration);
  }

  private boolean hasEnded() {
    return ending != null;
  }

  private void end(Report why) {
    synchronized (ended) {
      if (ending != null) return;
      ending = why.state;
    }
    line.stop();
    if (why.state != State.CLOSED) deliver(why);
    ended.countDown();
  }

  private void tell(State state, String detail) {
    tell(new Report(state, "", detail));
  }

  private void tell(Report report) {
    if (!hasEnded()) deliver(report);
  }

  private void deliver(Report report) {
    options.say(report.toString());
    try {
      listener.onReport(report);
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

  private boolean mayConnect() {
    boolean isAllowed = options.isAllowed.getAsBoolean();
    if (!isAllowed) tell(State.CLOSED, "the app allows no connection now");
    return isAllowed;
  }

  /** Registers and listens once. Returns whether it went well for a while. */
  private boolean work() throws InterruptedException {
    try {
      String token = mayConnect() ? registered() : null;
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
    boolean isAgain = push != null || options.isDiscovered;
    boolean isDue = keeper.now().token == null || (isAgain && !isRegistered);
    if (isDue) calls.run(this::register);
    return keeper.now().token;
  }

  private void register() throws IOException {
    Memory shown = keeper.now();
    Map<String, Object> address = push;
    Map<String, Object> body = new LinkedHashMap<>(options.registration);
    body.put("hwid", shown.hwid);
    if (address != null) body.put("push", address);
    Answer answer = line.ask("/register", shown.token, body, 0);
    if (hasEnded()) return;
    if (answer.fault != null) {
      doubted = shown.token;
      tell(answer.fault.about(line.shown()));
    } else if (answer.isOk && answer.token != null) {
      change(now -> now.withToken(answer.token));
      isRegistered = address == push;
    } else if (answer.refusesToken() && shown.token != null) {
      tokenRefused(shown.token, answer.refusal());
    } else if (answer.msg.equals("Too many requests") || answer.msg.equals("Unknown error")) {
      tell(State.CLOSED, answer.msg);
    } else {
      end(answer.refusal());
    }
  }

  /** A token was refused: it died, or, where a reason is given, its slots ended. */
  private void tokenRefused(String token, Report why) throws IOException {
    if (why.reason.isEmpty()) forget(token);
    else if (token.equals(keeper.now().token)) freed(why);
  }

  /** Forgets the token and ends: only its user asks for another one. */
  private void freed(Report why) throws IOException {
    try {
      change(now -> now.withToken(null));
    } finally {
      end(why);
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
      end(new Report(State.REFUSED, "", "another device registers this HWID"));
    }
    wasRenewed = true;
    renewedAtNs = nowNs;
  }

  private boolean listen(String token) throws IOException {
    Line.Closed closed = line.hold(token, new Hearing(token));
    if (!closed.wasOpen && closed.fault != null) tell(closed.fault.about(line.shown()));
    else tell(State.CLOSED, closed.reason.isEmpty() ? "code " + closed.code : closed.reason);
    if (hasEnded()) return closed.wasSteady;
    if (closed.wasSteady) gaveUp = false;
    if (!closed.wasOpen && closed.fault != null) gaveUp |= closed.fault.isOpen();
    String word = closed.reason.isEmpty() ? "slot_freed" : closed.reason;
    Report freed = new Report(State.REFUSED, word, Report.SLOT_ENDED);
    if (closed.code == CLOSE_REPLACED && gaveUp) gaveUp = false;
    else if (closed.code == CLOSE_REPLACED) end(new Report(State.REPLACED, "", closed.reason));
    else if (closed.code == CLOSE_FREED) calls.run(() -> tokenRefused(token, freed));
    else if (closed.code == CLOSE_TOKEN) calls.run(() -> forget(token));
    // Why a handshake failed, the inbox answers; and a proxy may let calls through alone.
    else if (!closed.wasOpen) fetchInbox(token, false);
    return closed.wasSteady;
  }

  /** Turns events of the stream into steps, because a handler must not delay a pong. */
  private final class Hearing implements Line.Events {
    private final String token;

    Hearing(String token) {
      this.token = token;
    }

    @Override
    public void opened() {
      tell(State.OPEN, "");
      calls.add(Device.this::sendAcks);
      watch();
    }

    /** Cuts the stream when the app allows it no more. */
    private void watch() {
      if (!options.isAllowed.getAsBoolean()) line.cut();
      else if (line.isOpen() && !hasEnded()) changes.after(line.ms(WATCH_MS), this::watch);
    }

    @Override
    public void refused(Answer answer) {
      calls.add(() -> tokenRefused(token, answer.refusal()));
    }

    @Override
    public void messages(Answer answer) {
      for (Report one : answer.ended) tell(one);
      // Later frames wait for the messages that are fetched for stubs of earlier ones.
      boolean isFetched = fetching.get() > 0 || answer.data.stream().anyMatch(Message::isStub);
      if (isFetched) fetching.incrementAndGet();
      CompletableFuture<Void> taken =
          isFetched
              ? calls.add(() -> takeWhole(token, answer.data))
              : changes.add(() -> take(answer.data));
      if (isFetched) taken.whenComplete((done, fault) -> fetching.decrementAndGet());
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

  private boolean poll(String token) throws IOException, InterruptedException {
    for (int count = 0; ; count++) {
      // A message that is not acknowledged comes at once, again and again. The first does not wait.
      boolean waits = count > 0 && options.asleep == 0;
      long sinceNs = System.nanoTime();
      Answer inbox = calls.ask(this::sendAcks) ? fetchInbox(token, waits) : null;
      if (inbox == null || hasEnded()) return count > 0;
      if (count == 0) tell(State.OPEN, "");
      boolean isSoon = (System.nanoTime() - sinceNs) / 1_000_000L < line.ms(SPIN_MS);
      // There may be more than one answer holds.
      if (!inbox.data.isEmpty()) continue;
      int restMs = waits && isSoon ? PAUSE_FIRST_MS : options.asleep * 1_000;
      if (restMs > 0 && ended.await(line.ms(restMs), TimeUnit.MILLISECONDS)) return true;
      if (!mayConnect()) return true;
    }
  }

  /** Takes what lies in the inbox; null: it did not answer. */
  private Answer fetchInbox(String token, boolean waits) throws IOException {
    if (token == null) return null;
    int seconds = waits ? line.pollSeconds : 0;
    Answer answer = line.ask("/inbox" + (waits ? "?wait=" + seconds : ""), token, null, seconds);
    if (hasEnded()) return null;
    if (answer.fault != null) tell(answer.fault.about(line.shown()));
    if (answer.refusesToken()) calls.run(() -> tokenRefused(token, answer.refusal()));
    if (!answer.isOk || answer.data == null || hasEnded()) return null;
    for (Report one : answer.ended) tell(one);
    takeWhole(token, answer.data);
    return answer;
  }

  /** Takes messages; fetches those of which a stub came, each in its turn. */
  private void takeWhole(String token, List<Map<String, Object>> messages) throws IOException {
    for (Map<String, Object> one : messages) {
      boolean isMissing = Message.isStub(one) && keeper.now().seen(Message.idIn(one)) == null;
      List<Map<String, Object>> whole = Collections.singletonList(one);
      if (isMissing) {
        Answer answer = line.ask("/inbox?id=" + Message.idIn(one), token, null, 0);
        // A message that was not fetched comes again, with those behind it.
        if (!answer.isOk || answer.data == null) throw new IOException("a message was not fetched");
        whole = new ArrayList<>(answer.data);
        whole.removeIf(it -> Message.isStub(it) || Message.idIn(it) != Message.idIn(one));
      }
      List<Map<String, Object>> some = whole;
      changes.run(() -> take(some));
    }
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
      Answer answer = line.ask("/ack", now.token, body, 0);
      if (answer.fault != null) tell(answer.fault.about(line.shown()));
      if (answer.refusesToken()) tokenRefused(now.token, answer.refusal());
      if (!answer.isOk) return false;
      change(all -> all.without(some));
    }
    return true;
  }
}
