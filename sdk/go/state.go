package device

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"
)

// AckState is what became of a message.
type AckState string

// The states of the protocol. Kept is no state: the app wrote [Delivery.State] itself.
const (
	Received, Opened, Executed, Failed AckState = "received", "opened", "executed", "failed"

	Kept AckState = "kept"
)

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

func (a ack) is(other ack) bool { return a.ID == other.ID && a.State == other.State }

// known is a message and what was acknowledged of it: a pair in JSON.
type known struct {
	id    int64
	state AckState
}

func (k known) MarshalJSON() ([]byte, error) { return json.Marshal([]any{k.id, k.state}) }

func (k *known) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&k.id, &k.state})
}

// state is what a device keeps. Its methods return changed copies.
type state struct {
	Version int    `json:"version"`
	HWID    string `json:"hwid"`
	// Token is empty until the device is registered.
	Token string `json:"token,omitempty"`
	// Seen has the last messages, the oldest first.
	Seen []known `json:"seen"`
	// Acks are those that the server has not confirmed.
	Acks []ack `json:"acks"`
}

const seenMax, acksMax, detailMax = 1_000, 1_000, 255

// readState reads a text. A missing or broken one, or one of another HWID, makes a new device.
func readState(store Store, hwid string) (kept state, err error) {
	text, err := store.Read()
	if err != nil {
		return kept, err
	}
	// The token belongs to the HWID that was registered.
	isKept := json.Unmarshal([]byte(text), &kept) == nil && kept.Version == 1 && kept.HWID != ""
	if !isKept || (hwid != "" && hwid != kept.HWID) {
		if hwid == "" {
			// Random: it does not identify the phone.
			digits := make([]byte, 16)
			_, _ = rand.Read(digits)
			hwid = fmt.Sprintf("%x", digits)
		}
		kept = state{Version: 1, HWID: hwid, Seen: []known{}, Acks: []ack{}}
	}
	// A HWID that was drawn is kept before it is used.
	return kept, store.Write(jsonOf(kept))
}

func jsonOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// seen returns the acknowledged state of a message; empty: it is new.
func (s state) seen(id int64) AckState {
	for _, one := range s.Seen {
		if one.id == id {
			return one.state
		}
	}
	return ""
}

// knowing returns the state with a message and its acknowledgement, which waits.
func (s state) knowing(a ack) state {
	isIt := func(one known) bool { return one.id == a.ID }
	s.Seen = last(append(slices.DeleteFunc(slices.Clone(s.Seen), isIt), known{a.ID, a.State}), seenMax)
	return s.owing(a)
}

// owing returns the state with one more acknowledgement that waits.
func (s state) owing(a ack) state {
	control := func(r rune) bool { return unicode.Is(unicode.Cc, r) }
	detail := []rune(strings.Join(strings.FieldsFunc(a.Detail, control), " "))
	a.Detail = string(detail[:min(len(detail), detailMax)])
	s.Acks = last(append(without(s.Acks, []ack{a}), a), acksMax)
	return s
}

// without returns acknowledgements without those that the server confirmed.
func without(acks, gone []ack) []ack {
	return slices.DeleteFunc(slices.Clone(acks), func(one ack) bool { return slices.ContainsFunc(gone, one.is) })
}

func last[T any](all []T, most int) []T { return all[max(0, len(all)-most):] }
