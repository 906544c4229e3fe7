package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAFileIsReadAgainWhenItHasChanged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	reads := 0
	var log bytes.Buffer
	r, err := newReread("the token", slog.New(slog.NewTextHandler(&log, nil)), func() (string, error) {
		reads++
		raw, err := os.ReadFile(file)
		if string(raw) == "bad" {
			err = errors.New("it is bad")
		}
		return string(raw), err
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r.now = func() time.Time { return now }
	want := func(value string, times int) {
		t.Helper()
		now = now.Add(rereadPause)
		if got := r.get(); got != value || reads != times {
			t.Errorf("got %q after %d reads, want %q after %d", got, reads, value, times)
		}
	}
	want("first", 1)
	at = at.Add(time.Second)
	write("other")
	if got := r.get(); got != "first" {
		t.Errorf("within the pause it is %q", got)
	}
	want("other", 2)
	at = at.Add(time.Second)
	write("bad")
	want("other", 3)
	want("other", 3)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	want("other", 4)
	write("good")
	want("good", 5)
	if said := log.String(); strings.Count(said, "cannot be read") != 2 || !strings.Contains(said, "it is bad") {
		t.Errorf("the log says\n%s", said)
	}
}
