package wire_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// entries returns n identical entries of a list in protobuf.
func entries(number protowire.Number, content []byte, n int) []byte {
	one := protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	return bytes.Repeat(one, n)
}

// A request that is small when compressed must not become large when decoded.
func TestWhatExceedsTheBoundsIsRefusedBeforeItIsAllocated(t *testing.T) {
	const size = 16 << 20
	many := size / 2
	for name, bomb := range map[string]struct {
		into     proto.Message
		data     []byte
		isBinary bool
		want     string
	}{
		"messages":             {&fairleadv1.EnqueueJobsRequest{}, entries(1, nil, many), true, "jobs: has more than 10000 entries"},
		"messages without max": {&fairleadv1.NewBatch{}, entries(20, nil, size/3), true, "tasks: has more than 100000 entries"},
		"packed numbers":       {&fairleadv1.RetrySweepRequest{}, entries(2, make([]byte, size), 1), true, "indexes: has more than 10000 entries"},
		"texts":                {&fairleadv1.ListJobsRequest{}, entries(2, nil, many), true, "kind: has more than 100000 entries"},
		"entries of a map":     {&fairleadv1.Tenant{}, entries(10, nil, many), true, "labels: has more than 100000 entries"},
		"a message repeated":   {&fairleadv1.NewBatch{}, entries(16, nil, size/3), true, "canary: has more than 250000 elements"},
		"nested JSON":          {&fairleadv1.EnqueueJobsRequest{}, entries(1, entries(2, bytes.Repeat([]byte("["), size), 1), 1), true, "jobs.args: is not JSON: nesting of more than 64 levels"},

		"messages, as JSON":         {&fairleadv1.EnqueueJobsRequest{}, []byte(`{"jobs":[` + strings.Repeat(`{},`, size/3)), false, "jobs: has more than 10000 entries"},
		"tasks, as JSON":            {&fairleadv1.NewBatch{}, []byte(`{"tasks":[` + strings.Repeat(`{},`, size/3)), false, "tasks: has more than 100000 entries"},
		"texts, as JSON":            {&fairleadv1.ListJobsRequest{}, []byte(`{"kind":[` + strings.Repeat(`"",`, size/3)), false, "kind: has more than 100000 entries"},
		"nested JSON in JSON":       {&fairleadv1.EnqueueJobsRequest{}, []byte(`{"jobs":[{"args":` + strings.Repeat(`[`, size)), false, "is not JSON: nesting of more than 64 levels"},
		"entries of a map, as JSON": {&fairleadv1.Tenant{}, []byte(`{"labels":{` + labels(size/12)), false, "labels: has more than 100000 entries"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			made := allocated(func() {
				if bomb.isBinary {
					err = wire.UnmarshalBinary(bomb.data, bomb.into)
				} else {
					err = wire.Unmarshal(bomb.data, bomb.into)
				}
			})
			if err == nil || !strings.HasPrefix(err.Error(), bomb.want) {
				t.Errorf("got %.200v, want %s", err, bomb.want)
			}
			if made > 3*size {
				t.Errorf("%d bytes became %d MiB", len(bomb.data), made>>20)
			}
		})
	}
}

// labels returns members of an object with distinct names.
func labels(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `"%07d":"",`, i)
	}
	return out.String()
}

// A request within the limits is decoded like package proto decodes it.
func TestBinaryIsReadWithinTheBounds(t *testing.T) {
	want := &fairleadv1.NewBatch{Name: "n", Canary: &fairleadv1.Canary{Tasks: 3}, Info: []byte(`{"a":[1,2]}`)}
	for range 100_000 {
		want.Tasks = append(want.Tasks, &fairleadv1.NewTask{})
	}
	data, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, entries(999, []byte("unknown"), 1)...)
	got := &fairleadv1.NewBatch{}
	if err := wire.UnmarshalBinary(data, got); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, want) {
		t.Error("what was read is not what was written")
	}
}

