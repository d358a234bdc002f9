// Package device is a device of a Gatepost provider: it registers, receives messages by a stream,
// by polls and by pushes, gives each message to the app once, and acknowledges it.
package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
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

// Options of a device. URL, Registration, Store and OnMessage are needed.
type Options struct {
	// URL is https://HOST of the appliance.
	URL string
	// Registration has the fields of POST /device/register but hwid and push.
	Registration map[string]string
	Store        Store
	// HWID is the one that the app has; empty: one is drawn and kept.
	HWID string
	// Locale is the language of texts, such as pt-BR.
	Locale string
	Push   *PushAddress
	// Polls is set where no socket may stay open.
	Polls bool
	// PingSeconds is the time between two pings of a stream, 15 to 600; 0: every 9 seconds.
	PingSeconds int
	// Pace multiplies all times, for tests; 0 is 1.
	Pace   float64
	Client *http.Client
	// OnMessage handles a new message, one after the other. Empty: it is acknowledged as received, a
	// command as executed; an error as failed. It must not call the device, which waits for it.
	OnMessage func(context.Context, Delivery) (AckState, error)
	// OnState receives open, closed, refused or replaced, with a reason.
	OnState func(state, reason string)
}

// ErrReplaced ends a device whose token another stream uses: do not start it again.
var ErrReplaced = errors.New("another stream of this device is in use")

// RefusedError ends a device that the server refused: show the reason to the user.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "refused: " + e.Reason }

const (
	closeToken    = websocket.StatusCode(4001)
	closeReplaced = websocket.StatusCode(4002)
	tokenError    = "Device token error"
	acksEach      = 100
	// A batch of the server has at most 100 messages, and it sends no more before they are known.
	queued = 128
)

// Device is a device. Make one with [New].
type Device struct {
	options Options
	line    *line

	// steps makes one step of reading, handling and writing the state after the other.
	steps sync.Mutex
	kept  *state

	// registering makes one registration after the other.
	registering sync.Mutex
	push        *PushAddress
	isKnown     bool
	renewedAt   time.Time
	// doubted is the token of a registration whose answer was lost: the new token was in it.
	doubted string

	endOnce sync.Once
	end     chan struct{}
	ending  error
}

// New makes a device. It fails if the address is none of a server.
func New(options Options) (*Device, error) {
	at, err := url.Parse(options.URL)
	if err != nil || at.Host == "" || (at.Scheme != "https" && at.Scheme != "http") {
		return nil, fmt.Errorf("the address %q must begin with https:// and name a host", options.URL)
	}
	if options.Pace == 0 {
		options.Pace = 1
	}
	if options.Client == nil {
		options.Client = http.DefaultClient
	}
	at.Path = strings.TrimRight(at.Path, "/")
	call := &line{url: at.String(), client: options.Client, pace: options.Pace, poll: pollSeconds}
	return &Device{options: options, line: call, push: options.Push, end: make(chan struct{})}, nil
}

// Run works until ctx ends, and returns why it ended: ctx.Err(), [ErrReplaced] or a
// [RefusedError]. What the server has not confirmed is sent at the next start.
func (d *Device) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-d.end:
			cancel()
		case <-ctx.Done():
		}
	}()
	first, longest := d.line.times(500*time.Millisecond), d.line.times(time.Minute)
	for wait := first; ; wait = min(2*wait, longest) {
		if d.session(ctx) {
			wait = first
		}
		pause := time.NewTimer(time.Duration(float64(wait) * (0.5 + rand.Float64())))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return d.why(ctx)
		}
	}
}

// session works with one connection, and returns whether it held for a while.
func (d *Device) session(ctx context.Context) bool {
	s, err := d.now()
	if err != nil {
		d.tell("closed", "the store: "+err.Error())
		return false
	}
	d.registering.Lock()
	// The gateway may have dropped a dead address: a device with pushes registers at each start.
	isDue := s.Token == "" || (d.push != nil && !d.isKnown)
	d.registering.Unlock()
	if isDue {
		d.register(ctx)
		s, err = d.now()
	}
	if err != nil || s.Token == "" || ctx.Err() != nil {
		return false
	}
	if d.options.Polls {
		return d.polls(ctx, s.Token)
	}
	return d.listen(ctx, s.Token)
}

func (d *Device) why(ctx context.Context) error {
	select {
	case <-d.end:
		return d.ending
	default:
		return ctx.Err()
	}
}

func (d *Device) finish(state string, ending error, reason string) {
	d.endOnce.Do(func() {
		d.ending = ending
		d.tell(state, reason)
		close(d.end)
	})
}

func (d *Device) tell(state, reason string) {
	if d.options.OnState != nil {
		d.options.OnState(state, reason)
	}
}

