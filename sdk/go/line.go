package device

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

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

const answerWait, silenceBorne = 30 * time.Second, 30 * time.Second

const answerBytesMax, pollSeconds, pollSecondsMax = 16 << 20, 60, 240

// UnmarshalJSON refuses what is no answer of the server.
func (a *answer) UnmarshalJSON(text []byte) error {
	type fields answer
	if err := json.Unmarshal(text, (*fields)(a)); err != nil || a.Msg != "" {
		return err
	}
	return Status{Reason: "not_json", Detail: "a frame is not an answer of the server"}
}

func (d *Device) headers(token string) http.Header {
	// A frame of 0 bytes is not said.
	frameMax := strings.TrimLeft(strconv.Itoa(d.options.FrameMax), "0")
	all := filled(http.Header{"Accept-Language": {d.options.Locale}, "X-Frame-Max": {frameMax}})
	if token != "" {
		all.Set("Authorization", "Bearer "+token)
	}
	return all
}

// call makes a call, and heeds what its answer says; body nil: a GET. An error says what stood where
// the server's answer should, or that it refused.
func (d *Device) call(ctx context.Context, path string, body any, wait int) (got answer, err error) {
	token := d.state().Token
	if token == "" && path != registerPath {
		return got, Status{Reason: "refused", Detail: "it is not registered"}
	}
	ctx, cancel := context.WithTimeout(ctx, d.times(answerWait)+time.Duration(wait)*time.Second)
	defer cancel()
	method, sent := http.MethodGet, ""
	if body != nil {
		method, sent = http.MethodPost, jsonOf(body)
	}
	request, _ := http.NewRequestWithContext(ctx, method, d.base+path, strings.NewReader(sent))
	request.Header = d.headers(token)
	request.Header.Set("Content-Type", "application/json")
	response, err := d.options.Client.Do(request)
	if err != nil {
		return got, d.fault(err, nil)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax))
	if err != nil {
		return got, d.fault(err, nil)
	}
	if err = json.Unmarshal(text, &got); err != nil || response.StatusCode == http.StatusNotFound {
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
	var name *net.DNSError
	var late net.Error
	text := fmt.Sprint(err)
	reason, what := "lost", "broke off: "+text
	switch {
	case got != nil && got.StatusCode == http.StatusNotFound:
		reason, what = "wrong_path", "does not have the path of devices: check the address"
	case got != nil && got.StatusCode == http.StatusUnauthorized:
		return websocket.CloseError{Code: closeToken, Reason: got.Status}
	case got != nil:
		reason, what = "not_json", fmt.Sprintf("is not Gatepost: it answers %s, %q", got.Status, got.Header.Get("Content-Type"))
	case errors.As(err, &name):
		reason, what = "name", "has a name that no host has"
	case errors.Is(err, syscall.ECONNREFUSED):
		reason, what = "refused_port", "refuses connections to its port"
	case errors.As(err, &late) && late.Timeout():
		reason, what = "timeout", "does not answer in time"
	case strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ") || strings.Contains(text, "HTTPS client"):
		reason, what = "tls", "has no TLS that can be trusted: "+text
	}
	return Status{Reason: reason, Detail: d.options.URL + " " + what}
}

// stream is an open stream.
type stream struct {
	*websocket.Conn
	cut context.CancelCauseFunc
	// silence ends it when nothing was heard for as long as it bears.
	silence *time.Timer
	bears   time.Duration
	// sent has what waits for its answer.
	sent []frame
}

// frame is one of acknowledgements.
type frame struct {
	acks []ack
	late *time.Timer
}

func (s *stream) heard(context.Context, []byte) bool { return s.silence.Reset(s.bears) || true }

// due returns acknowledgements without those that wait for their answers.
func (s *stream) due(acks []ack) []ack {
	for _, sent := range s.sent {
		acks = without(acks, sent.acks)
	}
	return acks
}

// answered takes the oldest frame that waits for its answer: it has it. Those that the server
// refused for their form it will never take.
func (s *stream) answered(kept *state) {
	if len(s.sent) > 0 {
		s.sent[0].late.Stop()
		kept.Acks, s.sent = without(kept.Acks, s.sent[0].acks), s.sent[1:]
	}
}

// cutAfter ends the connection of the stream after a time.
func (s *stream) cutAfter(t time.Duration, why string) *time.Timer {
	return time.AfterFunc(t, func() { s.cut(Status{Reason: "timeout", Detail: why}) })
}