// An empty document counts as absent, as in JSON.
func TestABinaryDocumentIsJSONOrNotThere(t *testing.T) {
	for document, want := range map[string]string{
		"": "", "null": "", ` {"a":[1]} `: "", "{": "jobs.args: is not JSON: ", "1 2": "jobs.args: is not JSON: unexpected data after the end of the document", " ": "jobs.args: is not JSON: ",
	} {
		into := &fairleadv1.EnqueueJobsRequest{}
		err := wire.UnmarshalBinary(entries(1, entries(2, []byte(document), 1), 1), into)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v", document, err)
		}
		if err == nil && string(into.GetJobs()[0].GetArgs()) != document {
			t.Errorf("%q was read as %q", document, into.GetJobs()[0].GetArgs())
		}
	}
	for name, data := range map[string][]byte{"a tag": {0xff}, "a value": {0x0a, 5, 1}, "a text": entries(1, entries(1, []byte{0xff}, 1), 1)} {
		if err := wire.UnmarshalBinary(data, &fairleadv1.EnqueueJobsRequest{}); err == nil {
			t.Errorf("%s that is cut off or no text was read", name)
		}
	}
}

// Each list is short enough, but the messages in their entries are too many in total.
func TestAllElementsOfARequestAreCountedTogether(t *testing.T) {
	const entries = 90_000
	job := &fairleadv1.Job{Timeout: durationpb.New(1e9), NotBefore: timestamppb.New(time.Unix(1, 0))}
	data, err := proto.Marshal(&fairleadv1.ListJobsResponse{Items: slices.Repeat([]*fairleadv1.Job{job}, entries)})
	if err != nil {
		t.Fatal(err)
	}
	document := `{"items":[` + strings.Repeat(`{"timeout":"1s","not_before":"2030-01-01T00:00:00Z"},`, entries-1) + `{}]}`
	for form, err := range map[string]error{
		"protobuf": wire.UnmarshalBinary(data, &fairleadv1.ListJobsResponse{}),
		"JSON":     wire.Unmarshal([]byte(document), &fairleadv1.ListJobsResponse{}),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), "has more than 250000 elements; send less at once") {
			t.Errorf("as %s: got %v", form, err)
		}
	}
}

// A message with very many errors is rejected with only the first of them.
func TestNotAllMistakesOfALargeRequestAreNamed(t *testing.T) {
	request := &fairleadv1.EnqueueJobsRequest{}
	for range 10_000 {
		request.Jobs = append(request.Jobs, &fairleadv1.NewJob{MaxAttempts: -1, Priority: 40000}) // three errors each: the last one reported is in the middle of a job
	}
	if found := wire.Check(request); len(found) != 100 {
		t.Errorf("%d mistakes are named", len(found))
	}
}

// allocated returns the number of bytes that a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestTooManyMessagesInJSONAreRefusedBeforeTheFirstIsAllocated(t *testing.T) {
	document := []byte(`{"jobs":[` + strings.Repeat(`{},`, 10_000) + `{}]}`)
	made := allocated(func() {
		err := wire.Unmarshal(document, &fairleadv1.EnqueueJobsRequest{})
		if want := "jobs: has more than 10000 entries; send fewer at once"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	if made > 100<<10 {
		t.Errorf("%d bytes were allocated", made)
	}
}

func TestWhatIsReadOfJSONDoesNotKeepTheDocument(t *testing.T) {
	document := []byte(`{"jobs":[{"kind":"noop","args":{"a":"b\u00e9"}}]}`)
	request := &fairleadv1.EnqueueJobsRequest{}
	if err := wire.Unmarshal(document, request); err != nil {
		t.Fatal(err)
	}
	clear(document)
	if got := string(request.GetJobs()[0].GetArgs()); got != `{"a":"b\u00e9"}` {
		t.Errorf("args are %q after the document was overwritten", got)
	}
}
