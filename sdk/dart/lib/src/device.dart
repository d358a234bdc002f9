/// A device: what it does in which order, its calls over HTTP and its stream.
library;

import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:math';
import 'dart:typed_data';

part 'message.dart';
part 'server.dart';
part 'state.dart';

/// A message for the app. `state` is that of the device with this message in it: an app that writes
/// it to its store in the transaction of its own effect returns [Done.kept]. Then the message is
/// handled exactly once, else at least once.
typedef Delivery = ({Message message, Texts texts, String state});

/// The outcome of a message. `usual`: a notification was received, a command executed. `kept`: the
/// app wrote the `state` of the [Delivery] itself.
enum Done { usual, opened, failed, kept }

/// How messages come. `poll` holds no socket open beside its polls.
enum Mode { poll, stream }

/// The phases of a device. `closed`: it comes back by itself. `ended`: it lost a place, and works on
/// with the others. The last three end it.
enum Phase { open, closed, ended, refused, replaced, stopped }

/// A change of a device that the app may show its user.
typedef Status = ({Phase phase, Reason reason});

/// Where pushes go: `gateway` is `fcm`, `apns` or `webpush`; `token` a text, or the subscription of
/// Web Push.
typedef PushAddress = ({String gateway, Object token});

/// A device. It does nothing before [run]: make it when your user agreed.
class Device {
  Device({
    required this.server,
    required this.store,
    required this.onMessage,
    this.facts = const {},
    this.hwid,
    this.locale = '',
    this.push,
    this.mode = Mode.poll,
    this.ping = 0,
    this.frameMax = 0,
    this.pace = 1,
    this.newClient = HttpClient.new,
    this.log,
  }) : _isKnown = push == null && !server.isDiscovered;

  final Server server;
  final Store store;

  /// Handles a new message, one after the other. It must not wait for its device, which waits for it.
  final FutureOr<Done> Function(Delivery got) onMessage;

  /// Further fields of a registration: `os`, `os_version`, `device_name`, `app_version`, …
  final Map<String, String> facts;

  /// The one that the app has; null: one is drawn and kept.
  final String? hwid;

  /// The language of texts, such as `pt-BR`.
  final String locale;
  final Mode mode;

  /// The address for pushes of now; [setPush] changes it.
  PushAddress? push;

  /// `ping`: seconds between two pings of a stream (15 to 600), or between two polls; 0: the usual.
  /// `frameMax`: the largest frame of the stream, bytes (1,024 to 65,536); 0: the server's.
  final int ping, frameMax;

  /// Multiplies all times, for tests.
  final double pace;
  final HttpClient Function() newClient;

  /// Takes a line for a log.
  final void Function(String line)? log;

  /// The last step of reading, handling and writing the state.
  Future<void> _steps = Future.value();
  final _statuses = StreamController<Status>.broadcast();
  State? _kept;

  /// `_isKnown`: no registration is due but for a token. `_hasHeld`: the connection did, for long
  /// enough to begin with the first pause again. `_isAstray`: a late handshake may reach the server.
  bool _isKnown, _hasHeld = false, _isAstray = false;

  /// Since a token that died was renewed.
  Stopwatch? _renewed;

  /// The token of a registration whose answer was lost: the new token was in it.
  String? _doubted;

  /// The end of a run.
  Completer<Status>? _over;

  /// The wait of the next poll, s.
  int _pollSeconds = _poll;
  HttpClient? _client;
  WebSocket? _socket;
  void Function(Reason why)? _cut;

  /// Frames of acknowledgements whose answers are to come, until a limit.
  final List<({List<Json> acks, Timer limit})> _pending = [];

  static const _tokenError = 'Device token error', _acksEach = 100, _poll = 60, _pollMax = 240;

  /// The changes of the device.
  Stream<Status> get statuses => _statuses.stream;

  bool get _hasEnded => _over?.isCompleted ?? true;

