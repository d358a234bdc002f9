// Package device is a device of a Gatepost provider: it registers, receives messages by a stream,
// by polls and by pushes, gives each message to the app once, and acknowledges it.
package device

import (
	"cmp"
	"context"
	crypto "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
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
	// Action is that of a command; empty: a notification. State is what the device keeps, with this
	// message in it: an app that writes it to its store in the transaction of its own effect returns
	// [Kept]; then the message is handled exactly once, else at least once.
	Action, State string
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
	// tls, timeout, not_json, wrong_path, bad_url, store, or lost for any other. Text is for the user,
	// in the language of the device.
	Reason, Text string
	// Limit is how many devices the link may have.
	Limit int
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

const tokenError, devicePath, registerPath, bearer = "Device token error", "/device", "/register", "Bearer "

const firstPause, answerSeconds, silenceSeconds, pollSeconds, pollSecondsMax = 0.5, 30, 30, 60, 240

// A batch of the server has at most 100 messages, and it sends no more than 100 before they are known.
const acksEach, queued, answerBytesMax, version, keptMax = 100, 128, 16 << 20, 1, 1_000

func timeout(why string) error { return Status{Reason: "timeout", Detail: why} }

// Device is a device. Make one with [New].
type Device struct {
	options Options
	// Each lets one in: a run, a call of the app's handler, and who works with the fields at the end.
	running, handling, mu sync.Mutex
	// pause is the one after this connection.
	pause time.Duration
	// gaveUp: a handshake was given up without an answer since the last stream that held for a while.
	// isHandling, guarded by mu: the app may have written a state of its own, over which none may be
	// written.
	gaveUp, isHandling bool
	// kept is never changed, but replaced, by [Device.change] alone.
	kept atomic.Pointer[state]

	// push is the address for pushes; registered is the one that the server has.
	push       atomic.Pointer[PushAddress]
	registered *PushAddress

	// mu guards what follows.

	// socket is the open stream, or nil. sent are the frames of acknowledgements that wait for its answer.
	socket    *websocket.Conn
	sent      [][]ack
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
	none := func(error) {}
	if _, err := serverAt(o.URL); err != nil {
		return nil, err
	}
	kept, err := readState(o.Store, o.HWID)
	o.URL, o.Path = strings.TrimRight(o.URL, "/"), cmp.Or(o.Path, devicePath)
	o.Pace, o.Client = cmp.Or(o.Pace, 1), cmp.Or(o.Client, http.DefaultClient)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	d := &Device{options: o, pollSeconds: pollSeconds, cutNow: none, stop: none}
	d.push.Store(o.Push)
	if d.kept.Store(&kept); o.Path != devicePath {
		// A server that a subscription names tells nothing of a dead token: a registration is due.
		d.registered = &PushAddress{}
	}
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
	for d.pause = d.seconds(firstPause); ctx.Err() == nil; d.pause = min(2*d.pause, d.seconds(60)) {
		connection, cut := context.WithCancelCause(ctx)
		d.with(func() { d.stop, d.cutNow = stop, cut })
		token, err := d.register(connection)
		if err == nil && d.options.Polls {
			err = d.polls(connection)
		} else if err == nil {
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
		pause, end := context.WithTimeout(ctx, time.Duration(float64(d.pause)*(0.5+rand.Float64())))
		<-pause.Done()
		end()
	}
	return context.Cause(ctx)
}

// with works with the fields that mu guards.
func (d *Device) with(work func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	work()
}

func (d *Device) seconds(n float64) time.Duration { return time.Duration(n * d.options.Pace * 1e9) }

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
// system showed the notification, so the app must not. After an error the next connection does the
// rest.
func (d *Device) TakePush(ctx context.Context, data map[string]any, wasShown bool) (err error) {
	id, _ := strconv.ParseInt(strings.Trim(jsonOf(data["id"]), `"`), 10, 64)
	// FCM sends the message as a text.
	var message Message
	text := jsonOf(data["message"])
	_ = json.Unmarshal([]byte(text), &text)
	switch isRead := json.Unmarshal([]byte(text), &message) == nil; {
	case id <= 0:
		return nil
	case wasShown && data["kind"] == "notification":
		d.change(func(s *state) { s.know(ack{ID: id, State: Received}) })
	case isRead && message.ID == id && message.Payload != nil && !message.Stub:
		d.handle(ctx, message)
	default:
		err = d.fetch(ctx, "", 0)
	}
	return cmp.Or(err, d.sendAcks(ctx))
}

// Opened tells that the user opened a notification. After an error the next connection tells it.
func (d *Device) Opened(ctx context.Context, id int64) error {
	d.change(func(s *state) { s.owe(ack{ID: id, State: Opened}) })
	return d.sendAcks(ctx)
}

// SetPush tells that the network gave another address; nil: none. The device registers it after
// the first pause, or when it runs.
func (d *Device) SetPush(push *PushAddress) {
	d.push.Store(push)
	d.cut(Status{Reason: "lost", Detail: "another address for pushes"})
}

// Headers returns those by which a subscription's fetch names this device: x-hwid and its kin.
func (d *Device) Headers() http.Header { return headersOf(d.kept.Load().HWID, d.options.Registration) }

// register registers if it is due, and returns the token. It is due at each start of a device with
// pushes, as the gateway may have dropped a dead address, and of one that was led to its server by
// a subscription, as that server tells nothing of a dead token.
func (d *Device) register(ctx context.Context) (token string, err error) {
	kept, push := d.kept.Load(), d.push.Load()
	if push == d.registered && kept.Token != "" {
		return kept.Token, nil
	}
	body := map[string]any{"hwid": kept.HWID}
	for name, value := range d.options.Registration {
		body[name] = value
	}
	if push != nil {
		body["push"] = push
	}
	got, err := d.call(ctx, registerPath, body, 0)
	switch {
	case got.Msg == "":
		d.with(func() { d.doubted = kept.Token })
	case err == nil && got.Token != "":
		d.registered = push
		d.change(func(s *state) { s.Token = got.Token })
	case d.kept.Load().Token == kept.Token && !slices.Contains([]string{"Too many requests", "Unknown error"}, got.Msg):
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
		s.Token, end = "", got.Reason
		if end == "" && token != d.doubted {
			if time.Since(d.renewedAt) < d.seconds(3_600) {
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
		if query == "" {
			d.tell(Status{State: "open"})
		}
		d.with(func() { wait, d.pause = d.pollSeconds, d.seconds(firstPause) })
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
func (d *Device) sendAcks(ctx context.Context) (err error) {
	var socket *websocket.Conn
	var due []ack
	d.with(func() {
		socket, due = d.socket, without(d.kept.Load().Acks, slices.Concat(d.sent...))
		if due = due[:min(len(due), acksEach)]; socket != nil && len(due) > 0 {
			cut := d.cutNow
			d.sent = append(d.sent, due)
			time.AfterFunc(d.seconds(answerSeconds), func() {
				if slices.Contains(d.kept.Load().Acks, due[0]) {
					cut(timeout("no answer"))
				}
			})
		}
	})
	body := map[string]any{"items": due}
	if len(due) == 0 {
		return nil
	} else if socket != nil {
		err = wsjson.Write(ctx, socket, body)
	} else if _, err = d.call(ctx, "/ack", body, 0); err == nil {
		d.change(func(s *state) { s.Acks = without(s.Acks, due) })
	}
	if err == nil {
		err = d.sendAcks(ctx)
	}
	return err
}

func (d *Device) take(ctx context.Context, messages []Message) error {
	for _, message := range messages {
		if message.Stub && d.kept.Load().seen(message.ID) == "" {
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
	after, said, err := *d.kept.Load(), AckState(""), message.unknown()
	made := ack{ID: message.ID, State: after.seen(message.ID)}
	if made.State == "" && err == nil {
		made.State = usual[message.Type]
		after.know(made)
		d.with(func() { d.isHandling = true })
		given := Delivery{message, message.Texts(d.options.Locale), message.Action(), jsonOf(after)}
		said, err = d.options.OnMessage(ctx, given)
	}
	if err != nil {
		d.options.Log.Warn("a message failed", "id", message.ID, "error", err)
		line := strings.Join(strings.FieldsFunc(err.Error(), unicode.IsControl), " ")
		made = ack{message.ID, Failed, fmt.Sprintf("%.255s", line)}
	} else if said != Kept {
		made.State = cmp.Or(said, made.State)
	}
	// This repeats the write of the app: the state may have changed meanwhile.
	d.change(func(s *state) { d.isHandling = false; s.know(made) })
}

// change changes the state and writes it; while a message is handled, the write after that has it.
// A state that can't be written ends the connection.
func (d *Device) change(alter func(*state)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := *d.kept.Load()
	if alter(&s); !d.isHandling {
		if err := d.options.Store.Write(jsonOf(s)); err != nil {
			d.options.Log.Error("the store failed", "error", err)
			d.cutNow(Status{Reason: "store", Detail: "the store: " + err.Error()})
			return
		}
	}
	d.kept.Store(&s)
}

// answer is that of a call, and a frame of a stream.
type answer struct {
	Status
	RC    int       `json:"rc"`
	Msg   string    `json:"msg"`
	Token string    `json:"device_token"`
	Data  []Message `json:"data"`
	Ended []Status  `json:"ended"`
}

const closeToken, closeReplaced, closeEnded websocket.StatusCode = 4001, 4002, 4004

func (d *Device) headers(token string) http.Header {
	return filled(http.Header{
		"Accept-Language": {d.options.Locale}, "Authorization": {bearer + token},
		"Content-Type": {"application/json"}, "X-Frame-Max": {strconv.Itoa(d.options.FrameMax)},
	})
}

// call makes a call, and heeds what its answer says; body nil: a GET. An error says what stood where
// the server's answer should, or that it refused.
func (d *Device) call(ctx context.Context, path string, body any, wait int) (got answer, err error) {
	token := d.kept.Load().Token
	if token == "" && path != registerPath {
		return got, Status{Reason: "refused", Detail: "it is not registered"}
	}
	ctx, cancel := context.WithTimeout(ctx, d.seconds(answerSeconds)+time.Duration(wait)*time.Second)
	defer cancel()
	method, sent := http.MethodGet, ""
	if body != nil {
		method, sent = http.MethodPost, jsonOf(body)
	}
	request, _ := http.NewRequestWithContext(ctx, method, d.options.URL+d.options.Path+path, strings.NewReader(sent))
	request.Header = d.headers(token)
	response, err := d.options.Client.Do(request)
	if err == nil {
		defer response.Body.Close()
		err = json.NewDecoder(http.MaxBytesReader(nil, response.Body, answerBytesMax)).Decode(&got)
	}
	if err != nil || got.Msg == "" || response.StatusCode == http.StatusNotFound {
		return got, d.fault(err, response)
	}
	if path != "/ack" {
		named, _ := strconv.Atoi(response.Header.Get("X-Wait-Max"))
		d.with(func() { d.pollSeconds = min(cmp.Or(max(named, 0), pollSeconds), pollSecondsMax) })
	}
	if d.hear(got, token); got.RC != 1 {
		err = Status{Reason: "refused", Detail: got.Msg}
	}
	return got, err
}

// fault says what an error of connecting is, or an answer that is none of the server.
func (d *Device) fault(err error, got *http.Response) error {
	name, late := (*net.DNSError)(nil), net.Error(nil)
	text := fmt.Sprint(err)
	reason, what := "lost", "broke off: "+text
	switch {
	case errors.As(err, &name):
		reason, what = "name", "has a name that no host has"
	case errors.Is(err, syscall.ECONNREFUSED):
		reason, what = "refused_port", "refuses connections to its port"
	case errors.As(err, &late) && late.Timeout():
		reason, what = "timeout", "does not answer in time"
	case strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ") || strings.Contains(text, "HTTPS client"):
		reason, what = "tls", "has no TLS that can be trusted: "+text
	case got != nil && got.StatusCode == http.StatusNotFound:
		reason, what = "wrong_path", "does not have the path of devices: check the address"
	case got != nil && got.StatusCode == http.StatusUnauthorized:
		return websocket.CloseError{Code: closeToken, Reason: got.Status}
	case got != nil:
		reason, what = "not_json", fmt.Sprintf("is not Gatepost: it answers %s, %q", got.Status, got.Header.Get("Content-Type"))
	}
	return Status{Reason: reason, Detail: d.options.URL + " " + what}
}

// answered takes the oldest frame that waits: the server has it. What it refused for its form it will
// never take.
func (d *Device) answered(s *state) {
	if len(d.sent) > 0 {
		s.Acks, d.sent = without(s.Acks, d.sent[0]), d.sent[1:]
	}
}

// listen works with a stream.
func (d *Device) listen(ctx context.Context, token string) error {
	err := d.stream(ctx, token)
	switch code := websocket.CloseStatus(err); {
	case code == closeReplaced && d.gaveUp:
		// It was a late attempt of this device.
		d.gaveUp = false
	case code == closeReplaced:
		d.finish("replaced", "another stream of this device is in use", Status{})
	case code == closeToken || code == closeEnded:
		// The inbox says why, with the text for the user.
		_ = d.fetch(ctx, "", 0)
	}
	return err
}

// stream opens a stream, and works with it.
func (d *Device) stream(ctx context.Context, token string) error {
	// A ping of 0 is not said.
	address := strings.TrimSuffix(d.options.URL+d.options.Path+"/stream?ping="+strconv.Itoa(d.options.PingSeconds), "?ping=0")
	bears := d.seconds(silenceSeconds)
	silence := time.AfterFunc(d.seconds(answerSeconds), func() { d.cut(timeout("silence")) })
	defer silence.Stop()
	heard := func(context.Context, []byte) bool { return silence.Reset(bears) || true }
	socket, response, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: d.options.Client, HTTPHeader: d.headers(token), OnPingReceived: heard,
	})
	if err != nil {
		d.gaveUp = d.gaveUp || ctx.Err() != nil
		return d.fault(err, response)
	}
	defer socket.CloseNow()
	socket.SetReadLimit(answerBytesMax)
	named, _ := strconv.Atoi(response.Header.Get("X-Ping-Interval"))
	bears = max(bears, d.seconds(float64(2*named+10)))
	heard(ctx, nil)
	since := time.Now()
	d.with(func() { d.socket = socket })
	d.tell(Status{State: "open"})
	_ = d.sendAcks(ctx)
	batches := make(chan []Message, queued)
	go func() {
		defer close(batches)
		for err == nil {
			var got answer
			if err = wsjson.Read(ctx, socket, &got); err == nil {
				heard(ctx, nil)
				if d.hear(got, token); got.Data == nil && got.Msg != "" {
					d.change(d.answered)
				}
				batches <- got.Data
			}
		}
	}()
	for batch := range batches {
		// A failure ends the stream; the messages come again.
		if fault := cmp.Or(d.take(ctx, batch), d.sendAcks(ctx)); fault != nil {
			d.cut(fault)
		}
	}
	d.with(func() { d.socket, d.sent = nil, nil })
	if time.Since(since) >= d.seconds(10) {
		d.pause, d.gaveUp = d.seconds(firstPause), false
	}
	return err
}

// Message is a message as the server sent it.
type Message struct {
	// ID is the same in every copy, and in acknowledgements.
	ID int64 `json:"id"`
	// Type is 10 for a notification, 20 for a command.
	Type      int                        `json:"notification_type"`
	CreatedAt string                     `json:"created_at"`
	ExpiresAt string                     `json:"expires_at"`
	Payload   map[string]json.RawMessage `json:"payload"`
	// Stub is set where the message itself is to be fetched: it is larger than the device's frames.
	Stub bool `json:"stub"`
}

// The types of messages.
const Notification, Command = 10, 20

// usual is what a message is acknowledged as.
var usual = map[int]AckState{Notification: Received, Command: Executed}

var actions = []string{"import-data", "update-subscription", "set-settings", "sub-change"}

// Action returns the action of a command; empty for a notification.
func (m Message) Action() string { return textIn(m.Payload, "action_type") }

// unknown says why a message can't be handled; nil: it can be.
func (m Message) unknown() error {
	if m.Type == Notification || m.Type == Command && slices.Contains(actions, m.Action()) {
		return nil
	}
	return fmt.Errorf("unknown notification_type %d or action_type %q", m.Type, m.Action())
}

// Texts are those of a message in the language of the device. What is empty is not there.
type Texts struct {
	// Title is plain text; HTML was filtered by the server; Plain is the same as text with line
	// breaks; Link is what a tap opens.
	Title, HTML, Plain, Link string
}

// Texts returns the texts for a locale (`pt-BR`), else for its language, else the general ones.
func (m Message) Texts(locale string) Texts {
	own := localeIn(m.Payload["locales"], locale)
	of := func(name, ownName string) string { return cmp.Or(textIn(own, ownName), textIn(m.Payload, name)) }
	body := of("body", "body")
	return Texts{of("title", "title"), body, plainText(body), of("link_for_open", "link-for-open")}
}

func textIn(record map[string]json.RawMessage, name string) (text string) {
	_ = json.Unmarshal(record[name], &text)
	return text
}

// localeIn returns the best texts; of equal ones those whose tag is the first in the alphabet.
func localeIn(locales json.RawMessage, locale string) map[string]json.RawMessage {
	var all map[string]map[string]json.RawMessage
	// One that is of another type becomes nil.
	_ = json.Unmarshal(locales, &all)
	wanted := tidyTag(locale)
	language, _, _ := strings.Cut(wanted, "-")
	for _, pattern := range []string{wanted, language, language + "-*"} {
		for _, tag := range slices.Sorted(maps.Keys(all)) {
			if isIt, _ := path.Match(pattern, tidyTag(tag)); isIt && all[tag] != nil {
				return all[tag]
			}
		}
	}
	return nil
}

// tidyTag spells a tag in one way. Providers write CN for Chinese.
func tidyTag(tag string) string {
	tidy := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(tag)), "_", "-")
	return cmp.Or(map[string]string{"cn": "zh-cn"}[tidy], tidy)
}

var breaks = regexp.MustCompile(`(?i)<br ?/?>|</(?:p|div|li|h[1-6]|tr|blockquote|pre)>`)
var tags = regexp.MustCompile(`<[^<>]*>`)
var tidyEnds = regexp.MustCompile(` *\n *`)
var gaps = regexp.MustCompile(`\n{3,}`)

// plainText returns filtered HTML as text: blocks become line breaks, entities are decoded.
func plainText(body string) string {
	text := breaks.ReplaceAllString(strings.Join(strings.Fields(body), " "), "\n")
	text = strings.ReplaceAll(html.UnescapeString(tags.ReplaceAllString(text, "")), "\u00a0", " ")
	return strings.TrimSpace(gaps.ReplaceAllString(tidyEnds.ReplaceAllString(text, "\n"), "\n\n"))
}

// AckState is what became of a message.
type AckState string

// The states of the protocol.
const Received, Opened, Executed, Failed AckState = "received", "opened", "executed", "failed"

// Kept is no state: the app wrote [Delivery.State] itself.
const Kept AckState = "kept"

// Store keeps one text of the app over restarts. Write replaces it whole: a text that is written
// in part must never be read. Read returns an empty text if there is none.
type Store interface {
	Read() (string, error)
	Write(text string) error
}

// FileStore is a [Store] in the file of its name, which it replaces by renaming.
type FileStore string

// Read returns the text of the file.
func (f FileStore) Read() (string, error) {
	text, err := os.ReadFile(string(f))
	if os.IsNotExist(err) {
		return "", nil
	}
	return string(text), err
}

// Write replaces the file.
func (f FileStore) Write(text string) error {
	next := string(f) + ".new"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(next, string(f))
}

type ack struct {
	ID     int64    `json:"id"`
	State  AckState `json:"state"`
	Detail string   `json:"detail,omitempty"`
}

// known is a message and what was acknowledged of it first: a pair in JSON.
type known ack

func (k known) MarshalJSON() ([]byte, error) { return json.Marshal([]any{k.ID, k.State}) }

func (k *known) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&k.ID, &k.State})
}

// state is what a device keeps. No method changes a slice that another state has.
type state struct {
	Version int    `json:"version"`
	HWID    string `json:"hwid"`
	// Token is empty until the device is registered.
	Token string `json:"token,omitempty"`
	// Seen has the last messages, the oldest first.
	Seen []known `json:"seen,omitempty"`
	// Acks are those that the server has not confirmed.
	Acks []ack `json:"acks,omitempty"`
}

// readState reads a text. A missing or broken one, or one of another HWID, makes a new device: a
// token belongs to the HWID that was registered.
func readState(store Store, hwid string) (kept state, err error) {
	text, err := store.Read()
	if err != nil {
		return kept, err
	}
	isKept := json.Unmarshal([]byte(text), &kept) == nil && kept.Version == version && kept.HWID != ""
	if !isKept || cmp.Or(hwid, kept.HWID) != kept.HWID {
		// Random: it does not identify the phone. It is kept before it is used.
		kept = state{Version: version, HWID: cmp.Or(hwid, fmt.Sprintf("%x", crypto.Text()[:16]))}
	}
	return kept, store.Write(jsonOf(kept))
}

func jsonOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// seen returns the acknowledged state of a message; empty: it is new.
func (s *state) seen(id int64) AckState {
	if at := slices.IndexFunc(s.Seen, func(one known) bool { return one.ID == id }); at >= 0 {
		return s.Seen[at].State
	}
	return ""
}

// know adds a message and its acknowledgement, which waits.
func (s *state) know(a ack) {
	if s.seen(a.ID) == "" {
		s.Seen = last(append(slices.Clip(s.Seen), known{ID: a.ID, State: a.State}), keptMax)
	}
	s.owe(a)
}

// owe adds an acknowledgement that waits.
func (s *state) owe(a ack) { s.Acks = last(append(without(s.Acks, []ack{a}), a), keptMax) }

// without returns acknowledgements without those that are gone, in a slice of its own.
func without(acks []ack, gone []ack) []ack {
	return slices.DeleteFunc(slices.Clone(acks), func(one ack) bool { return slices.Contains(gone, one) })
}

func last[T any](all []T, most int) []T { return all[max(0, len(all)-most):] }

// filled takes headers without a value away.
func filled(all http.Header) http.Header {
	maps.DeleteFunc(all, func(_ string, values []string) bool { return slices.Contains(nothing, values[0]) })
	return all
}

var nothing = []string{"", "0", bearer}

var serverPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// serverAt reads an address.
func serverAt(address string) (*url.URL, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" {
		what := fmt.Sprintf("the address %q does not begin with https:// and a host", address)
		err = Status{State: "refused", Reason: "bad_url", Detail: what}
	}
	return at, err
}

