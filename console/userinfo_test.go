package console

import "testing"

func TestAddressesAreShownWithoutNamesAndPasswords(t *testing.T) {
	for text, want := range map[string]string{
		"https://ada:p%40ss@host/x?y=a@b":           "https://host/x?y=a@b",
		"https://ada@host":                          "https://host",
		"https://a:b@c@host/":                       "https://host/",
		"https://host/x@y":                          "https://host/x@y",
		`{"url":"https:\/\/ada:s3@host\/x","n":12}`: `{"url":"https:\/\/host\/x","n":12}`,
		"mail ada@example.org":                      "mail ada@example.org",
		`{"a":"http://x","b":"y@z"}`:                `{"a":"http://x","b":"y@z"}`,
	} {
		if got := withoutUserinfo(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
