package org.gatepost.device;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Drives the kit by lines of JSON on standard input, for {@code gatepost device check --against}
 * and tests. docs/device-check.md has the lines.
 */
public final class Driver implements Store, Listener {
  /** The file of the store: the state of the kit, and the effects of the app. */
  private final FileStore file;

  private final Map<String, Object> kept = new LinkedHashMap<>();
  private final boolean isTransaction;
  private final Device device;

  private Driver(Map<String, Object> order) throws IOException {
    file = new FileStore(new File((String) order.get("folder"), "device.json"));
    kept.put("effects", new ArrayList<>());
    Map<String, Object> read = Json.objectIn(file.read());
    if (read != null) kept.putAll(read);
    isTransaction = order.get("transaction") == Boolean.TRUE;
    Options options = serverIn(order);
    if (options == null) {
      device = null;
      return;
    }
    options
        .register("os", order.get("os"))
        .register("os_version", "15")
        .register("device_name", "Driver")
        .register("app_version", "1.0")
        .locale((String) order.get("locale"))
        .pace(((Number) order.get("pace")).doubleValue());
    if (order.get("hwid") != null) options.hwid((String) order.get("hwid"));
    if (order.get("ping") != null) options.ping(((Number) order.get("ping")).intValue());
    if (order.get("asleep") != null) options.asleep(((Number) order.get("asleep")).intValue());
    if (order.get("frame_max") != null) {
      options.frameMax(((Number) order.get("frame_max")).intValue());
    }
    if (!"poll".equals(order.get("mode"))) options.streams();
    Map<String, Object> push = Json.objectIn(order.get("push"));
    if (push != null) options.push((String) push.get("gateway"), push.get("token"));
    device = new Device(options, this, this);
    device.start();
  }

  /** Returns the server by its address, or by a subscription; null: that one names none. */
  private static Options serverIn(Map<String, Object> order) {
    Map<String, Object> subscription = Json.objectIn(order.get("subscription"));
    if (subscription != null) {
      Map<String, Object> headers = Json.objectIn(subscription.get("headers"));
      return Subscription.server((String) subscription.get("url"), headers);
    }
    return new Options((String) order.get("url"))
        .register("install_code", order.get("link"))
        .register("domain_hash", order.get("domain_hash"));
  }

  @Override
  public synchronized String read() {
    return (String) kept.get("state");
  }

  @Override
  public synchronized void write(String state) throws IOException {
    kept.put("state", state);
    file.write(Json.write(kept));
  }

  @Override
  public Outcome onMessage(Message message) throws IOException {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("id", message.id);
    line.put("type", message.type);
    line.put("title", message.title);
    line.put("text", message.plain);
    line.put("action", message.action);
    say("message", line);
    synchronized (this) {
      effects().add(message.id);
      write(isTransaction ? message.state : read());
    }
    return isTransaction ? Outcome.KEPT : null;
  }

  @Override
  public void onReport(Report report) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("state", report.state.name().toLowerCase(Locale.ROOT));
    line.put("detail", report.detail);
    line.put("reason", report.reason);
    line.put("text", report.text);
    line.put("limit", report.limit);
    line.put("free_url", report.freeUrl);
    say("state", line);
  }

  @SuppressWarnings("unchecked")
  private List<Object> effects() {
    return (List<Object>) kept.get("effects");
  }

  private void obey(String order, Map<String, Object> terms) throws Exception {
    if (order.equals("push")) {
      device.push(Json.objectIn(terms.get("data")), terms.get("shown") == Boolean.TRUE);
    } else if (order.equals("push_token")) {
      device.setPush((String) terms.get("gateway"), terms.get("token"));
    } else if (order.equals("opened")) {
      device.opened(((Number) terms.get("id")).longValue());
    } else if (order.equals("headers")) {
      say("headers", Collections.singletonMap("headers", device.headers()));
    } else if (order.equals("effects")) {
      synchronized (this) {
        say("effects", Collections.singletonMap("ids", effects()));
      }
    } else if (order.equals("stop")) {
      device.close();
      say("stopped", Collections.emptyMap());
    }
  }

  private static final PrintStream OUT = System.out;

  private static void say(String said, Map<String, ?> fields) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("said", said);
    line.putAll(fields);
    byte[] bytes = (Json.write(line) + "\n").getBytes(StandardCharsets.UTF_8);
    OUT.write(bytes, 0, bytes.length);
    OUT.flush();
  }

  public static void main(String[] args) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Driver driver = null;
    for (String line; (line = in.readLine()) != null; ) {
      Map<String, Object> terms = Json.objectIn(line);
      String order = (String) terms.get("do");
      if (order.equals("start")) {
        driver = new Driver(terms);
        say(driver.device == null ? "nothing" : "started", Collections.emptyMap());
      } else if (driver != null && driver.device != null) {
        driver.obey(order, terms);
      }
    }
  }
}
