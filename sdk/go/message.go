package device

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
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

// Action returns the action of a command; empty for a notification.
func (m Message) Action() string { return textIn(m.Payload, "action_type") }

// unknown says why a message can't be handled; nil: it can be.
func (m Message) unknown() error {
	if m.Type != Notification && m.Type != Command {
		return fmt.Errorf("unknown notification_type %d", m.Type)
	}
	actions := []string{"import-data", "update-subscription", "set-settings", "sub-change"}
	if m.Type == Command && !slices.Contains(actions, m.Action()) {
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
	// Title is plain text.
	Title string
	// HTML was filtered by the server.
	HTML string
	// Plain is the same as text with line breaks.
	Plain string
	// Link is what a tap opens.
	Link string
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
	var all map[string]json.RawMessage
	_ = json.Unmarshal(locales, &all)
	wanted := tidyTag(locale)
	language, _, _ := strings.Cut(wanted, "-")
	for _, fits := range []func(tag string) bool{
		func(tag string) bool { return tag == wanted },
		func(tag string) bool { return tag == language },
		func(tag string) bool { return strings.HasPrefix(tag, language+"-") },
	} {
		for _, key := range slices.Sorted(maps.Keys(all)) {
			var own map[string]json.RawMessage
			if fits(tidyTag(key)) && json.Unmarshal(all[key], &own) == nil && own != nil {
				return own
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

var (
	blanks   = regexp.MustCompile(`\s+`)
	breaks   = regexp.MustCompile(`(?i)<br ?/?>|</(?:p|div|li|h[1-6]|tr|blockquote|pre)>`)
	tags     = regexp.MustCompile(`<[^<>]*>`)
	tidyEnds = regexp.MustCompile(` *\n *`)
	gaps     = regexp.MustCompile(`\n{3,}`)
)

// plainText returns filtered HTML as text: blocks become line breaks, entities are decoded.
func plainText(body string) string {
	text := blanks.ReplaceAllString(body, " ")
	text = tags.ReplaceAllString(breaks.ReplaceAllString(text, "\n"), "")
	text = strings.ReplaceAll(html.UnescapeString(text), "\u00a0", " ")
	text = gaps.ReplaceAllString(tidyEnds.ReplaceAllString(text, "\n"), "\n\n")
	return strings.TrimSpace(text)
}