// TakePush takes what FCM, APNs or Web Push brought, in the app's background too. wasShown: the
// system showed the notification, so the app must not.
func (d *Device) TakePush(ctx context.Context, data map[string]any, wasShown bool) error {
	id, err := strconv.ParseInt(fmt.Sprint(data["id"]), 10, 64)
	if number, ok := data["id"].(float64); ok {
		id, err = int64(number), nil
	}
	if err != nil || id <= 0 {
		return nil
	}
	if wasShown && data["kind"] == "notification" {
		err = d.change(func(s state) state {
			if s.seen(id) != "" {
				return s
			}
			return s.knowing(ack{ID: id, State: Received})
		})
	} else if message, ok := messageIn(data["message"]); ok && message.ID == id {
		err = d.take(ctx, []Message{message})
	} else if !d.line.isOpen() {
		d.fetch(ctx, "", 0)
	}
	d.sendAcks(ctx)
	return err
}

// messageIn reads the message in a push; FCM sends it as text.
func messageIn(value any) (message Message, ok bool) {
	text, isText := value.(string)
	if !isText {
		encoded, _ := json.Marshal(value)
		text = string(encoded)
	}
	return message, json.Unmarshal([]byte(text), &message) == nil && message.Payload != nil
}

// Opened tells that the user opened a notification.
func (d *Device) Opened(ctx context.Context, id int64) error {
	err := d.change(func(s state) state { return s.owing(ack{ID: id, State: Opened}) })
	d.sendAcks(ctx)
	return err
}

// SetPush tells that the network gave another address; nil: none.
func (d *Device) SetPush(ctx context.Context, push *PushAddress) {
	d.registering.Lock()
	d.push, d.isKnown = push, false
	d.registering.Unlock()
	d.register(ctx)
}

// Headers returns those by which a subscription's fetch names this device: x-hwid and its kin.
func (d *Device) Headers() (http.Header, error) {
	s, err := d.now()
	headers := http.Header{}
	headers.Set("x-hwid", s.HWID)
	for name, field := range map[string]string{
		"x-device-os": "os", "x-ver-os": "os_version",
		"x-device-model": "device_name", "x-app-version": "app_version",
	} {
		if value := d.options.Registration[field]; value != "" {
			headers.Set(name, value)
		}
	}
	return headers, err
}

func (d *Device) register(ctx context.Context) {
	d.registering.Lock()
	defer d.registering.Unlock()
	s, err := d.now()
	if err != nil {
		return
	}
	body := map[string]any{"hwid": s.HWID}
	for name, value := range d.options.Registration {
		body[name] = value
	}
	if d.push != nil {
		body["push"] = d.push
	}
	got, err := d.line.ask(ctx, "/device/register", s.Token, body, 0)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		d.doubted = s.Token
		d.tell("closed", err.Error())
	case got.RC == 1 && got.Token != "":
		d.isKnown = d.change(func(s state) state { s.Token = got.Token; return s }) == nil
	case got.says() == tokenError && s.Token != "":
		d.forget(s.Token)
	case got.says() == "Too many requests" || got.says() == "Unknown error":
		d.tell("closed", got.says())
	default:
		d.finish("refused", &RefusedError{got.says()}, got.says())
	}
}

// drop forgets a token that died, after a registration that may have renewed it.
func (d *Device) drop(token string) {
	d.registering.Lock()
	defer d.registering.Unlock()
	d.forget(token)
}

// forget makes the device register again, once: two devices of one HWID would do it for ever.
func (d *Device) forget(token string) {
	if s, err := d.now(); err != nil || s.Token != token {
		return
	}
	if d.change(func(s state) state { s.Token = ""; return s }) != nil {
		return
	}
	d.isKnown = false
	if token == d.doubted {
		return
	}
	if !d.renewedAt.IsZero() && time.Since(d.renewedAt) < d.line.times(time.Hour) {
		reason := "another device registers this HWID"
		d.finish("refused", &RefusedError{reason}, reason)
	}
	d.renewedAt = time.Now()
}

func (d *Device) listen(ctx context.Context, token string) bool {
	batches := make(chan []Message, queued)
	handled := make(chan struct{})
	go func() {
		defer close(handled)
		for batch := range batches {
			// A state that can't be written ends the stream; the messages come again.
			if err := d.take(ctx, batch); err != nil {
				d.line.cut("the store: " + err.Error())
			}
			d.sendAcks(ctx)
		}
	}()
	end := d.line.hold(ctx, token, d.options.PingSeconds, func() {
		d.tell("open", "")
		d.sendAcks(ctx)
	}, func(got answer) {
		if got.Data != nil {
			batches <- got.Data
			return
		}
		// Those that the server refused for their form it will never take.
		if acks := d.line.answered(); acks != nil {
			_ = d.change(func(s state) state { return s.without(acks) })
		}
	})
	close(batches)
	<-handled
	if ctx.Err() != nil {
		return false
	}
	d.tell("closed", end.reason)
	switch {
	case end.code == closeReplaced:
		d.finish("replaced", ErrReplaced, "")
	case end.code == closeToken || end.badToken:
		d.drop(token)
	}
	return end.lastedMs >= d.line.times(10*time.Second)
}

