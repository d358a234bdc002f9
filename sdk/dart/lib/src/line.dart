/// The calls of a device over HTTP, and its stream. This file does not interpret messages.
library;

import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:math';
import 'dart:typed_data';

import 'fault.dart';
import 'message.dart';
import 'state.dart';

/// The answer of a call, and a frame of a stream.
class Answer {
  Answer._(this._all);

  static Answer? read(String text) {
    final all = objectIn(text);
    return all != null && all['rc'] is int && all['msg'] is String ? Answer._(all) : null;
  }

  final Json _all;

  bool get isOk => _all['rc'] == 1;
  String get msg => textIn(_all, 'msg');
  String get token => textIn(_all, 'device_token');

  /// The reason of a refusal.
  Reason get reason => Reason.read(_all);

  /// Why the token ended, if the server says so.
  Reason? get ending => _all.containsKey('reason') ? reason : null;
  bool get hasMessages => _all['data'] is List;
  List<Message> get messages => _list('data').map(Message.read).whereType<Message>().toList();

  /// The places of the device that ended.
  List<Reason> get ended => _list('ended').whereType<Json>().map(Reason.read).toList();

  List<Object?> _list(String name) {
    final value = _all[name];
    return value is List ? value : const [];
  }
}

/// How a stream ended.
class Closed {
  const Closed(this.reason, {this.code = 0, this.hasHeld = false});

  final Reason reason;

  /// 0: without a code; 401: the handshake was refused for the token.
  final int code;

  /// True if it lasted long enough to reset the pauses.
  final bool hasHeld;
}

/// Hears the events of a stream: it is open, or brought a frame, or the server saved
/// acknowledgements (or will never take them).
typedef Hearing = void Function(Answer? frame, List<Ack> confirmed);

/// A frame of acknowledgements whose answer is to come.
typedef _Sent = ({List<Ack> acks, Timer limit});

class Line {
  Line(this.base, this._newClient, this.pace, this._headers);

  final String base;
  final HttpClient Function() _newClient;
  final double pace;

  /// In each request: the language, and the largest frame.
  final Map<String, String> _headers;

  /// The wait of the next poll, s.
  int pollSeconds = _poll;

  HttpClient? _client;
  WebSocket? _socket;
  void Function(Reason why)? _cut;
  final List<_Sent> _pending = [];
  bool _isAstray = false;

  static const int _poll = 60;
  static const int _pollMax = 240;
  static const int _ping = 9;

  Duration seconds(num given) => Duration(microseconds: (given * pace * 1000000).round());

  bool get isOpen => _socket != null;

  /// Ends all calls and the stream at once.
  void close() {
    cut(const Reason('stopped', 'The device was stopped.'));
    _client?.close(force: true);
    _client = null;
  }

  /// Ends the stream at once.
  void cut(Reason why) => _cut?.call(why);

  /// Returns once whether a late handshake of this device may have taken over the stream.
  bool wasOwn() {
    final was = _isAstray;
    _isAstray = false;
    return was;
  }

  /// Makes a call; without a body a GET. The time grows by the wait of a poll, s. Throws a
  /// [Reason].
  Future<Answer> ask(String path, {String? token, Json? body, int wait = 0}) {
    void write(HttpClientRequest request) {
      if (body == null) return;
      final bytes = utf8.encode(jsonEncode(body));
      request.headers.contentType = ContentType.json;
      request.contentLength = bytes.length;
      request.add(bytes);
    }

    Future<Answer> read(HttpClientResponse response) async {
      final text = await const Utf8Decoder(allowMalformed: true).bind(response).join();
      if (path != '/ack') {
        final named = _numberIn(response, 'x-wait-max');
        pollSeconds = named > 0 ? min(named, _pollMax) : _poll;
      }
      final answer = Answer.read(text);
      if (answer == null || response.statusCode == 404) throw _noServer(response.statusCode);
      return answer;
    }

    final method = body == null ? 'GET' : 'POST';
    return _exchange(method, path, token, write, read, Duration(seconds: wait));
  }

  /// Makes a request, and reads its response in 30 s and more. Throws a [Reason].
  Future<T> _exchange<T>(
    String method,
    String path,
    String? token,
    void Function(HttpClientRequest request) write,
    Future<T> Function(HttpClientResponse response) read, [
    Duration more = Duration.zero,
  ]) async {
    HttpClientRequest? open;
    Future<T> work() async {
      final client = _client ??= _newClient()..connectionTimeout = seconds(30);
      final request = open = await client.openUrl(method, Uri.parse('$base$path'));
      request.followRedirects = false;
      _headers.forEach((name, value) => request.headers.set(name, value));
      if (token != null) request.headers.set('authorization', 'Bearer $token');
      write(request);
      return read(await request.close());
    }

    try {
      return await work().timeout(seconds(30) + more);
    } catch (fault) {
      open?.abort();
      throw Reason.ofCall(fault, base);
    }
  }

