package wire_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
)

func TestAMessageIsReadAndWrittenAsTheSchemaSays(t *testing.T) {
	for _, example := range []struct {
		name    string
		json    string
		message proto.Message
		written string // if different from json
	}{
		{"nothing", `{}`, &fairleadv1.Job{}, ""},
		{"texts", `{"kind":"a\u00e4\n\"\\/\ud83d\ude00","queue":"ü"}`, &fairleadv1.Job{Kind: "aä\n\"\\/😀", Queue: "ü"}, `{"kind":"aä\n\"\\/😀","queue":"ü"}`},
		{"texts with escapes in the middle", `{"kind":"\u0009 \"a\" ","queue":"\b\f\r\t"}`, &fairleadv1.Job{Kind: "\t \"a\" ", Queue: "\b\f\r\t"}, `{"kind":"\u0009 \"a\" ","queue":"\u0008\u000c\u000d\u0009"}`},
		{
			"the least and the greatest numbers", `{"id":-9223372036854775808,"fence":"9223372036854775807","priority":-2147483648,"attempt":2147483647}`,
			&fairleadv1.Job{Id: math.MinInt64, Fence: math.MaxInt64, Priority: math.MinInt32, Attempt: math.MaxInt32},
			`{"id":"-9223372036854775808","priority":-2147483648,"attempt":2147483647,"fence":"9223372036854775807"}`,
		},
		{"exponents", `{"factor":1e+2}`, &fairleadv1.Retry{Factor: 100}, `{"factor":100}`},
		{"numbers that begin with each digit", `{"priority":0,"attempt":9,"failures":"0"}`, &fairleadv1.Job{Attempt: 9}, `{"attempt":9}`},
		{"fractions that begin with each digit", `{"factor":0.5}`, &fairleadv1.Retry{Factor: 0.5}, ""},
		{"a large fraction", `{"factor":9.75}`, &fairleadv1.Retry{Factor: 9.75}, ""},
		{"small and negative fractions", `{"factor":-2.5E-1}`, &fairleadv1.Retry{Factor: -0.25}, `{"factor":-0.25}`},
		{"numbers", `{"id":9007199254740993,"priority":-5,"attempt":"7"}`, &fairleadv1.Job{Id: 9007199254740993, Priority: -5, Attempt: 7}, `{"id":"9007199254740993","priority":-5,"attempt":7}`},
		{"documents", `{"args": {"a": [1, 2.50, null], "b": "x"} , "output":0}`, &fairleadv1.Job{Args: []byte(`{"a": [1, 2.50, null], "b": "x"}`), Output: []byte("0")}, `{"args":{"a":[1,2.50,null],"b":"x"},"output":0}`},
		{
			"times", `{"not_before":"2026-02-03T04:05:06.000007+01:00","timeout":"1m30s"}`,
			&fairleadv1.Job{NotBefore: &timestamppb.Timestamp{Seconds: 1770087906, Nanos: 7000}, Timeout: &durationpb.Duration{Seconds: 90}},
			`{"not_before":"2026-02-03T03:05:06.000007Z","timeout":"90s"}`,
		},
		{
			"fractions", `{"base":"1.5s","factor":2.5,"max":"0.25s","precise":true}`,
			&fairleadv1.Retry{Base: &durationpb.Duration{Seconds: 1, Nanos: 500_000_000}, Factor: 2.5, Max: &durationpb.Duration{Nanos: 250_000_000}, Precise: true}, "",
		},
		{
			"lists", `{"jobs":[{"kind":"a"},{"kind":"b","retry":{"factor":1}}]}`,
			&fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{{Kind: "a"}, {Kind: "b", Retry: &fairleadv1.Retry{Factor: 1}}}}, "",
		},
		{"maps", `{"labels":{"b":"2","a":"1"}}`, &fairleadv1.Tenant{Labels: map[string]string{"a": "1", "b": "2"}}, `{"labels":{"a":"1","b":"2"}}`},
		{"nulls", `{"kind":null,"retry":null}`, &fairleadv1.NewJob{}, `{}`},
		{"empty pages", `{"items":[]}`, &fairleadv1.ListJobsResponse{}, ""},
		{"spaces", " {\n\t\"kind\" : \"a\" , \"priority\" : 1 }\r\n", &fairleadv1.NewJob{Kind: "a", Priority: 1}, `{"kind":"a","priority":1}`},
	} {
		t.Run(example.name, func(t *testing.T) {
			got := example.message.ProtoReflect().New().Interface()
			if err := wire.Unmarshal([]byte(example.json), got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(example.message, got, protocmp.Transform()); diff != "" {
				t.Errorf("the message differs (-want +got):\n%s", diff)
			}
			written, err := wire.Marshal(example.message)
			if err != nil {
				t.Fatal(err)
			}
			want := example.written
			if want == "" {
				want = example.json
			}
			if string(written) != want {
				t.Errorf("written as %s\nwant       %s", written, want)
			}
		})
	}
}