func (d *Device) polls(ctx context.Context, token string) bool {
	for count := 0; ; count++ {
		wait := d.line.poll
		if count == 0 {
			// The first one tells at once that the line is open, and how long others may wait.
			wait = 0
		}
		// The server repeats a message at once until it is acknowledged.
		isWell := d.sendAcks(ctx) && d.fetch(ctx, token, wait)
		if ctx.Err() != nil {
			return false
		}
		if !isWell {
			if count > 0 {
				d.tell("closed", "no answer")
			}
			return count > 0
		}
		if count == 0 {
			d.tell("open", "")
		}
	}
}

// fetch takes the messages of the inbox; token empty: that of the state. False: it had no answer.
func (d *Device) fetch(ctx context.Context, token string, seconds int) bool {
	if token == "" {
		s, err := d.now()
		if token = s.Token; err != nil || token == "" {
			return false
		}
	}
	path := "/device/inbox"
	if seconds > 0 {
		path += "?wait=" + strconv.Itoa(seconds)
	}
	got, err := d.line.ask(ctx, path, token, nil, time.Duration(seconds)*time.Second)
	if err == nil && got.says() == tokenError {
		d.drop(token)
	}
	return err == nil && got.RC == 1 && d.take(ctx, got.Data) == nil
}

// sendAcks sends what is not confirmed, on the stream or by calls. False: some could not be sent.
func (d *Device) sendAcks(ctx context.Context) bool {
	s, err := d.now()
	var due []ack
	for _, one := range s.Acks {
		if !d.line.underWay(one) {
			due = append(due, one)
		}
	}
	for ; len(due) > 0; due = due[min(acksEach, len(due)):] {
		if err != nil || s.Token == "" || ctx.Err() != nil {
			return false
		}
		some := due[:min(acksEach, len(due))]
		if d.line.isOpen() {
			d.line.acknowledge(ctx, some)
			continue
		}
		got, err := d.line.ask(ctx, "/device/ack", s.Token, map[string]any{"items": some}, 0)
		if err != nil || got.RC != 1 {
			return false
		}
		_ = d.change(func(s state) state { return s.without(some) })
	}
	return true
}

func (d *Device) take(ctx context.Context, messages []Message) error {
	for _, message := range messages {
		if ctx.Err() != nil {
			return nil
		}
		if err := d.handle(ctx, message); err != nil {
			return err
		}
	}
	return nil
}

// handle gives a new message to the app. A copy is acknowledged again: the first may be lost.
func (d *Device) handle(ctx context.Context, message Message) error {
	d.steps.Lock()
	defer d.steps.Unlock()
	s, err := d.read()
	if err != nil {
		return err
	}
	if before := s.seen(message.ID); before != "" {
		return d.write(s.owing(ack{ID: message.ID, State: before}))
	}
	made := ack{ID: message.ID, State: Received}
	if message.Type == Command {
		made.State = Executed
	}
	known := s.knowing(made)
	err = message.unknown()
	if err == nil {
		var said AckState
		said, err = d.options.OnMessage(ctx, Delivery{message, message.Texts(d.options.Locale), message.Action(), known.text()})
		if said == Kept && err == nil {
			d.kept = &known
			return nil
		}
		if said != "" {
			made.State = said
		}
	}
	if err != nil {
		made.State, made.Detail = Failed, err.Error()
	}
	return d.write(s.knowing(made))
}

func (d *Device) now() (state, error) {
	d.steps.Lock()
	defer d.steps.Unlock()
	return d.read()
}

func (d *Device) change(changed func(state) state) error {
	d.steps.Lock()
	defer d.steps.Unlock()
	s, err := d.read()
	if err != nil {
		return err
	}
	return d.write(changed(s))
}

// read returns the state, in a step.
func (d *Device) read() (state, error) {
	if d.kept != nil {
		return *d.kept, nil
	}
	text, err := d.options.Store.Read()
	if err != nil {
		return state{}, err
	}
	// A HWID that was drawn is kept before it is used.
	s := readState(text, d.options.HWID)
	return s, d.write(s)
}

// write keeps the state, in a step.
func (d *Device) write(s state) error {
	if err := d.options.Store.Write(s.text()); err != nil {
		return err
	}
	d.kept = &s
	return nil
}