  /// Says what a page in place of an answer means.
  Reason _noServer(int status) => status == 404
      ? Reason('wrong_path', '$base is the path of no Gatepost: it says 404.')
      : Reason('not_json', '$base answered $status with a page, not JSON.');

  /// Returns whether the answer to an acknowledgement is to come.
  bool isUnderWay(Ack ack) => _pending.any((sent) => sent.acks.any(ack.isSame));

  /// Sends acknowledgements on the stream. A missing answer ends it, and they go again.
  void acknowledge(List<Ack> acks) {
    void lost() => cut(const Reason('no_answer', 'An acknowledgement was not answered.'));
    _socket?.add(jsonEncode({'items': acks}));
    _pending.add((acks: acks, limit: Timer(seconds(30), lost)));
  }

  /// Opens a stream and reads it until it ends. `ping`: seconds between two pings; 0: the usual.
  Future<Closed> hold(String token, int ping, Hearing on) async {
    void shakeHands(HttpClientRequest request) {
      final random = Random.secure();
      final key = base64Encode([for (var n = 0; n < 16; n++) random.nextInt(256)]);
      request.headers
        ..set('connection', 'Upgrade')
        ..set('upgrade', 'websocket')
        ..set('sec-websocket-version', '13')
        ..set('sec-websocket-key', key);
    }

    final wasAstray = _isAstray;
    // Until it is answered: a late handshake may reach the server.
    _isAstray = true;
    final path = ping > 0 ? '/stream?ping=$ping' : '/stream';
    final HttpClientResponse response;
    try {
      response = await _exchange('GET', path, token, shakeHands, (response) async => response);
    } on Reason catch (reason) {
      if (const {'refused_port', 'name', 'tls'}.contains(reason.word)) _isAstray = wasAstray;
      return Closed(reason);
    }
    _isAstray = wasAstray;
    final status = response.statusCode;
    final socket = await response.detachSocket();
    final upgrade = response.headers.value('upgrade') ?? '';
    if (status != 101 || upgrade.toLowerCase() != 'websocket') {
      socket.destroy();
      final ended = response.headers.value('x-ended') ?? '';
      var reason = _noServer(status);
      if (status == 401) reason = Reason(ended, 'The token of the device ended.');
      if (status == 503) reason = Reason('no_answer', '$base takes no stream now.');
      return Closed(reason, code: status);
    }
    final named = _numberIn(response, 'x-ping-interval');
    final bears = seconds(named > _ping ? 2 * named + 10 : 30);
    final closed = await _read(socket, bears, on);
    if (closed.hasHeld) _isAstray = false;
    return closed;
  }

  Future<Closed> _read(Socket socket, Duration bears, Hearing on) async {
    final clock = Stopwatch()..start();
    final done = Completer<Reason?>();
    Timer? silence;
    void cutNow(Reason why) {
      if (!done.isCompleted) done.complete(why);
      socket.destroy();
    }

    void hear() {
      silence?.cancel();
      silence = Timer(bears, () => cutNow(const Reason('silence', 'silence')));
    }

    hear();
    final opened = WebSocket.fromUpgradedSocket(_Heard(socket, hear), serverSide: false);
    _socket = opened;
    _cut = cutNow;
    opened.listen(
      (Object? frame) {
        final answer = frame is String ? Answer.read(frame) : null;
        if (answer == null) {
          cutNow(const Reason('not_json', 'A frame was no answer.'));
        } else if (answer.hasMessages || answer.ending != null) {
          on(answer, const []);
        } else if (_pending.isNotEmpty) {
          final sent = _pending.removeAt(0);
          sent.limit.cancel();
          on(answer, sent.acks);
        }
      },
      onError: (Object fault) => cutNow(Reason.ofCall(fault, base)),
      onDone: () {
        if (!done.isCompleted) done.complete();
      },
    );
    on(null, const []);
    final why = await done.future;
    silence?.cancel();
    for (final sent in _pending) {
      sent.limit.cancel();
    }
    _pending.clear();
    _socket = null;
    _cut = null;
    final code = why == null ? opened.closeCode ?? 0 : 0;
    final said = opened.closeReason ?? '';
    final text = 'The server closed the stream: $code $said.';
    final ended = Reason(code == 4004 ? said : 'closed', text);
    return Closed(why ?? ended, code: code, hasHeld: clock.elapsed >= seconds(10));
  }
}

int _numberIn(HttpClientResponse response, String name) =>
    int.tryParse(response.headers.value(name) ?? '') ?? 0;

/// A socket that reports when bytes come: a WebSocket of this language does not show its pings.
class _Heard extends StreamView<Uint8List> implements Socket {
  _Heard(this._socket, void Function() hear)
      : super(_socket.map((bytes) {
          hear();
          return bytes;
        }));

  final Socket _socket;

  @override
  Future<dynamic> addStream(Stream<List<int>> stream) => _socket.addStream(stream);

  @override
  Future<dynamic> close() => _socket.close();

  @override
  void destroy() => _socket.destroy();

  /// A WebSocket calls nothing else.
  @override
  dynamic noSuchMethod(Invocation invocation) => super.noSuchMethod(invocation);
}
