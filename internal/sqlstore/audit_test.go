package sqlstore

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

func TestAnEntryOfTheAuditLogIsKeptHoweverLongItIs(t *testing.T) {
	long := strings.Repeat("x", 2000)
	document := func(n int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", n-2) + `"`) }
	e := cleanEntry(access.Entry{
		Actor: long, Role: access.Role(long), From: long, Action: long, Subject: long, Tenant: long, Error: "e\x00",
		Before: document(fairlead.MaxArgs), After: document(fairlead.MaxArgs + 1),
	})
	for name, c := range map[string]struct{ got, want int }{
		"actor": {len(e.Actor), 255}, "role": {len(e.Role), 32}, "address": {len(e.From), 255}, "action": {len(e.Action), 255},
		"subject": {len(e.Subject), 1000}, "tenant": {len(e.Tenant), fairlead.MaxName}, "before": {len(e.Before), fairlead.MaxArgs},
	} {
		if c.got != c.want {
			t.Errorf("%d bytes of %s are kept, want %d", c.got, name, c.want)
		}
	}
	if len(e.After) > 10_000 || !json.Valid(e.After) || e.Error == "e\x00" {
		t.Errorf("%d bytes of a document that is too long are kept, and the error %q", len(e.After), e.Error)
	}
	for given, want := range map[string]string{`{"a":1}`: `{"a":1}`, `{`: `"{"`, "\"\xff\"": `"\"` + "\uFFFD" + `\""`, "": ""} {
		if got := cleanEntry(access.Entry{Before: json.RawMessage(given)}).Before; string(got) != want {
			t.Errorf("%q is kept as %q, want %q", given, got, want)
		}
	}
}
