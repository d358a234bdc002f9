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
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
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
	// Detail is a sentence for the developer, or what the server said.
	State, Detail string `json:"-"`
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

// A batch of the server has at most 100 messages, and it sends no more than 100 before they are known.
const tokenError, acksEach, queued = "Device token error", 100, 128

const devicePath, registerPath = "/device", "/register"

var errPush error = Status{Reason: "lost", Detail: "another address for pushes"}

// Device is a device. Make one with [New].
type Device struct {
	options Options
	// base is the address of calls.
	base string
	// Each lets one in: a run, and a call of the app's handler.
	running, handling sync.Mutex
	// held: the last connection held for a while. gaveUp: a handshake was given up without an answer
	// since the last stream that did.
	held, gaveUp bool

	// mu guards what follows.
	mu   sync.Mutex
	kept state
	// isHandling: the app may have written a state of its own, over which none may be written.
	// isKnown: no registration is due but for a token.
	isHandling, isKnown bool

	line      *stream
	push      *PushAddress
	renewedAt time.Time
	// doubted is the token of a registration whose answer was lost: the new token was in it.
	doubted string
	// pollSeconds is the wait of the next poll.
	pollSeconds int
	// cutNow ends the connection of this time; stop ends the run.
	cutNow, stop context.CancelCauseFunc
}

