package org.gatepost.device;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** One connection to the server, which another thread may close, with the heads of HTTP/1.1. */
final class Wire implements Closeable {
  private static final int HEAD_BYTES_MAX = 16 * 1024;
  private final Options options;
  private final URI address;
  private volatile boolean isClosed;
  private volatile Socket tcp;
  /** The same, or TLS on it. */
  private Socket socket;
  private InputStream in;
  private OutputStream out;
  private final byte[] buffer = new byte[8 * 1024];
  private int from;
  private int to;
  private long untilNs;
  private int silenceMs;

  Wire(Options options, URI address) {
    this.options = options;
    this.address = address;
  }

  /** Connects, and gives all that is read until {@link #waitFor} so many milliseconds in all. */
  void connect(int allMs) throws IOException {
    untilNs = System.nanoTime() + allMs * 1_000_000L;
    boolean isTls = "https".equalsIgnoreCase(address.getScheme());
    String host = address.getHost().replaceAll("[\\[\\]]", "");
    int port = address.getPort() > 0 ? address.getPort() : isTls ? 443 : 80;
    Socket socket = connectTo(InetAddress.getAllByName(host), port);
    if (isTls) {
      SSLSocket secured = (SSLSocket) options.tls.createSocket(socket, host, port, true);
      SSLParameters parameters = secured.getSSLParameters();
      // Without it any certificate of a known authority would do.
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      secured.setSSLParameters(parameters);
      secured.setSoTimeout(leftMs());
      secured.startHandshake();
      socket = secured;
    }
    in = socket.getInputStream();
    out = socket.getOutputStream();
    this.socket = socket;
  }

  private Socket connectTo(InetAddress[] addresses, int port) throws IOException {
    IOException fault = null;
    for (InetAddress one : addresses) {
      Socket made = options.sockets.createSocket();
      tcp = made;
      try {
        if (isClosed) throw new IOException("closed");
        made.connect(new InetSocketAddress(one, port), Math.max(1, leftMs() / 2));
        made.setTcpNoDelay(true);
        return made;
      } catch (IOException e) {
        made.close();
        fault = e;
      }
    }
    throw fault == null ? new IOException("no address") : fault;
  }

  /** Gives each read so long from now on. */
  void waitFor(int ms) {
    silenceMs = ms;
  }

  private int leftMs() throws IOException {
    if (silenceMs > 0) return silenceMs;
    long left = (untilNs - System.nanoTime()) / 1_000_000L;
    if (left <= 0) throw new SocketTimeoutException("no answer in time");
    return (int) left;
  }

  /** Reads one byte; -1: the other side ended. */
  int read() throws IOException {
    if (from == to) {
      socket.setSoTimeout(leftMs());
      from = 0;
      to = in.read(buffer);
      if (to <= 0) {
        to = 0;
        return -1;
      }
    }
    return buffer[from++] & 0xff;
  }

  int readByte() throws IOException {
    int one = read();
    if (one < 0) throw new EOFException("cut off");
    return one;
  }

  byte[] readBytes(long count, int most) throws IOException {
    if (count < 0 || count > most) throw new IOException("too much");
    // Allocates as data arrives, not by the announced length.
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (long n = 0; n < count; n++) all.write(readByte());
    return all.toByteArray();
  }

  synchronized void write(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }

  /** Sends the head of a request, and a body. */
  void request(String method, String path, Map<String, String> headers, String body)
      throws IOException {
    StringBuilder text = new StringBuilder();
    String prefix = address.getRawPath() == null ? "" : address.getRawPath().replaceAll("/+$", "");
    text.append(method).append(' ').append(prefix).append(path).append(" HTTP/1.1\r\nHost: ");
    text.append(address.getHost()).append(address.getPort() > 0 ? ":" + address.getPort() : "");
    for (Map.Entry<String, String> header : headers.entrySet()) {
      text.append("\r\n").append(header.getKey()).append(": ").append(header.getValue());
    }
    write(text.append("\r\n\r\n").append(body).toString().getBytes(StandardCharsets.UTF_8));
  }

  /** Reads the head of an answer: its headers in lower case, and "" for the status. */
  Map<String, String> head() throws IOException {
    Map<String, String> headers = new LinkedHashMap<>();
    String[] status = line(HEAD_BYTES_MAX).split(" ", 3);
    if (!status[0].startsWith("HTTP/1.") || status.length < 2) throw new IOException("no HTTP");
    headers.put("", status[1]);
    int left = HEAD_BYTES_MAX;
    for (String line; !(line = line(left)).isEmpty(); left -= line.length() + 2) {
      String[] pair = line.split(":", 2);
      if (pair.length == 2) headers.put(pair[0].toLowerCase(Locale.ROOT), pair[1].trim());
    }
    return headers;
  }

  /** Reads up to the end of a line. */
  String line(int most) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int one; (one = readByte()) != '\n'; ) {
      if (line.length() >= most) throw new IOException("too long");
      if (one != '\r') line.append((char) one);
    }
    return line.toString();
  }

  /** Ends at once, also while another thread reads or connects. */
  @Override
  public void close() {
    isClosed = true;
    try {
      // A TLS socket would wait for a write that hangs.
      if (tcp != null) tcp.close();
    } catch (IOException e) {
      // It is closed.
    }
  }
}
