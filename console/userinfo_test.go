package console

import (
	"strings"
	"testing"
)

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

func TestAPasswordGoesBackOnlyWhereItWasStored(t *testing.T) {
	const stored = `{"a":"https://ann:1@one.example.org/x","b":"https:\/\/bob:2@two.example.org","c":["ftp://c:3@three.example.org","ftp://d:4@three.example.org"]}`
	if shown := string(hideUserinfo([]byte(stored))); strings.Contains(shown, "ann") || strings.Count(shown, hiddenUserinfo) != 4 {
		t.Errorf("shown is %s", shown)
	}
	for typed, want := range map[string]string{
		"https://***@one.example.org/y":     "https://ann:1@one.example.org/y",
		"https://***@two.example.org":       "https://bob:2@two.example.org",
		"https://eve:5@one.example.org":     "https://eve:5@one.example.org",
		"https://one.example.org":           "https://one.example.org",
		"http://***@one.example.org":        "", // of another scheme
		"https://***@one.example.org:8443/": "",
		"https://***@evil.example.org/":     "",
		"ftp://***@three.example.org":       "", // it has two
	} {
		if got, whole := restoreUserinfo([]byte(typed), []byte(stored)); whole != (want != "") || whole && string(got) != want {
			t.Errorf("%s becomes %s, %v", typed, got, whole)
		}
	}
}

func TestPasswordsWithEscapedCharactersAreHiddenToo(t *testing.T) {
	document := []byte(`{"url":"https://ann:s3cr\u0026tpw@host/path"}`)
	if hidden := string(hideUserinfo(document)); strings.Contains(hidden, "s3cr") || !strings.Contains(hidden, hiddenUserinfo+"host") {
		t.Errorf("it is shown as %s", hidden)
	}
	restored, whole := restoreUserinfo(hideUserinfo(document), document)
	if !whole || string(restored) != string(document) {
		t.Errorf("it is restored as %s, %v", restored, whole)
	}
}
