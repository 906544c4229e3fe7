package httpcall_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
)

func TestArgsThatAreNoCallAreRefusedByField(t *testing.T) {
	headers := make([]string, 101)
	for i := range headers {
		headers[i] = fmt.Sprintf(`"H%d":"x"`, i)
	}
	for args, want := range map[string]string{
		``:                                      "args",
		`null`:                                  "args.url",
		`[]`:                                    "args",
		`{}`:                                    "args.url",
		`{"url":7}`:                             "args.url",
		`{"url":"ftp://x"}`:                     "args.url",
		`{"url":"http://{{tenant}}/"}`:          "args.url",
		`{"url":"http://x/{{args.y}}"}`:         "args.url",
		`{"url":"http://x","urll":"y"}`:         "args.urll",
		`{"url":"http://x","method":"G T"}`:     "args.method",
		`{"url":"http://x","method":"connect"}`: "args.method",
		`{"url":"http://x","headers":{"a b":"c"}}`:                                                                                "args.headers",
		`{"url":"http://x","headers":{"A":"b\r\nC: d"}}`:                                                                          "args.headers.A",
		`{"url":"http://x","headers":{"A":"{{nope}}"}}`:                                                                           "args.headers.A",
		`{"url":"http://x","headers":{"A":1}}`:                                                                                    "args.headers",
		`{"url":"http://x","headers":{` + strings.Join(headers, ",") + `}}`:                                                       "args.headers",
		`{"url":"http://x","headers":{"Content-Type":"{{tenant}}"}}`:                                                              "args.headers.Content-Type",
		`{"url":"http://x","headers":{"A":"{{args.v}}"},"vars":{"v":"a\nb"}}`:                                                     "args.headers.A",
		`{"url":"http://x","body":{"a":"{{nope}}"}}`:                                                                              "args.body",
		`{"url":"http://x","body":"{{callback_url}}"}`:                                                                            "args.body",
		`{"url":"http://x?{{callback_token}}"}`:                                                                                   "args.url",
		`{"url":"http://x","vars":[1]}`:                                                                                           "args.vars",
		`{"url":"http://x","timeout_seconds":-1}`:                                                                                 "args.timeout_seconds",
		`{"url":"http://x","timeout_seconds":100000}`:                                                                             "args.timeout_seconds",
		`{"url":"http://x","timeout_seconds":"15"}`:                                                                               "args.timeout_seconds",
		`{"url":"http://x","callback_method":"POST"}`:                                                                             "args.callback_method",
		`{"url":"http://x","async":true,"callback_method":"GET"}`:                                                                 "args.callback_method",
		`{"url":"http://x","callback_timeout_seconds":5}`:                                                                         "args.callback_timeout_seconds",
		`{"url":"http://x","success":{"status":["2"]}}`:                                                                           "args.success.status[0]",
		`{"url":"http://x","success":{"expression":"body ="}}`:                                                                    "args.success.expression",
		`{"url":"http://x","success":{"state":"x"}}`:                                                                              "args.state",
		`{"url":"http://x","signing_secret":"plain"}`:                                                                             "args.signing_secret",
		`{"url":"http://x","tls":{"ca":"x"}}`:                                                                                     "args.tls.ca",
		`{"url":"http://x","tls":{"client_key":"${env:K}"}}`:                                                                      "args.tls",
		`{"url":"http://x","tls":{"client_key":"x","client_certificate":"${env:C}"}}`:                                             "args.tls.client_key",
		`{"url":"http://x","tls":{"insecure":true}}`:                                                                              "args.insecure",
		`{"url":"http://x","body":"` + strings.Repeat("{{run_id}}", 60_000) + `"}`:                                                "args.body",
		`{"url":"http://x/?` + strings.Repeat("{{run_id}}", 1500) + `","body":"` + strings.Repeat("${env:A}", 1500) + `"}`:        "args.body",
		`{"url":"http://x/` + strings.Repeat("a", 20_000) + `"}`:                                                                  "args.url",
		`{"url":"http://x","success":{"status":["2xx"` + strings.Repeat(`,"2xx"`, 100) + `]}}`:                                    "args.success.status",
		`{"url":"http://x","body":"` + strings.Repeat("{{args.v}}", 5000) + `","vars":{"v":"` + strings.Repeat("x", 1000) + `"}}`: "args.body",
	} {
		err := httpcall.Validate(json.RawMessage(args))
		var invalid *fairlead.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != want || invalid.Fields[0].Message == "" {
			t.Errorf("%.100s: got %v, want %s", args, err, want)
		}
	}
	err := httpcall.Validate(json.RawMessage(`{"url":"x","method":"trace","vars":1,"timeout_seconds":-1}`))
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Fields) != 4 {
		t.Errorf("of four wrong fields it names %v", err)
	}
}

