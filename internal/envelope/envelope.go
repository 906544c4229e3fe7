// Package envelope defines the form in which package seal stores documents: an object with
// a single member, the sealed bytes. Stores know the form, but not the contents.
package envelope

import (
	"bytes"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
)

// envelope is stored in the database instead of a document.
type envelope struct {
	Sealed []byte `json:"$sealed"`
}

// Name is the name of the envelope's only member.
const Name = "$sealed"

// Put returns an envelope that contains sealed.
func Put(sealed []byte) (json.RawMessage, error) { return json.Marshal(envelope{sealed}) }

// Take returns the sealed bytes in an envelope. It returns false if the document is not an
// envelope.
func Take(document []byte) (sealed []byte, is bool) {
	if head := document[:min(len(document), 2*len(Name)+4)]; !bytes.Contains(head, []byte(`"`+Name+`"`)) {
		return nil, false
	}
	var found envelope
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&found) != nil || found.Sealed == nil {
		return nil, false
	}
	return found.Sealed, true
}

// TooLong reports whether an unsealed document is longer than MaxArgs. It returns false for
// a sealed document, whose size package seal checked before sealing made it a third longer.
func TooLong(document []byte) bool {
	if len(document) <= fairlead.MaxArgs {
		return false
	}
	_, is := Take(document)
	return !is
}

// NormalizeJobs calls fairlead.NormalizeJobs for a store, which may receive jobs with sealed
// args.
func NormalizeJobs(jobs []*fairlead.Job) error {
	for _, job := range jobs {
		if job != nil && len(job.Args) > fairlead.MaxArgs && !TooLong(job.Args) {
			args := job.Args
			job.Args = nil
			defer func() { job.Args = args }()
		}
	}
	return fairlead.NormalizeJobs(jobs)
}