  /// Works until the device is refused, replaced or stopped. A second call beside the first has its
  /// result.
  Future<Status> run() {
    var over = _over;
    if (over == null || over.isCompleted) {
      over = _over = Completer<Status>();
      unawaited(_sessions(over));
    }
    return over.future;
  }

  /// Ends the device at once. [run] goes on; what the server has not confirmed is sent then.
  void stop() => _finish(Phase.stopped);

  /// Takes what FCM, APNs or Web Push brought, in the app's background too. `wasShown`: the system
  /// showed the notification, so the app must not.
  Future<void> takePush(Json data, {required bool wasShown}) async {
    final id = int.tryParse('${data['id']}') ?? 0;
    if (id <= 0) return;
    final message = Message.read(data['message']);
    await _later(() async {
      if (wasShown && data['kind'] == 'notification') {
        await _change((now) => now.seen(id) == null ? now.knowing(ackOf(id, 'received')) : now);
      } else if (message != null && message.id == id && !message.isStub) {
        await _handle(message);
      } else if (_socket == null) {
        if ((await _now()).token case final token?) await _fetch(token);
      }
      await _sendAcks();
    });
  }

  /// Tells that the user opened a notification.
  Future<void> opened(int id) =>
      _later(() => _change((now) => now.owing(ackOf(id, 'opened'))).then((_) => _sendAcks()));

  /// Tells that the network gave another address; null: there is none. The device registers it soon,
  /// or when it runs.
  Future<void> setPush(PushAddress? address) async {
    push = address;
    _isKnown = false;
    _close(const Reason('closed', 'There is another address for pushes.'));
  }

  /// Returns the headers by which a subscription's fetch names this device.
  Future<Map<String, String>> headers() async => fetchHeaders((await _now()).hwid, facts);

  /// Does what the next connection does if this one fails.
  Future<void> _later(Future<void> Function() work) =>
      work().onError<Reason>((reason, _) => _note('it waits for the next connection: $reason'));

  Future<void> _sessions(Completer<Status> over) async {
    for (var wait = 0.5; !over.isCompleted; wait = min(2 * wait, 60)) {
      _hasHeld = false;
      try {
        final token = await _register();
        if (token != null) await (mode == Mode.poll ? _polls(token) : _listen(token));
      } catch (fault) {
        if (!over.isCompleted) _report(Phase.closed, Reason.ofCall(fault, server.base));
      }
      if (_hasHeld) wait = 0.5;
      await _rest(wait * (0.5 + Random().nextDouble()));
    }
  }

  Duration _seconds(num given) => Duration(microseconds: (given * pace * 1000000).round());

  /// Waits for a time, s, or until the device ends.
  Future<void> _rest(num given) async => _over?.future
      .timeout(_seconds(given), onTimeout: () => (phase: Phase.open, reason: const Reason('', '')));

  /// Ends all calls and the stream at once.
  void _close(Reason why) {
    _cut?.call(why);
    _client?.close(force: true);
    _client = null;
  }

  void _finish(Phase phase, [Reason reason = const Reason('', '')]) {
    if (_hasEnded) return;
    _report(phase, reason);
    _over?.complete((phase: phase, reason: reason));
    _close(const Reason('stopped', 'The device was stopped.'));
  }

  void _report(Phase phase, [Reason reason = const Reason('', '')]) {
    _note('${phase.name} $reason');
    _statuses.add((phase: phase, reason: reason));
  }

  /// Logs a line. A log that fails ends nothing.
  void _note(String line) {
    try {
      log?.call(line);
    } catch (_) {}
  }