func TestArgsThatAreACallAreAccepted(t *testing.T) {
	for _, args := range []string{
		`{"url":"http://x"}`,
		`{"url":"https://x.example:8443/a/{{run_id}}?d={{due_time}}&s=${env:S}","method":"get"}`,
		`{"url":"http://x","body":"` + strings.Repeat("{{run_id}} ${HOME} $", 2000) + `"}`,
		`{"url":"http://x","headers":{"Authorization":"Bearer ${env:TOKEN}"},"body":{"id":"{{run_id}}","n":[1,null]},"success":{"status":["2xx","304"],"expression":"body.ok"}}`,
		`{"url":"http://x","body":"{\"attempt\":{{attempt}},\"x\":{{args.x}}}","vars":{"x":{"y":[1]}}}`,
		`{"url":"http://x","async":true,"callback_timeout_seconds":60,"body":"{{callback_url}} {{callback_token}}","headers":{"content-type":"text/plain"}}`,
		`{"url":"http://x","signing_secret":"${env:HOOK}","tls":{"ca":"${file:/ca}","client_certificate":"${file:/c}","client_key":"${file:/k}"},"timeout_seconds":0.5}`,
		`{"url":"http://x","body":null}`, `{"url":"http://x","body":""}`, `{"url":"http://x","body":7}`,
	} {
		if err := httpcall.Validate(json.RawMessage(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestHeadersThatOnlyFairleadSetsAreRefused(t *testing.T) {
	calls := httpcall.New(httpcall.Options{Guard: local(t)})
	for _, name := range []string{
		"Webhook-Signature", "webhook-signature", "WEBHOOK-SIGNATURE", "webhook_signature", "Webhook-Id", "webhook-ID", "Webhook-Timestamp",
		"Fairlead-Signature", "fairlead-job", "FAIRLEAD-FENCE", "Fairlead-Attempt", "Fairlead-Callback-Url", "Fairlead-Callback-Token", "fairlead_job", "Fairlead-Anything",
		"Idempotency-Key", "idempotency-key", "IDEMPOTENCY_KEY", "traceparent", "Tracestate",
	} {
		args := json.RawMessage(`{"url":"http://x","headers":{"` + name + `":"forged","X-Fine":"1"}}`)
		for sort, err := range map[string]error{"a job": calls.Validate(args), "a call": httpcall.Validate(args), "a sweep": calls.ValidateItems(args, 1)} {
			var invalid *fairlead.InvalidError
			if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != "args.headers."+name {
				t.Errorf("%s of %s: got %v", name, sort, err)
			}
		}
	}
}

// FuzzValidate looks for args that break the program.
func FuzzValidate(f *testing.F) {
	f.Add(`{"url":"http://x/{{run_id}}?{{args.a.0}}","vars":{"a":[1]},"body":{"x":"${env:A}"},"headers":{"A":"{{key}}"},"success":{"expression":"body.x"}}`)
	f.Fuzz(func(t *testing.T, args string) {
		err := httpcall.Validate(json.RawMessage(args))
		var invalid *fairlead.InvalidError
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("%s: %v", args, err)
		}
	})
}
