package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestSpansOfTimeAreReadableInEveryLog(t *testing.T) {
	for format, want := range map[string]string{"json": `"pause":"1.5s"`, "text": "pause=1.5s"} {
		var out bytes.Buffer
		log, err := newLogger(&out, format, "info")
		if err != nil {
			t.Fatal(err)
		}
		log.With("pause", 1500*time.Millisecond).Info("it waits")
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log says %s, want %s", out.String(), want)
		}
	}
}
