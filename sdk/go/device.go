// Package device is a device of a Gatepost provider: it registers, receives messages by a stream,
// by polls and by pushes, gives each message to the app once, and acknowledges it.
package device

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// PushAddress is where pushes go: Gateway is fcm, apns or webpush; Token is a text, or the
// subscription of Web Push.
type PushAddress struct {
	Gateway string          `json:"gateway"`
	Token   json.RawMessage `json:"token"`
}

// Delivery is a message for the app's handler.
type Delivery struct {
	Message Message
	Texts   Texts
	// Action is that of a command; empty: a notification.
	Action string
	// State is what the device keeps, with this message in it. An app that writes it to its store in
	// the transaction of its own effect returns [Kept]: then the message is handled exactly once,
	// else at least once.
	State string
}

// Status is what the device is now: open; closed, and it tries again by itself; ended, while it stays
// open: it lost one of its places; or what ends it. It is an error of [New] and [Device.Run] too.
//
//   - refused: show Text, else Detail, to the user.
//   - replaced: another stream of this device is in use, do not start it again.
type Status struct {
	State string `json:"-"`
	// Detail is a sentence for the developer, or what the server said.
	Detail string `json:"-"`
	// Reason is one word: that of the server (slot_freed, link_limit_reached), or refused_port, name,
	// tls, timeout, not_json, wrong_path, bad_url, store, or lost for any other.
	Reason string `json:"reason"`
	// Text is for the user, in the language of the device.
	Text string `json:"text"`
	// Limit is how many devices the link may have.
	Limit int `json:"limit"`
	// FreeURL is where the user can free a slot.
	FreeURL string `json:"free_url"`
}

func (s Status) Error() string { return s.State + ": " + s.Detail }

// Options of a device. URL, Registration, Store and OnMessage are needed.
type Options struct {
	// URL is https://HOST of the appliance; Path is that of its calls, /device if it is empty. HWID is
	// the one that the app has; empty: one is drawn and kept. Locale is the language of texts: pt-BR.
	URL, Path, HWID, Locale string
	// Registration has the fields of POST /device/register but hwid and push.
	Registration map[string]string
	Store        Store
	Push         *PushAddress
	// Polls is set where no socket may stay open.
	Polls bool
	// PingSeconds is the time between two pings of a stream, 15 to 600; 0: every 9 seconds. FrameMax
	// is the most bytes of a frame, 1024 to 65536; 0: any.
	PingSeconds, FrameMax int
	// Pace multiplies all times, for tests; 0 is 1.
	Pace   float64
	Client *http.Client
	// Log hears what happens; nil: nothing does.
	Log *slog.Logger
	// OnMessage handles a new message, one after the other. Empty: it is acknowledged as received, a
	// command as executed; an error as failed. It must not call the device, which waits for it.
	OnMessage func(context.Context, Delivery) (AckState, error)
	OnStatus  func(Status)
}

// ErrRuns is the answer to a second Run of a device at the same time.
var ErrRuns = errors.New("this device runs already")

const closeToken, closeReplaced, closeEnded websocket.StatusCode = 4001, 4002, 4004

// A batch of the server has at most 100 messages, and it sends no more than 100 before they are known.
const tokenError, devicePath, acksEach, queued = "Device token error", "/device", 100, 128

// Device is a device. Make one with [New].
type Device struct {
	options Options
	running sync.Mutex
	// handling makes one call of the app's handler after the other.
	handling sync.Mutex

	// mu guards what follows.
	mu   sync.Mutex
	kept state
	// isHandling: the app may have written a state of its own, over which none may be written.
	isHandling bool
	pending    []frame
	socket     *websocket.Conn
	push       *PushAddress
	// isKnown: no registration is due but for a token.
	isKnown   bool
	renewedAt time.Time
	// pauses multiplies the next pause: 0 for an address that changed, else 1.
	pauses float64
	// doubted is the token of a registration whose answer was lost: the new token was in it.
	doubted string
	// gaveUp: a handshake was given up without an answer since the last stream that held.
	gaveUp bool
	// pollSeconds is the wait of the next poll.
	pollSeconds int
	// silence ends a stream of which nothing was heard for so long.
	silence *time.Timer
	bears   time.Duration
	// cutNow ends the connection of this time; stop ends the run.
	cutNow, stop context.CancelCauseFunc
}