  /// Registers if it is due, and returns the token; null: the device ended. It is due at each start
  /// of a device with pushes, as the gateway may have dropped a dead address, and of one that was
  /// discovered, as that server tells nothing of a dead token, and admits once per slot.
  Future<String?> _register() async {
    final (state, push) = (await _now(), this.push);
    final token = state.token;
    if (token != null && _isKnown) return token;
    // The inbox says first whether the slot was freed: a registration could take another one.
    if (token != null && !server.isDiscovered) await _fetch(token);
    if (_hasEnded) return null;
    final body = <String, Object?>{...facts, ...server.shown, 'hwid': state.hwid};
    if (push != null) body['push'] = {'gateway': push.gateway, 'token': push.token};
    final answer = await _ask('/register', token, body: body).onError<Reason>((why, _) {
      _doubted = token;
      throw why;
    });
    final (msg, renewed) = (textIn(answer, 'msg'), textIn(answer, 'device_token'));
    if (answer['rc'] == 1 && renewed.isNotEmpty) {
      _isKnown = push == this.push;
      await _change((now) => now.withToken(renewed));
      return renewed;
    }
    final passes = const {'Too many requests', 'Unknown error'}.contains(msg);
    if (!passes && (await _now()).token == token) _finish(Phase.refused, Reason.read(answer));
    throw Reason.read(answer);
  }

  /// Heeds what any answer may say: places that ended, and the death of the token. Then its slot
  /// ended, or the device registers again, once: two devices of one HWID would do it for ever.
  Future<void> _heed(Json answer, String token) async {
    listIn(answer, 'ended').whereType<Json>().map(Reason.read).forEach(_place);
    if (answer['msg'] != _tokenError || (await _now()).token != token) return;
    await _change((now) => now.withToken(null));
    _isKnown = false;
    if (answer.containsKey('reason')) return _finish(Phase.refused, Reason.read(answer));
    if (token == _doubted) return;
    const text = 'another device registers this HWID';
    final hour = _seconds(3600);
    if ((_renewed?.elapsed ?? hour) < hour) _finish(Phase.refused, const Reason(text, text));
    _renewed = Stopwatch()..start();
  }

  void _place(Reason reason) => _report(Phase.ended, reason);

  Future<void> _polls(String token) async {
    // The first one tells at once that the line is open, and how long others may wait.
    for (var wait = 0; !_hasEnded; wait = ping > 0 ? 0 : _pollSeconds) {
      final clock = Stopwatch()..start();
      // The server repeats a message at once until it is acknowledged.
      await _sendAcks();
      final count = await _fetch(token, query: wait > 0 ? '?wait=$wait' : '', wait: wait);
      if (!_hasHeld) _report(Phase.open);
      // A server that does not wait is not asked without a pause.
      final isEarly = clock.elapsed < _seconds(1);
      if (_hasHeld && count == 0 && (ping > 0 || isEarly)) await _rest(max(ping, 1));
      _hasHeld = true;
    }
  }

  /// Takes the messages of the inbox, and returns how many there were.
  Future<int> _fetch(String token, {String query = '', int wait = 0}) async {
    final answer = await _ask('/inbox$query', token, wait: wait);
    if (answer['rc'] != 1) throw Reason.read(answer);
    return _take(answer, token, isLast: query.startsWith('?id='));
  }

  /// Handles messages of an answer. `isLast`: a stub in it is not fetched, and so in vain.
  Future<int> _take(Json answer, String token, {bool isLast = false}) async {
    final messages = Message.allIn(answer);
    for (final message in messages) {
      if (!message.isStub || (await _now()).seen(message.id) != null) {
        await _handle(message);
      } else if (!isLast) {
        // It did not fit into the frame: it is acknowledged after the whole of it.
        await _fetch(token, query: '?id=${message.id}');
      }
    }
    return messages.length;
  }

  /// Sends what is not confirmed, on the stream or by calls. Throws a [Reason] if it cannot.
  Future<void> _sendAcks() async {
    final state = await _now();
    bool isSent(Json ack) => _pending.any((sent) => sent.acks.any((one) => isSame(one, ack)));
    final due = state.acks.where((ack) => !isSent(ack)).toList();
    for (var from = 0; from < due.length; from += _acksEach) {
      if (state.token == null || _hasEnded) return;
      final some = due.sublist(from, min(from + _acksEach, due.length));
      if (_socket case final socket?) {
        void lost() => _cut?.call(const Reason('no_answer', 'Acknowledgements were not answered.'));
        socket.add(jsonEncode({'items': some}));
        _pending.add((acks: some, limit: Timer(_seconds(30), lost)));
        continue;
      }
      final answer = await _ask('/ack', state.token, body: {'items': some});
      if (answer['rc'] != 1) throw Reason.read(answer);
      await _change((now) => now.without(some));
    }
  }