// New makes a device. It returns a [Status] if the address is none of a server, and the error of a
// store that can't be read and written.
func New(o Options) (*Device, error) {
	none, path := func(error) {}, cmp.Or(o.Path, devicePath)
	base := strings.TrimRight(o.URL, "/") + path
	at, err := url.Parse(base)
	if err != nil || !isServer(at) {
		what := fmt.Sprintf("the address %q does not begin with https:// and a host", o.URL)
		return nil, Status{State: "refused", Reason: "bad_url", Detail: what}
	}
	o.Pace, o.Client = cmp.Or(o.Pace, 1), cmp.Or(o.Client, http.DefaultClient)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	d := &Device{options: o, base: base, push: o.Push, line: &stream{}, cutNow: none, stop: none}
	d.isKnown, d.pollSeconds = o.Push == nil && path == devicePath, pollSeconds
	d.kept, err = readState(o.Store, o.HWID)
	return d, err
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
	for wait := first; ctx.Err() == nil; wait = min(2*wait, longest) {
		connection, cut := context.WithCancelCause(ctx)
		d.with(func() { d.stop, d.cutNow, d.held = stop, cut, false })
		token, err := d.register(connection)
		switch {
		case err == nil && d.options.Polls:
			err = d.polls(connection)
		case err == nil:
			err = d.listen(connection, token)
		}
		err = cmp.Or(context.Cause(connection), err)
		if cut(nil); ctx.Err() != nil {
			break
		}
		why := Status{Detail: err.Error(), Reason: "lost"}
		errors.As(err, &why)
		why.State = "closed"
		d.tell(why)
		if d.held {
			wait = first
		}
		if err != errPush {
			pause, end := context.WithTimeout(ctx, time.Duration(float64(wait)*(0.5+rand.Float64())))
			<-pause.Done()
			end()
		}
	}
	return context.Cause(ctx)
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

func (d *Device) cut(why error) { d.with(func() { d.cutNow(why) }) }

func (d *Device) tell(s Status) {
	d.options.Log.Info(s.State, "detail", s.Detail, "reason", s.Reason)
	if d.options.OnStatus != nil {
		d.options.OnStatus(s)
	}
}

// finish ends the run.
func (d *Device) finish(state, detail string, s Status) {
	s.State, s.Detail = state, detail
	d.tell(s)
	d.with(func() { d.stop(s) })
}

// TakePush takes what FCM, APNs or Web Push brought, in the app's background too. wasShown: the
// system showed the notification, so the app must not.
func (d *Device) TakePush(ctx context.Context, data map[string]any, wasShown bool) {
	id, _ := strconv.ParseInt(strings.Trim(jsonOf(data["id"]), `"`), 10, 64)
	switch message, isThere := messageIn(data["message"]); {
	case id <= 0:
		return
	case wasShown && data["kind"] == "notification":
		d.change(func(s *state) { s.know(ack{ID: id, State: Received}) })
	case isThere && message.ID == id && !message.Stub:
		d.handle(ctx, message)
	default:
		d.later(d.fetch(ctx, "", 0))
	}
	d.later(d.sendAcks(ctx))
}

// Opened tells that the user opened a notification.
func (d *Device) Opened(ctx context.Context, id int64) {
	d.change(func(s *state) { s.owe(ack{ID: id, State: Opened}) })
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
	d.with(func() { d.push, d.isKnown = push, false })
	d.cut(errPush)
}

// Headers returns those by which a subscription's fetch names this device: x-hwid and its kin.
func (d *Device) Headers() http.Header { return headersOf(d.state().HWID, d.options.Registration) }

// register registers if it is due, and returns the token. It is due at each start of a device with
// pushes, as the gateway may have dropped a dead address, and of one that was led to its server by
// a subscription, as that server tells nothing of a dead token.
func (d *Device) register(ctx context.Context) (token string, err error) {
	var push *PushAddress
	isKnown, body := false, map[string]any{}
	d.with(func() { token, body["hwid"], push, isKnown = d.kept.Token, d.kept.HWID, d.push, d.isKnown })
	if isKnown && token != "" {
		return token, nil
	}
	for name, value := range d.options.Registration {
		body[name] = value
	}
	if push != nil {
		body["push"] = push
	}
	got, err := d.call(ctx, registerPath, body, 0)
	switch {
	case got.Msg == "":
		d.with(func() { d.doubted = token })
	case err == nil && got.Token != "":
		d.change(func(s *state) { s.Token, d.isKnown = got.Token, push == d.push })
	case d.state().Token == token && !slices.Contains([]string{"Too many requests", "Unknown error"}, got.Msg):
		d.finish("refused", got.Msg, got.Status)
	}
	return got.Token, err
}

// hear heeds what any answer may say: places that ended, and the death of the token. Then its slot
// ended, or the device registers again, once: two devices of one HWID would do it for ever.
func (d *Device) hear(got answer, token string) {
	for _, place := range got.Ended {
		place.State, place.Detail = "ended", place.Reason
		d.tell(place)
	}
	if got.Msg != tokenError || token == "" {
		return
	}
	end := ""
	d.change(func(s *state) {
		if s.Token != token {
			return
		}
		s.Token, d.isKnown, end = "", false, got.Reason
		if end == "" && token != d.doubted {
			if time.Since(d.renewedAt) < d.times(time.Hour) {
				end = "another device registers this HWID"
			}
			d.renewedAt = time.Now()
		}
	})
	if end != "" {
		d.finish("refused", end, got.Status)
	}
}

func (d *Device) polls(ctx context.Context) error {
	// The first one tells at once that the line is open, and how long others may wait.
	for query, wait := "", 0; ; query = "?wait=" + strconv.Itoa(wait) {
		// The server repeats a message at once until it is acknowledged.
		if err := cmp.Or(d.sendAcks(ctx), d.fetch(ctx, query, wait)); err != nil {
			return err
		}
		if !d.held {
			d.tell(Status{State: "open"})
		}
		d.with(func() { wait, d.held = d.pollSeconds, true })
	}
}

// fetch takes messages of the inbox.
func (d *Device) fetch(ctx context.Context, query string, wait int) error {
	got, err := d.call(ctx, "/inbox"+query, nil, wait)
	isInVain := func(one Message) bool { return one.Stub && strings.Contains(query, "id=") }
	return cmp.Or(err, d.take(ctx, slices.DeleteFunc(got.Data, isInVain)))
}

// sendAcks sends what is not confirmed, but what waits for its answer: on the stream, if one is open,
// else by calls.
func (d *Device) sendAcks(ctx context.Context) error {
	var line *stream
	var due []ack
	d.with(func() { line, due = d.line, d.line.due(d.kept.Acks) })
	for some := range slices.Chunk(due, acksEach) {
		if err := d.acknowledge(ctx, line, some); err != nil {
			return err
		}
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
	made := ack{ID: message.ID, State: d.state().seen(message.ID)}
	if made.State == "" {
		made = d.give(ctx, message)
	}
	// This repeats the write of the app: the state may have changed meanwhile.
	d.change(func(s *state) { d.isHandling = false; s.know(made) })
}

// give gives a message to the app, and returns what is acknowledged.
func (d *Device) give(ctx context.Context, message Message) ack {
	made := ack{ID: message.ID, State: usual[message.Type]}
	said, err := AckState(""), message.unknown()
	if err == nil {
		after := d.state()
		after.know(made)
		d.with(func() { d.isHandling = true })
		given := Delivery{message, message.Texts(d.options.Locale), message.Action(), jsonOf(after)}
		said, err = d.options.OnMessage(ctx, given)
	}
	if err != nil {
		d.options.Log.Warn("a message failed", "id", message.ID, "error", err)
		return ack{message.ID, Failed, detailOf(err)}
	}
	if said != Kept {
		made.State = cmp.Or(said, made.State)
	}
	return made
}

// state returns what is kept now.
func (d *Device) state() *state {
	var s state
	d.with(func() { s = d.kept })
	return &s
}

// change changes the state and writes it; while a message is handled, the write after that has it.
// A state that can't be written ends the connection.
func (d *Device) change(alter func(*state)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.kept
	if alter(&s); !d.isHandling {
		if err := d.options.Store.Write(jsonOf(s)); err != nil {
			d.options.Log.Error("the store failed", "error", err)
			d.cutNow(Status{Reason: "store", Detail: "the store: " + err.Error()})
			return
		}
	}
	d.kept = s
}
