package device

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
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
}

// The types of messages.
const (
	Notification = 10
	Command      = 20
)

// Action returns the action of a command; empty for a notification.
func (m Message) Action() string { return textIn(m.Payload, "action_type") }

// unknown says why a message can't be handled; nil: it can be.
func (m Message) unknown() error {
	if m.Type == Notification {
		return nil
	}
	if m.Type != Command {
		return fmt.Errorf("unknown notification_type %d", m.Type)
	}
	switch action := m.Action(); action {
	case "import-data", "update-subscription", "set-settings", "sub-change":
		return nil
	default:
		return fmt.Errorf("unknown action_type %s", action)
	}
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
	of := func(name, ownName string) string {
		if text := textIn(own, ownName); text != "" {
			return text
		}
		return textIn(m.Payload, name)
	}
	body := of("body", "body")
	return Texts{of("title", "title"), body, plainText(body), of("link_for_open", "link-for-open")}
}

func textIn(record map[string]json.RawMessage, name string) (text string) {
	_ = json.Unmarshal(record[name], &text)
	return text
}

// localeIn returns the best texts; of equal ones those that come first.
func localeIn(locales json.RawMessage, locale string) (found map[string]json.RawMessage) {
	all := json.NewDecoder(bytes.NewReader(locales))
	if open, err := all.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	wanted := tidyTag(locale)
	for best := 0; all.More(); {
		var own map[string]json.RawMessage
		key, err := all.Token()
		if err != nil {
			return found
		}
		isObject := all.Decode(&own) == nil
		tag, rank := tidyTag(fmt.Sprint(key)), 0
		switch {
		case tag == wanted:
			rank = 3
		case tag == languageOf(wanted):
			rank = 2
		case languageOf(tag) == languageOf(wanted):
			rank = 1
		}
		if isObject && rank > best {
			best, found = rank, own
		}
	}
	return found
}

// tidyTag spells a tag in one way. Providers write CN for Chinese.
func tidyTag(tag string) string {
	tidy := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(tag)), "_", "-")
	if tidy == "cn" {
		return "zh-cn"
	}
	return tidy
}

func languageOf(tag string) string {
	language, _, _ := strings.Cut(tag, "-")
	return language
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
