// Package seal encrypts documents before they reach the database:
//
//   - the args, outputs, progress and memos of jobs
//   - the args and the alert of schedules
//   - the parameters of tasks, the info, the args of follow-up jobs and the notification
//     URL of batches
//   - the data and the list of items of sweeps
//   - the complete messages of alert rules
//   - the reasons of bulks
//   - the states before and after a change in the audit log
//
// All other values stay readable, because databases search by them or people read them:
// names, kinds, queues, tenants, keys, states, times, descriptions and error texts.
//
// A program that lacks a key displays the values it cannot open in their sealed form, and
// does not act on them. That is left to programs that have the key.
//
//	keys, err := seal.NewKeys(seal.Key{ID: "2026-11", Secret: current}, seal.Key{ID: "2026-05", Secret: previous})
//	store := seal.Wrap(database, keys)
//	node, err := engine.New(store, mux, engine.Options{})
//	client := fairlead.NewClient(store)
//
// All programs that use the database need the same keys, including those that only enqueue
// jobs. Values stored earlier stay unencrypted and readable. To use a key management
// service, implement Codec.
package seal

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/envelope"
)

// A Codec encrypts and decrypts values. It must be safe for concurrent use. Stores call it
// for every job.
type Codec interface {
	// Seal encrypts with the current key. With a label, equal plain texts must produce equal
	// sealed texts, because stores compare the answers for a job by their stored form.
	Seal(plain []byte, label string) (sealed []byte, err error)
	// Open decrypts values sealed with any of the keys. It must detect modifications.
	Open(sealed []byte) (plain []byte, err error)
}

// coder applies a codec to documents.
type coder struct {
	codec Codec
}

// close returns the sealed form of a document. A nil document stays nil.
func (c coder) close(document json.RawMessage) (json.RawMessage, error) {
	return c.closeAs("", document)
}

// closeAs does the same as close, with a label.
func (c coder) closeAs(label string, document json.RawMessage) (json.RawMessage, error) {
	if document == nil {
		return nil, nil
	}
	sealed, err := c.codec.Seal(document, label)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return envelope.Put(sealed)
}

// open returns the plain form of a document. It returns an unsealed document unchanged, and
// also one that cannot be opened, together with the error.
func (c coder) open(document json.RawMessage) (json.RawMessage, error) {
	sealed, is := envelope.Take(document)
	if !is {
		return document, nil
	}
	plain, err := c.codec.Open(sealed)
	if err != nil {
		return document, fmt.Errorf("cannot open the sealed value: %w", err)
	}
	return plain, nil
}

// closeAll seals documents in place.
func (c coder) closeAll(documents ...*json.RawMessage) error {
	for _, document := range documents {
		sealed, err := c.close(*document)
		if err != nil {
			return err
		}
		*document = sealed
	}
	return nil
}

// openAll opens documents in place, as far as possible, and returns the first error.
func (c coder) openAll(documents ...*json.RawMessage) (first error) {
	for _, document := range documents {
		plain, err := c.open(*document)
		if *document = plain; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// refuseUnopened returns ErrInvalid if one of the documents is sealed and cannot be opened.
// Callers read, change and store documents: a document that this program cannot open would
// be sealed twice, and a handler would then get the inner envelope.
func (c coder) refuseUnopened(documents ...json.RawMessage) error {
	for _, document := range documents {
		if _, err := c.open(document); err != nil {
			return fmt.Errorf("seal: %w: %w", fairlead.ErrInvalid, err)
		}
	}
	return nil
}