func TestWhatDoesNotFitIsRefusedByItsPath(t *testing.T) {
	for document, want := range map[string]string{
		``:                                       "is not JSON: unexpected end of the document, expected a value at byte 0",
		`[]`:                                     "is a list; it must be an object",
		`{"jobs":[{"kind":"a"}`:                  `is not JSON: unexpected end of the document, expected ']' at byte 21`,
		`{"jobs":[{"kind":"a"},]}`:               "is not JSON: unexpected ']', expected a value at byte 22",
		`{"jobs":[]} x`:                          "is not JSON: unexpected data after the end of the document at byte 12",
		`{"jobs":{}}`:                            "jobs: is an object; it must be a list",
		`{"jobs":[{"kidn":"a"}]}`:                "jobs[0].kidn: is not a known field",
		`{"jobs":[{"kind":"a","kind":"b"}]}`:     "jobs[0].kind: appears twice",
		`{"jobs":[{},{"kind":7}]}`:               "jobs[1].kind: is a number; it must be a string",
		`{"jobs":[{"priority":"x"}]}`:            `jobs[0].priority: is "x"; it must be a whole number`,
		`{"jobs":[{"priority":1.5}]}`:            `jobs[0].priority: is "1.5"; it must be a whole number`,
		`{"jobs":[{"priority":3000000000}]}`:     "jobs[0].priority: is 3000000000; it must be between -2147483648 and 2147483647",
		`{"jobs":[{"start_by":"tomorrow"}]}`:     `jobs[0].start_by: is "tomorrow"; it must be a time such as "2026-01-31T12:00:00Z"`,
		`{"jobs":[{"timeout":20}]}`:              `jobs[0].timeout: is a number; it must be a duration such as "20s"`,
		`{"jobs":[{"retry":{"factor":"2"}}]}`:    "jobs[0].retry.factor: is a string; it must be a number",
		`{"jobs":[{"retry":{"precise":1}}]}`:     "jobs[0].retry.precise: is a number; it must be true or false",
		`{"jobs":[{"kind":"\x00"}]}`:             "is not JSON",
		`{"jobs":[{"kind":"` + "\xff" + `"}]}`:   "is not JSON: a string is not valid UTF-8",
		`{"jobs":[{"kind":"\ud800"}]}`:           "is not JSON: half of a surrogate pair is missing",
		`{"jobs":[{"kind":"\ud800\u0041"}]}`:     "is not JSON: invalid surrogate pair",
		`{"jobs":[{"kind":"\ud800abcdef"}]}`:     "is not JSON: half of a surrogate pair is missing",
		`{"jobs":[{"kind":"\n` + "\x1f" + `"}]}`: "is not JSON: control character in a string",
		`{"jobs":[{"kind":"` + "\x1f" + `"}]}`:   "is not JSON: control character in a string",
		`{"jobs":[{"kind":"\n` + "\xff" + `"}]}`: "is not JSON: a string is not valid UTF-8",
		`{"jobs":[{"kind":"\q"}]}`:               `is not JSON: unknown escape \q`,
		`{"jobs":[{"kind":"\n`:                   "is not JSON: unterminated string",
		`{"jobs":[{"kind":"\`:                    "is not JSON: unterminated string",
		`{"jobs":[{"kind":"\u12`:                 "is not JSON: unterminated string",
		`{"jobs":[{"priority":true}]}`:           "jobs[0].priority: is true; it must be a whole number",
		`{"jobs":[{"priority":[]}]}`:             "jobs[0].priority: is a list; it must be a whole number",
		`{"jobs":[{"priority":-}]}`:              "is not JSON: unexpected '-', expected a number",
		`{"jobs":[{"retry":{"factor":null1}}]}`:  "is not JSON",
		`{"jobs":[{"retry":{"factor":{}}}]}`:     "jobs[0].retry.factor: is an object; it must be a number",
		`{"jobs":[{"retry":{"factor":1e999}}]}`:  "jobs[0].retry.factor: is 1e999, which is out of range",
		`{"jobs":[{"kind":"\ud83d\uZZ00"}]}`:     `is not JSON: "ZZ00" are not four hexadecimal digits`,
		`{"jobs":[{"kind":"\u12G4"}]}`:           `is not JSON: "12G4" are not four hexadecimal digits`,
		`{"jobs":[{"priority":1.}]}`:             "is not JSON: unexpected '}', expected a digit",
		`{"jobs":[{"priority":1e}]}`:             "is not JSON: unexpected '}', expected a digit",
		`{"jobs":[{"priority":-2147483649}]}`:    "jobs[0].priority: is -2147483649; it must be between -2147483648 and 2147483647",
		`{"jobs":[{"priority":2147483648}]}`:     "jobs[0].priority: is 2147483648; it must be between -2147483648 and 2147483647",
		`{"jobs":[{"args":01}]}`:                 "is not JSON",
		`{"jobs":[{"args":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}]}`: "is not JSON: nesting of more than 64 levels",
	} {
		err := wire.Unmarshal([]byte(document), &fairleadv1.EnqueueJobsRequest{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", document, err, want)
		}
		var refusal *wire.FieldError
		if !errors.As(err, &refusal) {
			t.Errorf("%s: the error is a %T", document, err)
		}
	}
}

func TestRulesAreCheckedAllAtOnce(t *testing.T) {
	request := &fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{
		{Kind: "ok"},
		{Kind: strings.Repeat("k", 201), Priority: 40000, OnDuplicate: "ignore"},
		{MaxAttempts: -1},
	}}
	want := []wire.FieldError{
		{Field: "jobs[1].kind", Message: "has 201 bytes; at most 200 are allowed"},
		{Field: "jobs[1].priority", Message: "is 40000; it must be at most 32000"},
		{Field: "jobs[1].on_duplicate", Message: `is "ignore"; it must be one of error, keep, replace`},
		{Field: "jobs[2].kind", Message: "is required"},
		{Field: "jobs[2].max_attempts", Message: "is -1; it must be at least 0"},
	}
	if diff := cmp.Diff(want, wire.Check(request)); diff != "" {
		t.Errorf("what is refused differs (-want +got):\n%s", diff)
	}
	if found := wire.Check(&fairleadv1.ListJobsRequest{State: []string{"ready", "done"}}); len(found) != 1 || found[0].Field != "state[1]" {
		t.Errorf("of a list %v is refused", found)
	}
	if found := wire.Check(&fairleadv1.EnqueueJobsRequest{}); len(found) != 1 || found[0].Field != "jobs" {
		t.Errorf("of nothing %v is refused", found)
	}
}

func TestRulesAllowTheLargestAndTheSmallestThatTheyName(t *testing.T) {
	for name, allowed := range map[string]proto.Message{
		"texts and numbers": &fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{
			{Kind: strings.Repeat("k", 200), Priority: 32000, Key: strings.Repeat("k", 255)}, {Kind: "k", Priority: -32000, MaxAttempts: 32000},
		}},
		"a list": &fairleadv1.EnqueueJobsRequest{Jobs: slices.Repeat([]*fairleadv1.NewJob{{Kind: "k"}}, 10_000)},
	} {
		if found := wire.Check(allowed); len(found) != 0 {
			t.Errorf("%s: %v is refused", name, found)
		}
	}
	over := &fairleadv1.EnqueueJobsRequest{Jobs: slices.Repeat([]*fairleadv1.NewJob{{Kind: "k"}}, 10_001)}
	want := []wire.FieldError{{Field: "jobs", Message: "has 10001 entries; at most 10000 are allowed at once"}}
	if diff := cmp.Diff(want, wire.Check(over)); diff != "" {
		t.Errorf("of a list that is too long it differs what is refused (-want +got):\n%s", diff)
	}
}

// No database can store a NUL in a string, so every field rejects it, except for texts of
// handlers.
func TestATextWithANULIsRefusedWhereverItStands(t *testing.T) {
	for field, message := range map[string]proto.Message{
		"jobs[0].kind":  &fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{{Kind: "a\x00"}}},
		"kind[1]":       &fairleadv1.ListJobsRequest{Kind: []string{"a", "\x00"}},
		"labels":        &fairleadv1.Tenant{Name: "n", Labels: map[string]string{"\x00": "v"}},
		"alert.headers": &fairleadv1.Schedule{Alert: &fairleadv1.Alert{Headers: map[string]string{"k": "v\x00"}}},
	} {
		want := wire.FieldError{Field: field, Message: "contains a NUL character"}
		if found := wire.Check(message); !slices.Contains(found, want) {
			t.Errorf("%s: %v is refused", field, found)
		}
	}
	if found := wire.Check(&fairleadv1.FailJobRequest{Id: 1, Fence: 1, Error: "a\x00"}); len(found) != 0 {
		t.Errorf("of what a handler says %v is refused", found)
	}
}

// Any input is decoded with the same result as by encoding/json, or rejected.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{`{}`, `{"jobs":[{"kind":"a","args":{"x":[1,2]},"timeout":"5s","retry":{"base":"1s"}}]}`, `{"jobs":null}`, `[`, `{"jobs":[{"kind":"\u12"}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		message := &fairleadv1.EnqueueJobsRequest{}
		if err := wire.Unmarshal(data, message); err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q was read, and is not JSON", data)
		}
		wire.Check(message)
		written, err := wire.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		again := &fairleadv1.EnqueueJobsRequest{}
		if err := wire.Unmarshal(written, again); err != nil {
			t.Fatalf("%s is not read again: %v", written, err)
		}
		if twice, err := wire.Marshal(again); err != nil || string(twice) != string(written) {
			t.Errorf("it is written as %s\nand then as %s (%v)", written, twice, err)
		}
	})
}

func BenchmarkUnmarshal(b *testing.B) {
	document := []byte(`{"jobs":[` + strings.Repeat(`{"kind":"noop","args":{"data":"`+strings.Repeat("x", 100)+`"}},`, 999) + `{"kind":"noop"}]}`)
	for b.Loop() {
		message := &fairleadv1.EnqueueJobsRequest{}
		if err := wire.Unmarshal(document, message); err != nil {
			b.Fatal(err)
		}
		if found := wire.Check(message); len(found) > 0 {
			b.Fatal(found)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000/1000, "µs/job")
}
