package overload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestErrorsOfConnectionsAreBoundedAndEscapedInTheLog(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	lines := &errorLog{log: slog.New(slog.NewJSONHandler(&out, nil)), now: func() time.Time { return now }}
	logged := func() (all []map[string]any) {
		t.Helper()
		for line := range strings.Lines(out.String()) {
			var one map[string]any
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			all = append(all, one)
		}
		out.Reset()
		return all
	}
	for i := range 1000 {
		fmt.Fprintf(lines, "%s[2001:db8::7]:%d: tls: bad \x1b[2J\x00\u202e\u009b%s\n", handshakeFailed, i, strings.Repeat("x", 5000))
	}
	found := logged()
	if len(found) != errorLines {
		t.Fatalf("a flood makes %d lines", len(found))
	}
	first := found[0]
	if cause := first["cause"].(string); first["msg"] != "TLS handshake failed" || first["level"] != "WARN" || first["from"] != "[2001:db8::7]:0" || len(cause) > peerErrors+20 || strings.ContainsAny(cause, "\x1b\x00\u202e\u009b") {
		t.Errorf("it is logged as %v", first)
	}
	fmt.Fprint(lines, "http: panic serving 192.0.2.1:9: oh\ngoroutine 7 [running]:\n\tmain.main()\n")
	if found = logged(); len(found) != 1 || found[0]["level"] != "ERROR" || !strings.Contains(found[0]["cause"].(string), "oh\ngoroutine 7 [running]:\n\tmain") {
		t.Errorf("a panic during a flood is logged as %v", found)
	}
	now = now.Add(errorPause)
	fmt.Fprint(lines, handshakeFailed+"192.0.2.1:9: EOF\n")
	if found = logged(); len(found) != 1 || found[0]["withheld"] != 990.0 || found[0]["cause"] != "EOF" {
		t.Errorf("after the flood %v is logged", found)
	}
}
