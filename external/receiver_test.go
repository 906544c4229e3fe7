package external_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sqlite"
)

// genuine reports whether a message is from Fairlead and new.
func genuine(key, signature string, body []byte, now time.Time) bool {
	sent, mac, _ := strings.Cut(strings.TrimPrefix(signature, "t="), ",v1=")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	want := hmac.New(sha256.New, []byte(key))
	want.Write([]byte(sent + "."))
	want.Write(body)
	return hmac.Equal([]byte(hex.EncodeToString(want.Sum(nil))), []byte(mac))
}

func TestTheReceiverOfTheDocumentationTellsWhatIsGenuine(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declare(fairlead.Tenant{StartURL: w.service.url + "/start"})
	w.node(w.store, nil, false)
	w.enqueue(externalJob())
	got := w.service.next()
	key, err := w.client.SigningKey(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	otherKey, err := w.client.SigningKey(t.Context(), "another")
	if err != nil {
		t.Fatal(err)
	}
	signature, now := got.header.Get("Fairlead-Signature"), time.Now()
	for name, example := range map[string]struct {
		key, signature, body string
		now                  time.Time
		want                 bool
	}{
		"as it came":       {key, signature, got.raw, now, true},
		"another tenant's": {otherKey, signature, got.raw, now, false},
		"changed":          {key, signature, got.raw + " ", now, false},
		"old":              {key, signature, got.raw, now.Add(time.Hour), false},
		"not signed":       {key, "", got.raw, now, false},
	} {
		if genuine(example.key, example.signature, []byte(example.body), example.now) != example.want {
			t.Errorf("%s: it is taken for the opposite", name)
		}
	}
}

func TestTheDocumentationShowsThisReceiver(t *testing.T) {
	text, err := os.ReadFile("../docs/external.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("receiver_test.go")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(text)
	if block == nil || !strings.Contains(string(code), string(block[1])) {
		t.Error("docs/external.md shows another function than this file")
	}
}
