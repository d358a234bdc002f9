/// The device: what it does in which order.
library;

import 'dart:async';
import 'dart:io';
import 'dart:math';

import 'fault.dart';
import 'line.dart';
import 'message.dart';
import 'server.dart';
import 'state.dart';

/// A message for the app.
class Delivery {
  const Delivery(this.message, this.texts, this.state);

  final Message message;
  final Texts texts;

  /// The state of the device with this message in it. An app that writes it to its store in the
  /// transaction of its own effect returns [Done.kept]: then the message is handled exactly once,
  /// else at least once.
  final String state;
}

/// The outcome of a message. `usual`: a notification was received, a command executed. `kept`: the
/// app wrote [Delivery.state] itself.
enum Done { usual, opened, failed, kept }

/// How messages come. `poll` holds no socket open beside its polls.
enum Mode { poll, stream }

/// The phases of a device. `closed`: it comes back by itself. `ended`: it lost a place, and works on
/// with the others. The last three end it.
enum Phase { open, closed, ended, refused, replaced, stopped }

/// A change of a device that the app may show its user.
class Status {
  const Status(this.phase, [this.reason = const Reason('', '')]);

  final Phase phase;
  final Reason reason;
}

/// Where pushes go: `gateway` is `fcm`, `apns` or `webpush`; `token` a text, or the subscription of
/// Web Push.
class PushAddress {
  const PushAddress(this.gateway, this.token);

  final String gateway;
  final Object token;

  Json toJson() => {'gateway': gateway, 'token': token};
}

/// A device. It does nothing before [run]: make it when your user agreed.
class Device {
  /// `facts` are further fields of a registration: `os`, `os_version`, `device_name`,
  /// `app_version`, … `hwid` is the one that the app has; else one is drawn and kept. `ping`:
  /// seconds between two pings of a stream (15 to 600), or between two polls; 0: the usual.
  /// `frameMax`: the largest frame of the stream, bytes (1,024 to 65,536). `pace` multiplies all
  /// times, for tests.
  Device({
    required Server server,
    required Store store,
    required FutureOr<Done> Function(Delivery got) onMessage,
    Map<String, String> facts = const {},
    String? hwid,
    String locale = '',
    PushAddress? push,
    Mode mode = Mode.poll,
    int ping = 0,
    int frameMax = 0,
    double pace = 1,
    HttpClient Function() newClient = HttpClient.new,
    void Function(String line)? log,
  })  : _server = server,
        _store = store,
        _onMessage = onMessage,
        _facts = facts,
        _hwid = hwid,
        _locale = locale,
        _push = push,
        _mode = mode,
        _ping = ping,
        _log = log,
        _line = Line(server.base, newClient, pace, {
          if (locale.isNotEmpty) 'accept-language': locale,
          if (frameMax > 0) 'x-frame-max': '$frameMax',
        });

  final Server _server;
  final Store _store;
  final FutureOr<Done> Function(Delivery got) _onMessage;
  final Map<String, String> _facts;
  final String? _hwid;
  final String _locale;
  final Mode _mode;
  final int _ping;
  final void Function(String line)? _log;
  final Line _line;

  /// Makes one step of reading, handling and writing the state after the other.
  final _Steps _steps = _Steps();
  final _Steps _registering = _Steps();
  final StreamController<Status> _statuses = StreamController<Status>.broadcast();
  State? _kept;
  PushAddress? _push;
  bool _isKnown = false;

  /// Whether the connection did, for long enough to begin with the first pause again.
  bool _hasHeld = false;
  Stopwatch? _renewed;

  /// The token of a registration whose answer was lost: the new token was in it.
  String? _doubted;
  Completer<Status>? _over;

  static const String _tokenError = 'Device token error';
  static const int _acksEach = 100;

  /// The changes of the device.
  Stream<Status> get statuses => _statuses.stream;

  bool get _hasEnded => _over?.isCompleted ?? true;

