package main

import (
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/seal"
	"github.com/fairlead-io/fairlead/sqlite"
)

func TestKeysThatSealAreReadFromAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secret := base64.StdEncoding.EncodeToString(seal.NewSecret())
	store, err := sqlite.Open(t.Context(), ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	log := slog.New(slog.DiscardHandler)
	for text, want := range map[string]string{
		"":                                     "contains no key",
		"# only a remark\n\n":                  "contains no key",
		secret + "\n":                          "line 1: expected an ID and a key",
		"a b c\n":                              "line 1: expected an ID and a key",
		"a " + secret[:20] + "\n":              "AES-256 needs 32",
		"a !" + secret + "\n":                  `line 1: key "a" is not valid Base64`,
		"a " + secret + "\na " + secret + "\n": "duplicate key ID",
	} {
		write(text)
		_, _, err := sealWith(file, store, store, log)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret[:16]) {
			t.Errorf("%q is answered with %v, want %q", text, err, want)
		}
	}
	write("# of this year\n2026-11 " + secret + "\n2026-05 " + base64.StdEncoding.EncodeToString(seal.NewSecret()) + "\n")
	sealed, _, err := sealWith(file, store, store, log)
	if err != nil {
		t.Fatal(err)
	}
	job := &fairlead.Job{Kind: "pay", Args: []byte(`{"card":1}`)}
	if err := fairlead.NewClient(sealed).Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	kept, err := store.Get(t.Context(), job.ID)
	if err != nil || !strings.Contains(string(kept.Args), "$sealed") {
		t.Errorf("it is kept as %s, %v", kept.Args, err)
	}
	if same, _, err := sealWith("", store, store, log); err != nil || same != store {
		t.Errorf("without a file it is another store: %v", err)
	}
}