  /// Gives a new message to the app. A copy is acknowledged again: the first may be lost.
  Future<void> _handle(Message message) => _step(() async {
        if (_over?.isCompleted ?? false) return;
        final (id, state) = (message.id, await _read());
        if (state.seen(id) case final before?) return _write(state.owing(ackOf(id, before)));
        final usual = message.type == Message.command ? 'executed' : 'received';
        final known = state.knowing(ackOf(id, usual));
        try {
          if (message.unknown case final unknown?) throw unknown;
          final texts = message.texts(locale);
          final done = await onMessage((message: message, texts: texts, state: known.text));
          if (done == Done.kept) {
            _kept = known;
          } else {
            await _write(state.knowing(ackOf(id, done == Done.usual ? usual : done.name)));
          }
        } catch (fault) {
          final detail = fault is FormatException ? fault.message : '$fault';
          _note('message $id failed: $detail');
          await _write(state.knowing(ackOf(id, 'failed', detail)));
        }
      });

  Future<State> _now() => _step(_read);

  Future<void> _change(State Function(State now) changed) =>
      _step(() async => _write(changed(await _read())));

  /// Makes one step after the other.
  Future<T> _step<T>(Future<T> Function() work) {
    final made = _steps.then((_) => work());
    _steps = made.then<void>((_) {}, onError: (Object _) {});
    return made;
  }

  /// Reads the state, in a step.
  Future<State> _read() async {
    try {
      return _kept ??= await openState(store, hwid);
    } catch (fault) {
      throw Reason('store', 'The store failed: $fault.');
    }
  }

  /// Keeps the state, in a step; in memory alone if the store fails: the next write has it all.
  Future<void> _write(State state) async {
    _kept = state;
    try {
      await store.write(state.text);
    } catch (fault) {
      _note('the store failed: $fault');
    }
  }

  /// Makes a call; without a body a GET. The time grows by the wait of a poll, s. Throws a [Reason].
  Future<Json> _ask(String path, String? token, {Json? body, int wait = 0}) async {
    final answer = await _exchange(path, token, (response) async {
      final text = await const Utf8Decoder(allowMalformed: true).bind(response).join();
      final named = _numberIn(response, 'x-wait-max');
      if (path != '/ack') _pollSeconds = named > 0 ? min(named, _pollMax) : _poll;
      final answer = _answerIn(text);
      if (answer != null && response.statusCode != 404) return answer;
      throw Reason.ofPage(response.statusCode, server.base);
    }, body: body, wait: wait);
    if (token != null) await _heed(answer, token);
    return answer;
  }

  /// Makes a request, and reads its response in 30 s and more. Throws a [Reason].
  Future<T> _exchange<T>(
      String path, String? token, Future<T> Function(HttpClientResponse response) read,
      {Json? body, int wait = 0, Map<String, String> more = const {}}) async {
    HttpClientRequest? open;
    Future<T> work() async {
      // An idle connection that ended later would wake a phone once more.
      final client = _client ??= newClient()
        ..connectionTimeout = _seconds(30)
        ..idleTimeout = _seconds(1);
      final at = Uri.parse('${server.base}$path');
      final request = open = await client.openUrl(body == null ? 'GET' : 'POST', at);
      request.followRedirects = false;
      if (locale.isNotEmpty) request.headers.set('accept-language', locale);
      if (frameMax > 0) request.headers.set('x-frame-max', frameMax);
      if (token != null) request.headers.set('authorization', 'Bearer $token');
      if (body != null) request.headers.contentType = ContentType.json;
      more.forEach((name, value) => request.headers.set(name, value));
      if (body != null) request.add(utf8.encode(jsonEncode(body)));
      return read(await request.close());
    }

    try {
      return await work().timeout(_seconds(30) + Duration(seconds: wait));
    } catch (fault) {
      open?.abort();
      final why = Reason.ofCall(fault, server.base);
      // A late handshake may reach the server.
      if (more.isNotEmpty && const {'timeout', 'no_answer'}.contains(why.word)) _isAstray = true;
      throw why;
    }
  }