  /// Works until the device is refused, replaced or stopped. A second call beside the first has its
  /// result.
  Future<Status> run() {
    final before = _over;
    if (before != null && !before.isCompleted) return before.future;
    final over = _over = Completer<Status>();
    unawaited(_sessions(over));
    return over.future;
  }

  /// Ends the device at once. [run] goes on; what the server has not confirmed is sent then.
  void stop() => _finish(const Status(Phase.stopped));

  Future<void> _sessions(Completer<Status> over) async {
    var wait = 0.5;
    while (!over.isCompleted) {
      _hasHeld = false;
      try {
        await _session();
      } catch (fault) {
        final reason = Reason.ofCall(fault, _server.base);
        if (!over.isCompleted) _report(Status(Phase.closed, reason));
      }
      if (_hasHeld) wait = 0.5;
      await _rest(wait * (0.5 + Random().nextDouble()));
      wait = min(2 * wait, 60.0);
    }
  }

  /// Waits for a time, s, or until the device ends.
  Future<void> _rest(num given) async {
    try {
      await _over?.future.timeout(_line.seconds(given));
    } on TimeoutException {
      // It goes on.
    }
  }

  /// Works with one connection.
  Future<void> _session() async {
    final token = (await _now()).token;
    // The gateway may have dropped a dead address: a device with pushes registers at each start.
    // The inbox says first whether the slot was freed: a registration could take another one.
    // A server that was discovered tells nothing of a dead token, and admits once per slot.
    if (token == null || (_server.isDiscovered && !_isKnown)) {
      await _register();
    } else if (_push != null && !_isKnown) {
      await _fetch(token);
      if (!_hasEnded) await _register();
    }
    final known = (await _now()).token;
    if (known == null || _hasEnded) return;
    await (_mode == Mode.poll ? _polls(known) : _listen(known));
  }

  void _finish(Status status) {
    final over = _over;
    if (over == null || over.isCompleted) return;
    _report(status);
    over.complete(status);
    _line.close();
  }

  void _report(Status status) {
    _note('${status.phase.name} ${status.reason}');
    _statuses.add(status);
  }

  void _note(String line) {
    try {
      _log?.call(line);
    } catch (_) {
      // A log that fails ends nothing.
    }
  }

  /// Takes what FCM, APNs or Web Push brought, in the app's background too. `wasShown`: the system
  /// showed the notification, so the app must not.
  Future<void> takePush(Json data, {required bool wasShown}) async {
    final id = int.tryParse('${data['id']}') ?? 0;
    if (id <= 0) return;
    final message = Message.read(data['message']);
    await _later(() async {
      if (wasShown && data['kind'] == 'notification') {
        final shown = Ack(id, 'received');
        await _change((state) => state.seen(id) == null ? state.knowing(shown) : state);
      } else if (message != null && message.id == id && !message.isStub) {
        await _handle(message);
      } else if (!_line.isOpen) {
        final token = (await _now()).token;
        if (token != null) await _fetch(token);
      }
      await _sendAcks();
    });
  }

  /// Tells that the user opened a notification.
  Future<void> opened(int id) => _later(() async {
        await _change((state) => state.owing(Ack(id, 'opened')));
        await _sendAcks();
      });

  /// Does what the next connection does if this one fails.
  Future<void> _later(Future<void> Function() work) async {
    try {
      await work();
    } on Reason catch (reason) {
      _note('it waits for the next connection: $reason');
    }
  }

  /// Tells that the network gave another address; null: there is none.
  Future<void> setPush(PushAddress? push) async {
    _push = push;
    _isKnown = false;
    // A device that does not run registers when it does.
    if (_hasEnded) return;
    try {
      await _register();
    } on Reason catch (reason) {
      _report(Status(Phase.closed, reason));
    }
  }

  /// Returns the headers by which a subscription's fetch names this device.
  Future<Map<String, String>> headers() async => fetchHeaders((await _now()).hwid, _facts);

