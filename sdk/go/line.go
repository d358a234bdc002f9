package device

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// frame is one of acknowledgements whose answer is to come.
type frame struct {
	acks []ack
	late *time.Timer
}

func serverAt(address string) (*url.URL, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || (at.Scheme != "https" && at.Scheme != "http") {
		what := fmt.Sprintf("the address %q does not begin with https:// and a host", address)
		return nil, Status{State: "refused", Reason: "bad_url", Detail: what}
	}
	return at, nil
}

// address returns that of a call.
func (d *Device) address(path string) string {
	return strings.TrimRight(d.options.URL, "/") + d.options.Path + path
}

func (d *Device) headers(token string) http.Header {
	// A frame of 0 bytes is not said.
	frameMax := strings.TrimLeft(strconv.Itoa(d.options.FrameMax), "0")
	said := map[string]string{"Accept-Language": d.options.Locale, "X-Frame-Max": frameMax}
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
	request, err := http.NewRequestWithContext(ctx, method, d.address(path), bytes.NewReader(sent))
	if err != nil {
		return got, err
	}
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
	if got, err = answerIn(text); err != nil || response.StatusCode == http.StatusNotFound {
		return got, d.fault(err, response)
	}
	if path != "/ack" {
		named, _ := strconv.Atoi(response.Header.Get("x-wait-max"))
		d.with(func() { d.pollSeconds = min(cmp.Or(max(named, 0), pollSeconds), pollSecondsMax) })
	}
	return got, nil
}

func answerIn(text []byte) (got answer, err error) {
	if err = json.Unmarshal(text, &got); err == nil && got.Msg == nil {
		err = Status{Reason: "not_json", Detail: "a frame is not an answer of the server"}
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
	case got != nil && got.StatusCode != http.StatusUnauthorized:
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
	return Status{Reason: reason, Detail: d.options.URL + " " + what}
}

// acknowledge sends acknowledgements on the stream; false: none is open. A missing answer ends it,
// and they go again.
func (d *Device) acknowledge(ctx context.Context, acks []ack) bool {
	text := []byte(jsonOf(map[string]any{"items": acks}))
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

// dial opens a stream.
func (d *Device) dial(ctx context.Context, token string) (*websocket.Conn, error) {
	address := "ws" + strings.TrimPrefix(d.address("/stream"), "http")
	if d.options.PingSeconds > 0 {
		address += "?ping=" + strconv.Itoa(d.options.PingSeconds)
	}
	d.bears = d.times(30 * time.Second)
	d.silence = time.AfterFunc(time.Hour, func() { d.cut("timeout", "silence") })
	dialing, cancel := context.WithTimeout(ctx, d.times(answerWait))
	defer cancel()
	socket, response, err := websocket.Dial(dialing, address, &websocket.DialOptions{
		HTTPClient:     d.options.Client,
		HTTPHeader:     d.headers(token),
		OnPingReceived: func(context.Context, []byte) bool { return d.silence.Reset(d.bears) || true },
	})
	if err != nil {
		d.silence.Stop()
		d.with(func() { d.gaveUp = d.gaveUp || errors.Is(dialing.Err(), context.DeadlineExceeded) })
		if response != nil && response.StatusCode == http.StatusUnauthorized {
			// The inbox has the text for the user.
			d.later(d.fetch(ctx, "", 0))
		}
		return nil, d.fault(err, response)
	}
	named, _ := strconv.Atoi(response.Header.Get("x-ping-interval"))
	d.bears = max(d.bears, d.times(time.Duration(2*named+10)*time.Second))
	d.silence.Reset(d.bears)
	socket.SetReadLimit(answerBytesMax)
	return socket, nil
}

var serverPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

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

func headersOf(hwid string, registration map[string]string) http.Header {
	return filled(map[string]string{
		"x-hwid": hwid, "x-device-protocol": "1", "x-device-os": registration["os"],
		"x-ver-os": registration["os_version"], "x-device-model": registration["device_name"],
		"x-app-version": registration["app_version"],
	})
}