  /// Opens a stream, and works with it until it ends. Throws a [Reason].
  Future<void> _listen(String token) async {
    final path = ping > 0 ? '/stream?ping=$ping' : '/stream';
    final response = await _exchange(path, token, (response) async => response, more: {
      'connection': 'Upgrade',
      'upgrade': 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': base64Encode(utf8.encode(_drawn().substring(16))),
    });
    final socket = await response.detachSocket();
    if (response.statusCode == 101) return _work(socket, token, response);
    socket.destroy();
    // The inbox says why the token ended, in the language of the user.
    if (response.statusCode == 401) await _fetch(token);
    throw Reason.ofPage(response.statusCode, server.base);
  }

  Future<void> _work(Socket socket, String token, HttpClientResponse response) async {
    final bears = _seconds(max(30, 2 * _numberIn(response, 'x-ping-interval') + 10));
    final clock = Stopwatch()..start();
    final done = Completer<Reason?>();
    void end([Reason? why]) {
      if (!done.isCompleted) done.complete(why);
      if (why != null) socket.destroy();
    }

    Timer? silence;
    Uint8List hear(Uint8List bytes) {
      silence?.cancel();
      silence = Timer(bears, () => end(const Reason('silence', 'silence')));
      return bytes;
    }

    hear(Uint8List(0));
    final heard = _Heard(socket, socket.map(hear));
    final opened = _socket = WebSocket.fromUpgradedSocket(heard, serverSide: false);
    _cut = end;
    void fail(Object fault) => end(Reason.ofCall(fault, server.base));
    var work = Future<void>.value();
    void next(Future<void> Function() step) => work = work.then((_) => step()).catchError(fail);
    void read(Object? frame) {
      final answer = frame is String ? _answerIn(frame) : null;
      if (answer == null) return end(const Reason('not_json', 'A frame was no answer.'));
      final isBatch = answer['data'] is List || answer.containsKey('reason');
      // Those that the server refused for their form it will never take.
      final sent = isBatch || _pending.isEmpty ? null : (_pending.removeAt(0)..limit.cancel());
      next(() async {
        if (sent != null) await _change((now) => now.without(sent.acks));
        await _heed(answer, token);
        await _take(answer, token);
        await _sendAcks();
      });
    }

    opened.listen(read, onError: fail, onDone: end);
    _report(Phase.open);
    next(_sendAcks);
    final why = await done.future;
    silence?.cancel();
    _pending.forEach((sent) => sent.limit.cancel());
    _pending.clear();
    _socket = _cut = null;
    _hasHeld = clock.elapsed >= _seconds(10);
    if (_hasHeld) _isAstray = false;
    await work;
    if (_hasEnded) return;
    if (why != null) throw why;
    final (code, said) = (opened.closeCode ?? 0, opened.closeReason ?? '');
    if (code == 4001 || code == 4004) await _fetch(token);
    // Unless an older attempt of this device was late.
    if (code == 4002 && !_isAstray) _finish(Phase.replaced);
    if (code == 4002) _isAstray = false;
    throw Reason(code == 4004 ? said : 'closed', 'The server closed the stream: $code $said.');
  }
}

/// Reads an answer of the server, or a frame like one.
Json? _answerIn(String text) => switch (objectIn(text)) {
      {'rc': int _, 'msg': String _} && final answer => answer,
      _ => null,
    };

int _numberIn(HttpClientResponse response, String name) =>
    int.tryParse(response.headers.value(name) ?? '') ?? 0;

/// A socket that reports when bytes come: a WebSocket of this language does not show its pings.
class _Heard extends StreamView<Uint8List> implements Socket {
  _Heard(this._socket, super.stream);

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