  Future<void> _register() => _registering.step(() async {
        final state = await _now();
        final token = state.token;
        final push = _push;
        final Answer answer;
        try {
          answer = await _line.ask('/register', token: token, body: {
            ..._facts,
            ..._server.shown,
            'hwid': state.hwid,
            if (push != null) 'push': push,
          });
        } on Reason {
          _doubted = token;
          rethrow;
        }
        if (answer.isOk && answer.token.isNotEmpty) {
          _isKnown = identical(push, _push);
          await _change((state) => state.withToken(answer.token));
        } else if (answer.msg == _tokenError && token != null) {
          await _forget(token, answer.ending);
        } else if (answer.msg == 'Too many requests' || answer.msg == 'Unknown error') {
          throw answer.reason;
        } else {
          _finish(Status(Phase.refused, answer.reason));
        }
      });

  /// Forgets a token that died, after a registration that may have renewed it.
  Future<void> _dropToken(String token) => _registering.step(() => _forget(token, null));

  /// Forgets a token. If its slot ended, so does the device; else it registers again, once: two
  /// devices of one HWID would do it for ever.
  Future<void> _forget(String token, Reason? ending) async {
    if ((await _now()).token != token) return;
    await _change((state) => state.withToken(null));
    _isKnown = false;
    if (ending != null) return _finish(Status(Phase.refused, ending));
    if (token == _doubted) return;
    final before = _renewed;
    if (before != null && before.elapsed < _line.seconds(3600)) {
      const text = 'another device registers this HWID';
      _finish(const Status(Phase.refused, Reason(text, text)));
    }
    _renewed = Stopwatch()..start();
  }

  Future<void> _listen(String token) async {
    var work = Future<void>.value();
    final closed = await _line.hold(token, _ping, (frame, confirmed) {
      work = work.then((_) => _hear(token, frame, confirmed)).catchError((Object fault) {
        _line.cut(Reason.ofCall(fault, _server.base));
      });
    });
    await work;
    if (_hasEnded) return;
    _hasHeld = closed.hasHeld;
    _report(Status(Phase.closed, closed.reason));
    final code = closed.code;
    if (code == 4002 && _line.wasOwn()) {
      _note('an older attempt of this device was late');
    } else if (code == 4002) {
      _finish(const Status(Phase.replaced));
    } else if (code == 4001) {
      await _dropToken(token);
    } else if (code == 401 || code == 4004) {
      // The inbox says why the token ended, in the language of the user.
      await _later(() => _fetch(token));
      if (closed.reason.word.isNotEmpty && !_hasEnded) await _forget(token, closed.reason);
    }
  }

  /// Handles an event of the stream: it is open, it brought a frame, or the server confirmed.
  Future<void> _hear(String token, Answer? frame, List<Ack> confirmed) async {
    if (confirmed.isNotEmpty) return _confirmed(confirmed);
    if (frame == null) {
      _report(const Status(Phase.open));
    } else {
      await _take(token, frame);
    }
    await _sendAcks();
  }

  Future<void> _polls(String token) async {
    // The first one tells at once that the line is open, and how long others may wait.
    var wait = 0;
    while (!_hasEnded) {
      final clock = Stopwatch()..start();
      // The server repeats a message at once until it is acknowledged.
      await _sendAcks();
      final count = await _fetch(token, wait: wait);
      if (_hasEnded) return;
      // A server that does not wait is not asked without a pause.
      final isEarly = clock.elapsed < _line.seconds(1);
      if (!_hasHeld) {
        _report(const Status(Phase.open));
      } else if (count == 0 && (_ping > 0 || isEarly)) {
        await _rest(max(_ping, 1));
      }
      _hasHeld = true;
      wait = _ping > 0 ? 0 : _line.pollSeconds;
    }
  }

  /// Takes the messages of the inbox, and returns how many there were.
  Future<int> _fetch(String token, {int wait = 0}) async {
    final query = wait > 0 ? '?wait=$wait' : '';
    final answer = await _line.ask('/inbox$query', token: token, wait: wait);
    await _take(token, answer);
    return answer.messages.length;
  }

