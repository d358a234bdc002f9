package device

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

// answer is that of a call, and a frame of a stream.
type answer struct {
	Status
	RC    int       `json:"rc"`
	Msg   *string   `json:"msg"`
	Token string    `json:"device_token"`
	Data  []Message `json:"data"`
	Ended []Status  `json:"ended"`
}

const (
	answerWait     = 30 * time.Second
	pollSeconds    = 60
	pollSecondsMax = 240
	pingSeconds    = 9
	answerBytesMax = 16 << 20
)

// Fault is why there is no answer. Its Reason is one word: refused_port, name, tls, timeout,
// not_json, wrong_path, bad_url, or lost for any other.
type Fault struct{ Reason, Sentence string }

func (f *Fault) Error() string { return f.Sentence }

func reasonOf(err error) string {
	var fault *Fault
	if errors.As(err, &fault) {
		return fault.Reason
	}
	return "lost"
}

// errToken: a handshake was answered with 401.
var errToken = &Fault{"lost", "the token is no device's any more"}

// frame is one of acknowledgements whose answer is to come.
type frame struct {
	acks []ack
	late *time.Timer
}

func baseOf(address, path string) (string, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || (at.Scheme != "https" && at.Scheme != "http") {
		return "", &Fault{"bad_url", fmt.Sprintf("the address %q does not begin with https:// and a host", address)}
	}
	return strings.TrimRight(address, "/") + path, nil
}

func (d *Device) headers(token string) http.Header {
	said := map[string]string{"Accept-Language": d.options.Locale, "Content-Type": "application/json"}
	if d.options.FrameMax > 0 {
		said["X-Frame-Max"] = strconv.Itoa(d.options.FrameMax)
	}
	if token != "" {
		said["Authorization"] = "Bearer " + token
	}
	return filled(said)
}

// filled returns headers without those that are empty.
func filled(all map[string]string) http.Header {
	headers := http.Header{}
	for name, value := range all {
		if value != "" {
			headers.Set(name, value)
		}
	}
	return headers
}

// ask makes a call; body nil: a GET. An error says what stood where the server's answer should.
func (d *Device) ask(ctx context.Context, path, token string, body any, wait int) (got answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.times(answerWait)+time.Duration(wait)*time.Second)
	defer cancel()
	method, sent := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		sent, _ = json.Marshal(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, d.base+path, bytes.NewReader(sent))
	if err != nil {
		return got, err
	}
	request.Header = d.headers(token)
	response, err := d.options.Client.Do(request)
	if err != nil {
		return got, d.fault(err, nil)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax))
	if err != nil {
		return got, d.fault(err, nil)
	}
	if got, err = answerIn(text); err != nil || response.StatusCode == http.StatusNotFound {
		return got, d.fault(err, response)
	}
	if path != "/ack" {
		named, _ := strconv.Atoi(response.Header.Get("x-wait-max"))
		if named < 1 {
			named = pollSeconds
		}
		d.with(func() { d.pollSeconds = min(named, pollSecondsMax) })
	}
	return got, nil
}

func answerIn(text []byte) (got answer, err error) {
	if err = json.Unmarshal(text, &got); err == nil && got.Msg == nil {
		err = &Fault{"not_json", "a frame is not an answer of the server"}
	}
	return got, err
}

// fault says what an error of connecting is, or an answer that is none of the server.
func (d *Device) fault(err error, got *http.Response) error {
	var name *net.DNSError
	var net net.Error
	text := fmt.Sprint(err)
	reason, what := "lost", "broke off: "+text
	switch {
	case got != nil && got.StatusCode == http.StatusNotFound:
		reason, what = "wrong_path", "does not have the path of devices: check the address"
	case got != nil:
		reason, what = "not_json", fmt.Sprintf("is not Gatepost: it answers %s, %q", got.Status, got.Header.Get("Content-Type"))
	case errors.As(err, &name):
		reason, what = "name", "has a name that no host has"
	case errors.Is(err, syscall.ECONNREFUSED):
		reason, what = "refused_port", "refuses connections to its port"
	case errors.As(err, &net) && net.Timeout():
		reason, what = "timeout", "does not answer in time"
	case strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ") || strings.Contains(text, "HTTPS client"):
		reason, what = "tls", "has no TLS that can be trusted: "+text
	}
	return &Fault{reason, d.options.URL + " " + what}
}

// acknowledge sends acknowledgements on the stream; false: none is open. A missing answer ends it,
// and they go again.
func (d *Device) acknowledge(ctx context.Context, acks []ack) bool {
	text, _ := json.Marshal(map[string]any{"items": acks})
	var socket *websocket.Conn
	d.with(func() {
		if socket = d.socket; socket != nil {
			late := time.AfterFunc(d.times(answerWait), func() { d.cut("timeout", "no answer") })
			d.pending = append(d.pending, frame{acks, late})
		}
	})
	if socket != nil && socket.Write(ctx, websocket.MessageText, text) != nil {
		d.cut("lost", "no answer")
	}
	return socket != nil
}

// answered notes that the oldest frame that waits for its answer has it.
func (d *Device) answered() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) > 0 {
		d.pending[0].late.Stop()
		maps.Copy(d.gone, keysOf(d.pending[0].acks))
		d.pending = d.pending[1:]
	}
}

// stream opens a stream and reads it until it ends; it returns why, and whether it held for a while.
func (d *Device) stream(ctx context.Context, token string, opened func(), heard func(answer)) (held bool, err error) {
	address := "ws" + strings.TrimPrefix(d.base, "http") + "/stream"
	if d.options.PingSeconds > 0 {
		address += "?ping=" + strconv.Itoa(d.options.PingSeconds)
	}
	bears := d.times(30 * time.Second)
	silence := time.AfterFunc(time.Hour, func() { d.cut("timeout", "silence") })
	defer silence.Stop()
	dialing, cancel := context.WithTimeout(ctx, d.times(answerWait))
	defer cancel()
	socket, response, err := websocket.Dial(dialing, address, &websocket.DialOptions{
		HTTPClient:     d.options.Client,
		HTTPHeader:     d.headers(token),
		OnPingReceived: func(context.Context, []byte) bool { silence.Reset(bears); return true },
	})
	if err != nil {
		d.with(func() { d.gaveUp = d.gaveUp || errors.Is(dialing.Err(), context.DeadlineExceeded) })
		if response != nil && response.StatusCode == http.StatusUnauthorized {
			return false, errToken
		}
		return false, d.fault(err, response)
	}
	defer socket.CloseNow()
	if named, err := strconv.Atoi(response.Header.Get("x-ping-interval")); err == nil && named > pingSeconds {
		bears = d.times(time.Duration(2*named+10) * time.Second)
	}
	silence.Reset(bears)
	socket.SetReadLimit(answerBytesMax)
	since := time.Now()
	d.with(func() { d.socket = socket })
	for opened(); err == nil; {
		var text []byte
		if _, text, err = socket.Read(ctx); err == nil {
			silence.Reset(bears)
			var got answer
			if got, err = answerIn(text); err == nil {
				heard(got)
			}
		}
	}
	held = time.Since(since) >= d.times(10*time.Second)
	d.with(func() {
		for _, sent := range d.pending {
			sent.late.Stop()
		}
		d.socket, d.pending, d.gaveUp = nil, nil, d.gaveUp && !held
	})
	return held, err
}
