package device

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
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
	answerWait                  = 30 * time.Second
	pollSeconds, pollSecondsMax = 60, 240
	answerBytesMax              = 16 << 20
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

// answered returns the state without the oldest frame that waits for its answer: it has it.
func (d *Device) answered(s state) state {
	if len(d.pending) > 0 {
		d.pending[0].late.Stop()
		s.Acks, d.pending = without(s.Acks, d.pending[0].acks), d.pending[1:]
	}
	return s
}

// silence ends a stream on which nothing is heard for a while.
type silence struct {
	*time.Timer
	bears time.Duration
}

func (s *silence) read(ctx context.Context, socket *websocket.Conn) (answer, error) {
	_, text, err := socket.Read(ctx)
	if err != nil {
		return answer{}, err
	}
	s.Reset(s.bears)
	return answerIn(text)
}

// dial opens a stream.
func (d *Device) dial(ctx context.Context, token string) (*websocket.Conn, *silence, error) {
	address := "ws" + strings.TrimPrefix(d.base, "http") + "/stream"
	if d.options.PingSeconds > 0 {
		address += "?ping=" + strconv.Itoa(d.options.PingSeconds)
	}
	heard := &silence{time.AfterFunc(time.Hour, func() { d.cut("timeout", "silence") }), d.times(30 * time.Second)}
	dialing, cancel := context.WithTimeout(ctx, d.times(answerWait))
	defer cancel()
	socket, response, err := websocket.Dial(dialing, address, &websocket.DialOptions{
		HTTPClient:     d.options.Client,
		HTTPHeader:     d.headers(token),
		OnPingReceived: func(context.Context, []byte) bool { heard.Reset(heard.bears); return true },
	})
	if err != nil {
		d.with(func() { d.gaveUp = d.gaveUp || errors.Is(dialing.Err(), context.DeadlineExceeded) })
		if response != nil && response.StatusCode == http.StatusUnauthorized {
			return nil, heard, errToken
		}
		return nil, heard, d.fault(err, response)
	}
	named, _ := strconv.Atoi(response.Header.Get("x-ping-interval"))
	heard.bears = max(heard.bears, d.times(time.Duration(2*named+10)*time.Second))
	heard.Reset(heard.bears)
	socket.SetReadLimit(answerBytesMax)
	return socket, heard, nil
}

var serverPath = regexp.MustCompile(`^(/[\w.~-]+)+$`)

// Discover reads the answer to a subscription's fetch: the address that was fetched, and the
// headers. It returns options with URL, Path and Registration of a server on the same host; false:
// the answer names none.
func Discover(fetched string, headers http.Header) (Options, bool) {
	at, err := url.Parse(fetched)
	path := headers.Get("X-Device-Server")
	if err != nil || at.Host == "" || (at.Scheme != "https" && at.Scheme != "http") || !serverPath.MatchString(path) {
		return Options{}, false
	}
	by := map[string]string{"subscription_url": fetched}
	return Options{URL: at.Scheme + "://" + at.Host, Path: path, Registration: by}, true
}

// FetchHeaders returns the headers for a subscription's fetch before there is a device: they ask for
// the server of [Discover]. A HWID that was drawn is kept in the store, where the device finds it.
func FetchHeaders(store Store, registration map[string]string, hwid string) (http.Header, error) {
	s, err := readState(store, hwid)
	return headersOf(s.HWID, registration), err
}

func headersOf(hwid string, registration map[string]string) http.Header {
	return filled(map[string]string{
		"x-hwid": hwid, "x-device-protocol": "1", "x-device-os": registration["os"],
		"x-ver-os": registration["os_version"], "x-device-model": registration["device_name"],
		"x-app-version": registration["app_version"],
	})
}