// dial opens a stream.
func (d *Device) dial(ctx context.Context, token string) (*stream, error) {
	address, line := d.base+"/stream", &stream{bears: d.times(silenceBorne), cut: d.cutNow}
	if d.options.PingSeconds > 0 {
		address += "?ping=" + strconv.Itoa(d.options.PingSeconds)
	}
	dialing, cancel := context.WithTimeout(ctx, d.times(answerWait))
	defer cancel()
	socket, response, err := websocket.Dial(dialing, address, &websocket.DialOptions{
		HTTPClient: d.options.Client, HTTPHeader: d.headers(token), OnPingReceived: line.heard,
	})
	if err != nil {
		d.gaveUp = d.gaveUp || dialing.Err() != nil
		return nil, d.fault(err, response)
	}
	socket.SetReadLimit(answerBytesMax)
	named, _ := strconv.Atoi(response.Header.Get("X-Ping-Interval"))
	line.Conn, line.bears = socket, max(line.bears, d.times(time.Duration(2*named+10)*time.Second))
	line.silence = line.cutAfter(line.bears, "silence")
	return line, nil
}

// listen works with a stream.
func (d *Device) listen(ctx context.Context, token string) error {
	line, err := d.dial(ctx, token)
	if err == nil {
		err = d.stream(ctx, token, line)
	}
	wasLate := d.gaveUp && !d.held
	d.gaveUp = wasLate && websocket.CloseStatus(err) != closeReplaced
	switch code := websocket.CloseStatus(err); {
	case code == closeReplaced && !wasLate:
		d.finish("replaced", "another stream of this device is in use", Status{})
	case code == closeToken || code == closeEnded:
		// The inbox says why, with the text for the user.
		d.later(d.fetch(ctx, "", 0))
	}
	return err
}

// stream works with an open stream.
func (d *Device) stream(ctx context.Context, token string, line *stream) (err error) {
	defer line.silence.Stop()
	defer line.CloseNow()
	since := time.Now()
	d.with(func() { d.line = line })
	d.tell(Status{State: "open"})
	d.later(d.sendAcks(ctx))
	batches := make(chan []Message, queued)
	go func() {
		defer close(batches)
		for err == nil {
			var got answer
			if err = wsjson.Read(ctx, line.Conn, &got); err == nil {
				line.heard(ctx, nil)
				if d.hear(got, token); got.Data == nil {
					d.change(line.answered)
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
	d.with(func() { d.line = &stream{} })
	d.held = time.Since(since) >= d.times(10*time.Second)
	return err
}

// acknowledge sends acknowledgements. A missing answer ends the stream, and they go again.
func (d *Device) acknowledge(ctx context.Context, line *stream, acks []ack) error {
	body := map[string]any{"items": acks}
	if line.Conn != nil {
		late := line.cutAfter(d.times(answerWait), "no answer")
		d.with(func() { line.sent = append(line.sent, frame{acks, late}) })
		return wsjson.Write(ctx, line.Conn, body)
	}
	_, err := d.call(ctx, "/ack", body, 0)
	if err == nil {
		d.change(func(s *state) { s.Acks = without(s.Acks, acks) })
	}
	return err
}

// filled takes empty headers away.
func filled(all http.Header) http.Header {
	maps.DeleteFunc(all, func(_ string, values []string) bool { return values[0] == "" })
	return all
}

var serverPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func isServer(at *url.URL) bool {
	return at.Host != "" && (at.Scheme == "https" || at.Scheme == "http")
}

// Discover reads the answer to a subscription's fetch: the address that was fetched, and the
// headers. It returns options with URL, Path and Registration of a server on the same host; false:
// the answer names none.
func Discover(fetched string, headers http.Header) (o Options, isFound bool) {
	at, err := url.Parse(fetched)
	o.Path = headers.Get("X-Device-Server")
	if err != nil || !isServer(at) || !serverPath.MatchString(o.Path) || path.Clean(o.Path) != o.Path {
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

func headersOf(hwid string, registration map[string]string) http.Header {
	return filled(http.Header{
		"X-Hwid": {hwid}, "X-Device-Protocol": {"1"}, "X-Device-Os": {registration["os"]},
		"X-Ver-Os": {registration["os_version"]}, "X-Device-Model": {registration["device_name"]},
		"X-App-Version": {registration["app_version"]},
	})
}