// New makes a device. It returns a [Status] if the address is none of a server, and the error of a
// store that can't be read and written.
func New(o Options) (*Device, error) {
	if _, err := serverAt(o.URL); err != nil {
		return nil, err
	}
	o.Path, o.Pace = cmp.Or(o.Path, devicePath), cmp.Or(o.Pace, 1)
	o.Client, o.Log = cmp.Or(o.Client, http.DefaultClient), cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	kept, err := readState(o.Store, o.HWID)
	none := func(error) {}
	return &Device{options: o, kept: kept, push: o.Push, isKnown: o.Push == nil && o.Path == devicePath, pollSeconds: pollSeconds, cutNow: none, stop: none}, err
}

// Run works until ctx ends, and returns why it ended: ctx.Err(), or a [Status]; a Run after a refusal
// registers again. The next Run sends what the server has not confirmed.
func (d *Device) Run(ctx context.Context) error {
	if !d.running.TryLock() {
		return ErrRuns
	}
	defer d.running.Unlock()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	first, longest := d.times(500*time.Millisecond), d.times(time.Minute)
	for wait := first; ; wait = min(2*wait, longest) {
		connection, cut := context.WithCancelCause(ctx)
		d.with(func() { d.stop, d.cutNow, d.pauses = stop, cut, 1 })
		held, err := d.session(connection)
		err = cmp.Or(context.Cause(connection), err)
		cut(nil)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		why := Status{Detail: err.Error(), Reason: "lost"}
		errors.As(err, &why)
		why.State = "closed"
		d.tell(why)
		if held {
			wait = first
		}
		var pause time.Duration
		d.with(func() { pause = time.Duration(float64(wait) * d.pauses * (0.5 + rand.Float64())) })
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// session works with one connection. It returns why it ended, and whether it held for a while.
func (d *Device) session(ctx context.Context) (held bool, err error) {
	token, err := d.register(ctx)
	if err != nil {
		return false, err
	}
	if d.options.Polls {
		return d.polls(ctx)
	}
	return d.listen(ctx, token)
}

// with works with the fields that mu guards.
func (d *Device) with(work func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	work()
}

func (d *Device) times(t time.Duration) time.Duration {
	return time.Duration(float64(t) * d.options.Pace)
}

func (d *Device) cut(reason, why string) {
	d.with(func() { d.cutNow(Status{Reason: reason, Detail: why}) })
}

func (d *Device) tell(s Status) {
	d.options.Log.Info(s.State, "detail", s.Detail, "reason", s.Reason)
	if d.options.OnStatus != nil {
		d.options.OnStatus(s)
	}
}

func (d *Device) finish(state, detail string, s Status) {
	s.State, s.Detail = state, cmp.Or(detail, s.Reason)
	d.tell(s)
	d.with(func() { d.stop(s) })
}

// TakePush takes what FCM, APNs or Web Push brought, in the app's background too. wasShown: the
// system showed the notification, so the app must not.
func (d *Device) TakePush(ctx context.Context, data map[string]any, wasShown bool) {
	id, _ := strconv.ParseInt(strings.Trim(jsonOf(data["id"]), `"`), 10, 64)
	if id <= 0 {
		return
	}
	message, isThere := messageIn(data["message"])
	switch {
	case wasShown && data["kind"] == "notification":
		d.change(func(s state) state {
			if s.seen(id) != "" {
				return s
			}
			return s.knowing(ack{ID: id, State: Received})
		})
	case isThere && message.ID == id && !message.Stub:
		d.later(d.take(ctx, []Message{message}))
	default:
		d.later(d.fetch(ctx, "", 0))
	}
	d.later(d.sendAcks(ctx))
}

// Opened tells that the user opened a notification.
func (d *Device) Opened(ctx context.Context, id int64) {
	d.change(func(s state) state { return s.owing(ack{ID: id, State: Opened}) })
	d.later(d.sendAcks(ctx))
}

// later takes an error of what the next connection does.
func (d *Device) later(err error) {
	if err != nil {
		d.options.Log.Info("it waits for the next connection", "error", err)
	}
}

// SetPush tells that the network gave another address; nil: none. The device registers it at once,
// or when it runs.
func (d *Device) SetPush(push *PushAddress) {
	d.with(func() { d.push, d.isKnown, d.pauses = push, false, 0 })
	d.cut("lost", "another address for pushes")
}

// Headers returns those by which a subscription's fetch names this device: x-hwid and its kin.
func (d *Device) Headers() http.Header { return headersOf(d.state().HWID, d.options.Registration) }

// register registers if it is due, and returns the token. It is due at each start of a device with
// pushes, as the gateway may have dropped a dead address, and of one that was led to its server by
// a subscription, as that server tells nothing of a dead token.
func (d *Device) register(ctx context.Context) (token string, err error) {
	var push *PushAddress
	isKnown, body := false, map[string]any{}
	for name, value := range d.options.Registration {
		body[name] = value
	}
	d.with(func() { token, body["hwid"], push, isKnown = d.kept.Token, d.kept.HWID, d.push, d.isKnown })
	if isKnown && token != "" {
		return token, nil
	}
	if push != nil {
		body["push"] = push
	}
	got, err := d.call(ctx, "/register", token, body, 0)
	switch {
	case got.Msg == nil:
		d.with(func() { d.doubted = token })
	case err == nil && got.Token != "":
		d.change(func(s state) state { s.Token = got.Token; return s })
		d.with(func() { d.isKnown = push == d.push })
	case d.state().Token == token && !slices.Contains([]string{"Too many requests", "Unknown error"}, *got.Msg):
		d.finish("refused", *got.Msg, got.Status)
	}
	return got.Token, err
}

// call makes a call, and heeds what each answer may say. It returns an error for a refusal too.
func (d *Device) call(ctx context.Context, path, token string, body any, wait int) (answer, error) {
	got, err := d.ask(ctx, path, token, body, wait)
	if err == nil {
		d.hear(got, token)
		if got.RC != 1 {
			err = Status{Reason: "refused", Detail: *got.Msg}
		}
	}
	return got, err
}

// hear heeds what any answer may say: places that ended, and the death of the token.
func (d *Device) hear(got answer, token string) {
	for _, place := range got.Ended {
		place.State, place.Detail = "ended", place.Reason
		d.tell(place)
	}
	if *got.Msg == tokenError && token != "" {
		d.forget(token, got.Status)
	}
}

// forget forgets a token that died. Its slot ended, or the device registers again, once: two
// devices of one HWID would do it for ever.
func (d *Device) forget(token string, why Status) {
	detail := ""
	d.change(func(s state) state {
		if s.Token != token {
			return s
		}
		s.Token, d.isKnown = "", false
		if detail = why.Reason; detail == "" && token != d.doubted {
			if time.Since(d.renewedAt) < d.times(time.Hour) {
				detail = "another device registers this HWID"
			}
			d.renewedAt = time.Now()
		}
		return s
	})
	if detail != "" {
		d.finish("refused", detail, why)
	}
}

func (d *Device) listen(ctx context.Context, token string) (held bool, err error) {
	socket, err := d.dial(ctx, token)
	if err != nil {
		return false, err
	}
	defer d.silence.Stop()
	defer socket.CloseNow()
	since := time.Now()
	d.with(func() { d.socket = socket })
	d.tell(Status{State: "open"})
	d.later(d.sendAcks(ctx))
	batches, handled := make(chan []Message, queued), make(chan struct{})
	go func() {
		defer close(handled)
		for batch := range batches {
			// A failure ends the stream; the messages come again.
			if err := cmp.Or(d.take(ctx, batch), d.sendAcks(ctx)); err != nil {
				d.cut("lost", err.Error())
			}
		}
	}()
	for err == nil {
		var text []byte
		var got answer
		if _, text, err = socket.Read(ctx); err != nil {
			break
		}
		d.silence.Reset(d.bears)
		if got, err = answerIn(text); err == nil {
			if d.hear(got, token); got.Data == nil {
				// Those that the server refused for their form it will never take.
				d.change(d.answered)
			}
			batches <- got.Data
		}
	}
	close(batches)
	<-handled
	held = time.Since(since) >= d.times(10*time.Second)
	wasLate := false
	d.with(func() {
		for _, sent := range d.pending {
			sent.late.Stop()
		}
		wasLate = d.gaveUp && !held
		d.socket, d.pending, d.gaveUp = nil, nil, wasLate && websocket.CloseStatus(err) != closeReplaced
	})
	var end websocket.CloseError
	switch errors.As(err, &end); {
	case end.Code == closeReplaced && !wasLate:
		d.finish("replaced", "another stream of this device is in use", Status{})
	case end.Code == closeToken:
		d.forget(token, Status{})
	case end.Code == closeEnded:
		d.later(d.fetch(ctx, "", 0))
		d.forget(token, Status{Reason: end.Reason})
	}
	return held, err
}

func (d *Device) polls(ctx context.Context) (held bool, err error) {
	// The first one tells at once that the line is open, and how long others may wait.
	for query, wait := "", 0; ; query = "?wait=" + strconv.Itoa(wait) {
		// The server repeats a message at once until it is acknowledged.
		if err = cmp.Or(d.sendAcks(ctx), d.fetch(ctx, query, wait)); err != nil {
			return held, err
		}
		if !held {
			d.tell(Status{State: "open"})
		}
		held = true
		d.with(func() { wait = d.pollSeconds })
	}
}

// fetch takes messages of the inbox.
func (d *Device) fetch(ctx context.Context, query string, wait int) error {
	token := d.state().Token
	if token == "" {
		return nil
	}
	got, err := d.call(ctx, "/inbox"+query, token, nil, wait)
	isInVain := func(one Message) bool { return one.Stub && strings.Contains(query, "id=") }
	return cmp.Or(err, d.take(ctx, slices.DeleteFunc(got.Data, isInVain)))
}

// sendAcks sends what is not confirmed, on the stream or by calls.
func (d *Device) sendAcks(ctx context.Context) error {
	token, due := "", []ack(nil)
	d.with(func() {
		token, due = d.kept.Token, d.kept.Acks
		for _, sent := range d.pending {
			due = without(due, sent.acks)
		}
	})
	for some := range slices.Chunk(due, acksEach) {
		if d.acknowledge(ctx, some) || token == "" {
			continue
		}
		if _, err := d.call(ctx, "/ack", token, map[string]any{"items": some}, 0); err != nil {
			return err
		}
		d.change(func(s state) state { s.Acks = without(s.Acks, some); return s })
	}
	return nil
}

func (d *Device) take(ctx context.Context, messages []Message) error {
	for _, message := range messages {
		if message.Stub && d.state().seen(message.ID) == "" {
			// One that is gone meanwhile is not there.
			if err := d.fetch(ctx, fmt.Sprintf("?id=%d", message.ID), 0); err != nil {
				return err
			}
		} else if ctx.Err() == nil {
			d.handle(ctx, message)
		}
	}
	return nil
}

// handle gives a new message to the app. A copy is acknowledged again: the first may be lost.
func (d *Device) handle(ctx context.Context, message Message) {
	d.handling.Lock()
	defer d.handling.Unlock()
	s := d.state()
	if before := s.seen(message.ID); before != "" {
		d.change(func(s state) state { return s.owing(ack{ID: message.ID, State: before}) })
		return
	}
	made := ack{ID: message.ID, State: Received}
	if message.Type == Command {
		made.State = Executed
	}
	said, err := AckState(""), message.unknown()
	if err == nil {
		given := Delivery{message, message.Texts(d.options.Locale), message.Action(), jsonOf(s.knowing(made))}
		d.with(func() { d.isHandling = true })
		said, err = d.options.OnMessage(ctx, given)
	}
	if err != nil {
		d.options.Log.Warn("a message failed", "id", message.ID, "error", err)
		made.State, made.Detail = Failed, err.Error()
	} else if said != Kept && said != "" {
		made.State = said
	}
	// This repeats the write of the app: the state may have changed meanwhile.
	d.change(func(s state) state {
		d.isHandling = false
		return s.knowing(made)
	})
}

func (d *Device) state() (s state) {
	d.with(func() { s = d.kept })
	return s
}

// change makes the following state and writes it; while a message is handled, the write after that
// has it. A state that can't be written ends the connection.
func (d *Device) change(following func(state) state) {
	d.with(func() {
		s := following(d.kept)
		if d.isHandling {
			d.kept = s
			return
		}
		if err := d.options.Store.Write(jsonOf(s)); err != nil {
			d.options.Log.Error("the store failed", "error", err)
			d.cutNow(Status{Reason: "store", Detail: "the store: " + err.Error()})
			return
		}
		d.kept = s
	})
}