  /// Handles an answer of the inbox, or a frame of the stream like it.
  Future<void> _take(String token, Answer answer) async {
    if (!answer.isOk) {
      if (answer.msg == _tokenError) {
        final ending = answer.ending;
        await (ending == null ? _dropToken(token) : _forget(token, ending));
      }
      throw answer.reason;
    }
    for (final reason in answer.ended) {
      _report(Status(Phase.ended, reason));
    }
    for (final message in answer.messages) {
      if (!message.isStub || (await _now()).seen(message.id) != null) {
        await _handle(message);
        continue;
      }
      // The message did not fit into the frame: it is acknowledged after the whole of it.
      final whole = await _line.ask('/inbox?id=${message.id}', token: token);
      if (!whole.isOk) throw whole.reason;
      for (final one in whole.messages) {
        if (!one.isStub) await _handle(one);
      }
    }
  }

  /// Sends what is not confirmed, on the stream or by calls. Throws a [Reason] if it cannot.
  Future<void> _sendAcks() async {
    final state = await _now();
    final token = state.token;
    final due = state.acks.where((ack) => !_line.isUnderWay(ack)).toList();
    for (var from = 0; from < due.length; from += _acksEach) {
      if (token == null || _hasEnded) return;
      final some = due.sublist(from, min(from + _acksEach, due.length));
      if (_line.isOpen) {
        _line.acknowledge(some);
        continue;
      }
      final answer = await _line.ask('/ack', token: token, body: {'items': some});
      if (!answer.isOk) await _take(token, answer);
      await _confirmed(some);
    }
  }

  Future<void> _confirmed(List<Ack> acks) => _change((state) => state.without(acks));

  /// Gives a new message to the app. A copy is acknowledged again: the first may be lost.
  Future<void> _handle(Message message) => _steps.step(() async {
        if (_over?.isCompleted ?? false) return;
        final state = await _read();
        final before = state.seen(message.id);
        if (before != null) return _write(state.owing(Ack(message.id, before)));
        final usual = message.type == Message.command ? 'executed' : 'received';
        final known = state.knowing(Ack(message.id, usual));
        var ack = Ack(message.id, usual);
        try {
          final unknown = message.unknown;
          if (unknown != null) throw FormatException(unknown);
          final done = await _onMessage(Delivery(message, message.texts(_locale), known.text));
          if (done == Done.kept) {
            _kept = known;
            return;
          }
          if (done != Done.usual) ack = Ack(message.id, done.name);
        } catch (fault) {
          final detail = fault is FormatException ? fault.message : '$fault';
          _note('message ${message.id} failed: $detail');
          ack = Ack(message.id, 'failed', detail);
        }
        await _write(state.knowing(ack));
      });

  Future<State> _now() => _steps.step(_read);

  Future<void> _change(State Function(State state) changed) =>
      _steps.step(() async => _write(changed(await _read())));

  /// Reads the state, in a step. A HWID that was drawn is kept before it is used.
  Future<State> _read() async {
    final kept = _kept;
    if (kept != null) return kept;
    try {
      final state = State.read(await _store.read(), _hwid);
      await _store.write(state.text);
      return _kept = state;
    } catch (fault) {
      throw Reason('store', 'The store failed: $fault.');
    }
  }

  /// Keeps the state, in a step; in memory alone if the store fails: the next write has it all.
  Future<void> _write(State state) async {
    _kept = state;
    try {
      await _store.write(state.text);
    } catch (fault) {
      _note('the store failed: $fault');
    }
  }
}

/// Makes one step after the other.
class _Steps {
  Future<void> _last = Future<void>.value();

  Future<T> step<T>(Future<T> Function() work) {
    final made = _last.then((_) => work());
    _last = made.then<void>((_) {}, onError: (Object _) {});
    return made;
  }
}
