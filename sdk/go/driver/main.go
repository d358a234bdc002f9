// The driver of the kit, for `gatepost device check --against` and tests: orders come as lines of
// JSON on standard input, and results go out in the same form.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"gatepost.org/device"
)

type order struct {
	Do          string
	URL         string
	Folder      string
	Link        string
	DomainHash  string `json:"domain_hash"`
	OS          string
	Locale      string
	HWID        string
	Pace        float64
	Ping        int
	Mode        string
	Push        *device.PushAddress
	Transaction bool
	Data        map[string]any
	Shown       bool
	Gateway     string
	Token       json.RawMessage
	ID          int64
	FrameMax    int `json:"frame_max"`
	// Subscription is the answer to a subscription's fetch, in place of a server and a link.
	Subscription *struct {
		URL     string
		Headers map[string]string
	}
}

// kept is the file of the store: the state of the kit, and the app's effects.
type kept struct {
	State   string  `json:"state"`
	Effects []int64 `json:"effects"`
}

// file is a store whose state the app may write beside an effect.
type file struct {
	mu   sync.Mutex
	path device.FileStore
	kept kept
}

func open(folder string) *file {
	opened := &file{path: device.FileStore(filepath.Join(folder, "device.json"))}
	text, _ := opened.path.Read()
	_ = json.Unmarshal([]byte(text), &opened.kept)
	return opened
}

func (f *file) change(changed func(*kept)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed(&f.kept)
	text, err := json.Marshal(f.kept)
	if err != nil {
		return err
	}
	return f.path.Write(string(text))
}

func (f *file) Read() (string, error) { return f.kept.State, nil }

func (f *file) Write(text string) error { return f.change(func(k *kept) { k.State = text }) }

var output sync.Mutex

func say(said string, line map[string]any) {
	output.Lock()
	defer output.Unlock()
	line["said"] = said
	_ = json.NewEncoder(os.Stdout).Encode(line)
}

func tell(got device.Status) {
	line := map[string]any{"state": got.State, "detail": got.Detail}
	for name, value := range map[string]string{"reason": got.Reason, "text": got.Text, "free_url": got.FreeURL} {
		if value != "" {
			line[name] = value
		}
	}
	if got.Limit > 0 {
		line["limit"] = got.Limit
	}
	say("state", line)
}

// serverOf returns options with the server and the fields by which it knows the device.
func serverOf(o order) (device.Options, bool) {
	by := map[string]string{"install_code": o.Link, "domain_hash": o.DomainHash}
	if o.Subscription == nil {
		return device.Options{URL: o.URL, Registration: by}, true
	}
	headers := http.Header{}
	for name, value := range o.Subscription.Headers {
		headers.Set(name, value)
	}
	return device.Discover(o.Subscription.URL, headers)
}

func start(ctx context.Context, o order, app *file) *device.Device {
	options, isFound := serverOf(o)
	if !isFound {
		say("nothing", map[string]any{})
		return nil
	}
	maps.Copy(options.Registration, map[string]string{
		"os": o.OS, "os_version": "15", "device_name": "Driver", "app_version": "1.0",
	})
	options.Store, options.HWID, options.Locale, options.Push = app, o.HWID, o.Locale, o.Push
	options.Polls, options.PingSeconds, options.FrameMax, options.Pace = o.Mode == "poll", o.Ping, o.FrameMax, o.Pace
	options.OnStatus = tell
	options.OnMessage = func(_ context.Context, got device.Delivery) (device.AckState, error) {
		say("message", map[string]any{
			"id": got.Message.ID, "type": got.Message.Type, "title": got.Texts.Title,
			"text": got.Texts.Plain, "action": got.Action,
		})
		err := app.change(func(k *kept) {
			k.Effects = append(k.Effects, got.Message.ID)
			if o.Transaction {
				k.State = got.State
			}
		})
		if o.Transaction {
			return device.Kept, err
		}
		return "", err
	}
	phone, err := device.New(options)
	if err != nil {
		var fault device.Status
		errors.As(err, &fault)
		tell(fault)
		return nil
	}
	go func() { _ = phone.Run(ctx) }()
	say("started", map[string]any{})
	return phone
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var phone *device.Device
	var app *file
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		var o order
		if err != nil || json.Unmarshal(line, &o) != nil {
			return
		}
		switch o.Do {
		case "start":
			app = open(o.Folder)
			phone = start(ctx, o, app)
		case "push":
			go phone.TakePush(ctx, o.Data, o.Shown)
		case "push_token":
			phone.SetPush(&device.PushAddress{Gateway: o.Gateway, Token: o.Token})
		case "opened":
			go phone.Opened(ctx, o.ID)
		case "headers":
			headers := phone.Headers()
			flat := map[string]string{}
			for name := range headers {
				flat[strings.ToLower(name)] = headers.Get(name)
			}
			say("headers", map[string]any{"headers": flat})
		case "effects":
			app.mu.Lock()
			ids := append([]int64{}, app.kept.Effects...)
			app.mu.Unlock()
			say("effects", map[string]any{"ids": ids})
		case "stop":
			cancel()
			say("stopped", map[string]any{})
		}
	}
}
