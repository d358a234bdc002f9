package device

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// answer is that of a call, and a frame of a stream.
type answer struct {
	RC    int       `json:"rc"`
	Msg   *string   `json:"msg"`
	Token string    `json:"device_token"`
	Data  []Message `json:"data"`
}

func (a answer) says() string { return *a.Msg }

const (
	pollSeconds    = 60
	pollSecondsMax = 240
	// The server's largest frame of messages is far below it.
	answerBytesMax = 16 << 20
	pingSeconds    = 9
)

// closed is how a stream ended.
type closed struct {
	code     websocket.StatusCode
	reason   string
	wasOpen  bool
	lastedMs time.Duration
	// badToken: the handshake was answered with 401.
	badToken bool
}

// line makes the calls of a device and holds its stream. It does not interpret messages.
type line struct {
	url    string
	client *http.Client
	pace   float64
	// poll is the wait of the next poll, s.
	poll int

	mu      sync.Mutex
	socket  *websocket.Conn
	pending []frame
	cutWhy  string
}

// frame is one of acknowledgements whose answer is to come.
type frame struct {
	acks  []ack
	timer *time.Timer
}

func (l *line) times(d time.Duration) time.Duration { return time.Duration(float64(d) * l.pace) }

// ask makes a call; body nil: a GET. An error says what stood where the server's answer should.
func (l *line) ask(ctx context.Context, path, token string, body any, extra time.Duration) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, l.times(30*time.Second)+extra)
	defer cancel()
	method, sent := http.MethodGet, io.Reader(nil)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		method, sent = http.MethodPost, bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, l.url+path, sent)
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := l.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax))
	if err != nil {
		return answer{}, err
	}
	got, err := answerIn(text)
	if err != nil {
		kind := response.Header.Get("Content-Type")
		return answer{}, fmt.Errorf("%s is not Gatepost: it answers %s, %q", l.url, response.Status, kind)
	}
	if path != "/device/ack" {
		l.poll = pollSecondsIn(response.Header)
	}
	return got, nil
}

var errNoAnswer = errors.New("not an answer of the server")

func answerIn(text []byte) (got answer, err error) {
	if err = json.Unmarshal(text, &got); err == nil && got.Msg == nil {
		err = errNoAnswer
	}
	return got, err
}

// pollSecondsIn reads how long a poll may wait. An older server does not say it.
func pollSecondsIn(header http.Header) int {
	named, err := strconv.Atoi(header.Get("x-wait-max"))
	if err != nil || named < 1 {
		return pollSeconds
	}
	return min(named, pollSecondsMax)
}

func (l *line) isOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.socket != nil
}

// cut ends the stream at once, for a reason.
func (l *line) cut(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.socket != nil && l.cutWhy == "" {
		l.cutWhy = why
		go l.socket.CloseNow()
	}
}

// underWay returns whether the answer to an acknowledgement is to come.
func (l *line) underWay(wanted ack) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, sent := range l.pending {
		if contains(sent.acks, wanted) {
			return true
		}
	}
	return false
}

// acknowledge sends acknowledgements on the stream. A missing answer ends it, and they go again.
func (l *line) acknowledge(ctx context.Context, acks []ack) {
	text, _ := json.Marshal(map[string]any{"items": acks})
	l.mu.Lock()
	socket := l.socket
	if socket != nil {
		timer := time.AfterFunc(l.times(30*time.Second), func() { l.cut("no answer") })
		l.pending = append(l.pending, frame{acks, timer})
	}
	l.mu.Unlock()
	if socket != nil && socket.Write(ctx, websocket.MessageText, text) != nil {
		l.cut("no answer")
	}
}

// answered takes the oldest frame that waits for its answer.
func (l *line) answered() []ack {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return nil
	}
	first := l.pending[0]
	l.pending = l.pending[1:]
	first.timer.Stop()
	return first.acks
}

// hold opens a stream and reads it until it ends. ping: seconds between two pings; 0: the usual.
func (l *line) hold(ctx context.Context, token string, ping int, on func(), got func(answer)) closed {
	path := "/device/stream"
	if ping > 0 {
		path += "?ping=" + strconv.Itoa(ping)
	}
	silence := time.NewTimer(l.times(30 * time.Second))
	defer silence.Stop()
	bears := l.times(30 * time.Second)
	heard := func() { silence.Reset(bears) }
	dialing, cancel := context.WithTimeout(ctx, l.times(30*time.Second))
	defer cancel()
	socket, response, err := websocket.Dial(dialing, "ws"+strings.TrimPrefix(l.url, "http")+path, &websocket.DialOptions{
		HTTPClient:     l.client,
		HTTPHeader:     http.Header{"Authorization": {"Bearer " + token}},
		OnPingReceived: func(context.Context, []byte) bool { heard(); return true },
	})
	if err != nil {
		bad := response != nil && response.StatusCode == http.StatusUnauthorized
		return closed{reason: err.Error(), badToken: bad}
	}
	defer socket.CloseNow()
	if named, err := strconv.Atoi(response.Header.Get("x-ping-interval")); err == nil && named > pingSeconds {
		bears = l.times(time.Duration(2*named+10) * time.Second)
	}
	heard()
	socket.SetReadLimit(answerBytesMax)
	opened := time.Now()
	l.mu.Lock()
	l.socket, l.cutWhy = socket, ""
	l.mu.Unlock()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-silence.C:
			l.cut("silence")
		case <-ended:
		}
	}()
	on()
	for {
		_, text, err := socket.Read(ctx)
		if err != nil {
			return l.ended(err, time.Since(opened))
		}
		heard()
		frame, err := answerIn(text)
		if err != nil {
			l.cut("not an answer of the server")
			continue
		}
		got(frame)
	}
}

func (l *line) ended(err error, lasted time.Duration) closed {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, sent := range l.pending {
		sent.timer.Stop()
	}
	end := closed{websocket.CloseStatus(err), l.cutWhy, true, lasted, false}
	l.socket, l.pending, l.cutWhy = nil, nil, ""
	if end.reason == "" {
		end.reason = err.Error()
	}
	return end
}