// Discover reads the answer to a subscription's fetch: the address that was fetched, and the
// headers. It returns options with URL, Path and Registration of a server on the same host; false:
// the answer names none.
func Discover(fetched string, headers http.Header) (o Options, isFound bool) {
	at, err := serverAt(fetched)
	if o.Path = headers.Get("X-Device-Server"); err != nil || !serverPath.MatchString(o.Path) || path.Clean(o.Path) != o.Path {
		return o, false
	}
	o.URL, o.Registration = at.Scheme+"://"+at.Host, map[string]string{"subscription_url": fetched}
	return o, true
}

// FetchHeaders returns the headers for a subscription's fetch before there is a device: they ask for
// the server of [Discover]. A HWID that was drawn is kept in the store, where the device finds it.
func FetchHeaders(store Store, registration map[string]string, hwid string) (http.Header, error) {
	s, err := readState(store, hwid)
	return headersOf(s.HWID, registration), err
}

func headersOf(hwid string, facts map[string]string) http.Header {
	return filled(http.Header{
		"X-Hwid": {hwid}, "X-Device-Protocol": {"1"}, "X-Device-Os": {facts["os"]},
		"X-Ver-Os": {facts["os_version"]}, "X-Device-Model": {facts["device_name"]}, "X-App-Version": {facts["app_version"]},
	})
}
