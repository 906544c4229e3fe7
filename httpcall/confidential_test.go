package httpcall_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead/httpcall"
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
		if got := fmt.Sprint(httpcall.Confidential(json.RawMessage(args))); got != want {
			t.Errorf("of %s %s are confidential, want %s", args, got, want)
		}
	}
}
