package alert_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
)

func TestARuleGetsItsDefaults(t *testing.T) {
	rule := alert.Rule{Name: "a", URL: "https://example.org/"}
	if err := alert.Normalize(&rule); err != nil {
		t.Fatal(err)
	}
	if rule.Scope != alert.Global || len(rule.On) != 1 || rule.On[0] != alert.Failed || rule.Quiet != time.Minute || rule.Gather != 10*time.Second {
		t.Errorf("it is %+v", rule)
	}
}

func TestARuleThatCannotWorkIsRefusedByItsField(t *testing.T) {
	for field, change := range map[string]func(*alert.Rule){
		"name":           func(r *alert.Rule) { r.Name = "" },
		"url":            func(r *alert.Rule) { r.URL = "" },
		"scope":          func(r *alert.Rule) { r.Scope = "kinds:mail" },
		"on":             func(r *alert.Rule) { r.On = []alert.Event{"recovered"} },
		"backlog":        func(r *alert.Rule) { r.On = []alert.Event{alert.Backlog} },
		"quiet":          func(r *alert.Rule) { r.Quiet = -time.Second },
		"gather":         func(r *alert.Rule) { r.Gather = 1000 * 24 * time.Hour },
		"headers":        func(r *alert.Rule) { r.Headers = map[string]string{"a": strings.Repeat("b", 3000)} },
		"body":           func(r *alert.Rule) { r.Body = json.RawMessage("{") },
		"signing_secret": func(r *alert.Rule) { r.SigningSecret = strings.Repeat("b", 3000) },
	} {
		rule := alert.Rule{Name: "a", URL: "https://example.org/"}
		change(&rule)
		err := alert.Normalize(&rule)
		var invalid *fairlead.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != field {
			t.Errorf("%s is refused as %v", field, err)
		}
	}
	for _, scope := range []alert.Scope{"kind:", "queue", "tenant:" + alert.Scope(strings.Repeat("x", 300)), "all"} {
		if err := alert.Normalize(&alert.Rule{Name: "a", URL: "https://example.org/", Scope: scope}); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("the scope %q is fine: %v", scope, err)
		}
	}
}

func TestABacklogWithoutItsEventIsRefused(t *testing.T) {
	err := alert.Normalize(&alert.Rule{Name: "a", URL: "https://example.org/", Backlog: time.Minute})
	if !errors.Is(err, fairlead.ErrInvalid) {
		t.Errorf("it is fine: %v", err)
	}
}
