package device

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

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
	switch {
	case usual[m.Type] == "":
		return fmt.Errorf("unknown notification_type %d", m.Type)
	case m.Type == Command && !slices.Contains(actions, m.Action()):
		return fmt.Errorf("unknown action_type %s", m.Action())
	}
	return nil
}

// messageIn reads the message in a push; FCM sends it as text.
func messageIn(value any) (message Message, isThere bool) {
	text, isText := value.(string)
	if !isText {
		text = jsonOf(value)
	}
	return message, json.Unmarshal([]byte(text), &message) == nil && message.Payload != nil
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

var blanks = regexp.MustCompile(`\s+`)
var breaks = regexp.MustCompile(`(?i)<br ?/?>|</(?:p|div|li|h[1-6]|tr|blockquote|pre)>`)
var tags = regexp.MustCompile(`<[^<>]*>`)
var tidyEnds = regexp.MustCompile(` *\n *`)
var gaps = regexp.MustCompile(`\n{3,}`)

// plainText returns filtered HTML as text: blocks become line breaks, entities are decoded.
func plainText(body string) string {
	text := blanks.ReplaceAllString(body, " ")
	text = tags.ReplaceAllString(breaks.ReplaceAllString(text, "\n"), "")
	text = strings.ReplaceAll(html.UnescapeString(text), "\u00a0", " ")
	text = gaps.ReplaceAllString(tidyEnds.ReplaceAllString(text, "\n"), "\n\n")
	return strings.TrimSpace(text)
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
	if errors.Is(err, fs.ErrNotExist) {
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
type known struct {
	id    int64
	state AckState
}

func (k known) MarshalJSON() ([]byte, error) { return json.Marshal([]any{k.id, k.state}) }

func (k *known) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&k.id, &k.state})
}

// detailOf returns an error as one line.
func detailOf(err error) string {
	return fmt.Sprintf("%.255s", strings.Join(strings.FieldsFunc(err.Error(), unicode.IsControl), " "))
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
		var digits [16]byte
		_, _ = rand.Read(digits[:])
		kept = state{Version: version, HWID: cmp.Or(hwid, hex.EncodeToString(digits[:]))}
	}
	return kept, store.Write(jsonOf(kept))
}

const version, seenMax, acksMax = 1, 1_000, 1_000

func jsonOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// seen returns the acknowledged state of a message; empty: it is new.
func (s *state) seen(id int64) (before AckState) {
	for _, one := range s.Seen {
		if one.id == id {
			before = one.state
		}
	}
	return before
}

// know adds a message and its acknowledgement, which waits.
func (s *state) know(a ack) {
	if s.seen(a.ID) == "" {
		s.Seen = last(append(slices.Clip(s.Seen), known{a.ID, a.State}), seenMax)
	}
	s.owe(a)
}

// owe adds an acknowledgement that waits.
func (s *state) owe(a ack) { s.Acks = last(append(without(s.Acks, []ack{a}), a), acksMax) }

// without returns acknowledgements without those that are gone, in a slice of its own.
func without(acks []ack, gone []ack) []ack {
	return slices.DeleteFunc(slices.Clone(acks), func(one ack) bool { return slices.Contains(gone, one) })
}

func last[T any](all []T, most int) []T { return all[max(0, len(all)-most):] }
