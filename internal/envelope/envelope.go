// Package envelope is the form in which package seal stores documents: an object with one
// member, the sealed bytes. Stores know the form, not what is in it.
package envelope

import (
	"bytes"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
)

// envelope is what a database has instead of a document.
type envelope struct {
	Sealed []byte `json:"$sealed"`
}

// Name is the name of the one member.
const Name = "$sealed"

// Put returns the document that stands for sealed bytes.
func Put(sealed []byte) (json.RawMessage, error) { return json.Marshal(envelope{sealed}) }

// Take returns the sealed bytes of an envelope. It reports false for any other document.
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

// TooLong reports whether a document is longer than MaxArgs. The size of what was sealed
// counts, not of what sealing has made of it: that is longer by a third, and package seal has
// checked it before.
func TooLong(document []byte) bool {
	if len(document) <= fairlead.MaxArgs {
		return false
	}
	_, is := Take(document)
	return !is
}

// NormalizeJobs is fairlead.NormalizeJobs for stores, which may get jobs whose args are sealed.
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
