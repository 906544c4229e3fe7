package envelope_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/envelope"
)

func TestOnlyAnEnvelopeIsTakenForOne(t *testing.T) {
	document, err := envelope.Put([]byte("sealed"))
	if err != nil {
		t.Fatal(err)
	}
	if sealed, is := envelope.Take(document); !is || string(sealed) != "sealed" {
		t.Errorf("%s is taken as %q, %v", document, sealed, is)
	}
	for _, other := range []string{``, `null`, `{}`, `{"$sealed":5}`, `{"$sealed":null}`, `{"$sealed":"AAAA","more":1}`, `"$sealed"`, `["$sealed"]`, `{"a":{"$sealed":"AAAA"}}`} {
		if sealed, is := envelope.Take([]byte(other)); is {
			t.Errorf("%s is taken as %q", other, sealed)
		}
	}
}

func TestTheSizeOfWhatIsSealedCounts(t *testing.T) {
	largest, err := envelope.Put(bytes.Repeat([]byte("x"), fairlead.MaxArgs))
	if err != nil {
		t.Fatal(err)
	}
	job := &fairlead.Job{Kind: "pay", Args: largest}
	if err := envelope.NormalizeJobs([]*fairlead.Job{job}); err != nil || !bytes.Equal(job.Args, largest) || job.Queue != fairlead.DefaultQueue {
		t.Errorf("it has %d bytes of args, in the queue %q: %v", len(job.Args), job.Queue, err)
	}
	plain := &fairlead.Job{Kind: "pay", Args: []byte(`"` + strings.Repeat("x", fairlead.MaxArgs) + `"`)}
	for what, jobs := range map[string][]*fairlead.Job{"args that are not sealed": {plain}, "a sealed job without a kind": {{Args: largest}}, "no job": {nil}} {
		if err := envelope.NormalizeJobs(jobs); err == nil {
			t.Errorf("%s: they are accepted", what)
		}
	}
}
