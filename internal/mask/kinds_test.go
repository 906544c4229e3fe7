package mask_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/mask"
)

func TestHeadersThatHoldSecretsByTheirNamesAreConfidential(t *testing.T) {
	for args, want := range map[string]string{
		`{"headers":{"Authorization":"Bearer s3cret","Accept":"text/plain"}}`: "[args.headers.Authorization]",
		`{"Headers":{"x-api-key":"k","COOKIE":"c"}}`:                          "[args.headers.COOKIE args.headers.x-api-key]",
		`{"headers":{"Authorization":"Bearer ${env:TOKEN}"}}`:                 "[]",
		`{"headers":{"X-Callback-Token":"{{callback_token}}"}}`:               "[]",
		`{"headers":{"X-Token":""}}`:                                          "[]",
		`{"headers":{"x.token":"k"}}`:                                         "[args.headers]",
		`{"headers":{"X-Token":["k"]}}`:                                       "[args.headers.X-Token]",
		`{"headers":"Authorization"}`:                                         "[]",
		`{"url":"https://example.org"}`:                                       "[]",
		`{`:                                                                   "[]",
		``:                                                                    "[]",
	} {
		fields := slices.DeleteFunc(mask.Fields(nil, "http", json.RawMessage(args)), func(field string) bool { return !strings.HasPrefix(field, "args.") })
		if got := fmt.Sprint(fields); got != want {
			t.Errorf("of %s %s are confidential, want %s", args, got, want)
		}
	}
}

func TestWhatIsKeptOfACallIsConfidentialAsItsArgsAre(t *testing.T) {
	for field, want := range map[string]string{
		"args.url":         "[args.url output.request.url progress.request.url]",
		"args.headers.x":   "[args.headers.x output.request.headers.x progress.request.headers.x]",
		"args.body.secret": "[args.body.secret output.request.body.secret progress.request.body.secret]",
		"args":             "[args output.request progress.request]",
		"args.*":           "[args.* output.request progress.request]",
		"args.vars.key":    "[args.vars.key]",
		"output.request":   "[output.request]",
	} {
		declared := map[string][]string{"http": {field}, "other": {field}}
		if got := fmt.Sprint(mask.Fields(declared, "http", nil)); got != want {
			t.Errorf("of %s %s are confidential, want %s", field, got, want)
		}
		if got := fmt.Sprint(mask.Fields(declared, "other", nil)); got != "["+field+"]" {
			t.Errorf("of %s of another kind %s are confidential", field, got)
		}
	}
}
