package device

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// memory is a store that fails for as long as fails is set.
type memory struct {
	mu    sync.Mutex
	text  string
	fails bool
}

func (m *memory) Read() (string, error) { return m.text, nil }

func (m *memory) Write(text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails {
		return errors.New("the disk is full")
	}
	m.text = text
	return nil
}

func (m *memory) setFails(fails bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = fails
}

// server is that of one device that polls.
type server struct {
	mu      sync.Mutex
	inbox   map[int64]string
	acks    []string
	states  []string
	tokens  []string
	isEnded bool
}

func (s *server) with(work func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	work()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.URL.Path == "/device/register":
		s.tokens = append(s.tokens, r.Header.Get("Authorization"))
		s.isEnded = false
		_, _ = w.Write([]byte(`{"rc":1,"msg":"Ok","device_token":"` + strings.Repeat("t", 43) + `"}`))
	case s.isEnded:
		_, _ = w.Write([]byte(`{"rc":0,"msg":"Device token error","reason":"slot_freed","text":"Gone."}`))
	case r.URL.Path == "/device/ack":
		var body struct{ Items []ack }
		_ = json.NewDecoder(r.Body).Decode(&body)
		for _, one := range body.Items {
			s.acks = append(s.acks, string(one.State))
			delete(s.inbox, one.ID)
		}
		_, _ = w.Write([]byte(`{"rc":1,"msg":"Ok"}`))
	default:
		all := []string{}
		for _, message := range s.inbox {
			all = append(all, message)
		}
		_, _ = w.Write([]byte(`{"rc":1,"msg":"Ok","data":[` + strings.Join(all, ",") + `]}`))
	}
}

func (s *server) put(id int64, text string) {
	s.with(func() { s.inbox[id] = text })
}

// until waits for a condition that looks at the server.
func (s *server) until(t *testing.T, isSo func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		isThere := false
		if s.with(func() { isThere = isSo() }); isThere {
			return
		}
	}
	t.Fatal("it never came")
}

func start(t *testing.T) (*server, *memory, *Device, chan error, context.CancelFunc) {
	t.Helper()
	s, store := &server{inbox: map[int64]string{}}, &memory{}
	at := httptest.NewServer(s)
	phone, err := New(Options{
		URL: at.URL, Store: store, Polls: true, Pace: 0.02,
		OnMessage: func(_ context.Context, got Delivery) (AckState, error) {
			if got.Message.ID == 1 {
				return "", errors.New("no such thing")
			}
			return "", nil
		},
		OnStatus: func(got Status) { s.with(func() { s.states = append(s.states, got.State) }) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- phone.Run(ctx) }()
	t.Cleanup(func() { cancel(); at.Close() })
	s.until(t, func() bool { return slices.Contains(s.states, "open") })
	return s, store, phone, ended, cancel
}

const (
	first  = `{"id":1,"notification_type":10,"payload":{"body":"text"}}`
	second = `{"id":2,"notification_type":10,"payload":{"body":"text"}}`
)

func TestWhatAnAppFailsAtEndsNothing(t *testing.T) {
	s, store, _, _, _ := start(t)
	s.put(1, first)
	s.until(t, func() bool { return slices.Contains(s.acks, "failed") })
	store.setFails(true)
	s.put(2, second)
	s.until(t, func() bool { return slices.Contains(s.states, "closed") })
	store.setFails(false)
	s.until(t, func() bool { return slices.Contains(s.acks, "received") })
}

func TestASecondRunLeavesTheFirstOneAlone(t *testing.T) {
	s, _, phone, ended, cancel := start(t)
	if err := phone.Run(context.Background()); !errors.Is(err, ErrRuns) {
		t.Fatal(err)
	}
	s.put(2, second)
	s.until(t, func() bool { return slices.Contains(s.acks, "received") })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestOnlyARunRegistersAfterTheEndOfASlot(t *testing.T) {
	s, _, phone, ended, _ := start(t)
	s.with(func() { s.isEnded = true })
	var stopped Status
	if err := <-ended; !errors.As(err, &stopped) || stopped.Reason != "slot_freed" || stopped.Text != "Gone." {
		t.Fatal(err)
	}
	phone.SetPush(&PushAddress{Gateway: "fcm", Token: json.RawMessage(`"other"`)})
	phone.TakePush(context.Background(), map[string]any{"id": "7", "kind": "command"}, false)
	s.with(func() {
		if len(s.tokens) != 1 {
			t.Fatal(s.tokens)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- phone.Run(ctx) }()
	s.until(t, func() bool { return len(s.tokens) == 2 && s.tokens[1] == "" })
	cancel()
	<-ended
}

func TestAnotherHostIsNoServer(t *testing.T) {
	for path, is := range map[string]bool{
		"/.well-known/device-messages": true, "//other.example/device": false, "": false,
		"https://other.example/device": false, "/a/../b": false, "/a/": false, "/a b": false, `/\other.example`: false,
	} {
		headers := http.Header{"X-Device-Server": {path}}
		if _, isFound := Discover("https://sub.example.com/s/KEY?x=1", headers); isFound != is {
			t.Errorf("%q", path)
		}
	}
}

func TestNoStateIsWrittenOverThatOfATransaction(t *testing.T) {
	s, store := &server{inbox: map[int64]string{}}, &memory{}
	at := httptest.NewServer(s)
	defer at.Close()
	var phone *Device
	kept := make(chan bool, 1)
	phone, err := New(Options{
		URL: at.URL, Store: store, Polls: true, Pace: 0.02,
		OnMessage: func(ctx context.Context, got Delivery) (AckState, error) {
			err := store.Write(got.State)
			phone.Opened(ctx, 9)
			kept <- store.text == got.State
			return Kept, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- phone.Run(ctx) }()
	s.put(2, second)
	if !<-kept {
		t.Error("a kill now would let the message come again")
	}
	s.until(t, func() bool { return slices.Contains(s.acks, "received") })
	cancel()
	<-ended
}

func TestAnUpdateKeepsTheStateOfVersion0_22(t *testing.T) {
	const text = `{"version":1,"hwid":"h","token":"t","seen":[[5,"opened"]],"acks":[{"id":6,"state":"received"}]}`
	kept, err := readState(&memory{text: text}, "")
	if err != nil || jsonOf(kept) != text || kept.seen(5) != Opened {
		t.Error(jsonOf(kept), err)
	}
}
