package device

import (
	"net/http"
	"net/url"
	"regexp"
)

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
