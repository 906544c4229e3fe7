// Package seal encrypts what jobs carry before a database gets it: args, outputs, progress
// and memos, the templates of schedules, the parameters of batches, the data of sweeps and what the
// audit log tells of them. What is looked for stays readable: kinds, keys, tenants, states,
// times, and the texts of errors.
//
//	keys, err := seal.NewKeys(seal.Key{ID: "2026-11", Secret: current}, seal.Key{ID: "2026-05", Secret: previous})
//	store := seal.Wrap(database, keys)
//	node, err := engine.New(store, mux, engine.Options{})
//	client := fairlead.NewClient(store)
//
// All programs that use the database need the same keys, those that only enqueue too. What was stored
// before stays as it is and can be read. Another Codec may ask a key service.
package seal

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Codec encrypts. It is used by many goroutines at once, for every job.
type Codec interface {
	// Seal encrypts with the current key. With a label, the same plain text gives the same
	// sealed text: answers for a job are told apart by their texts.
	Seal(plain []byte, label string) (sealed []byte, err error)
	// Open decrypts what any of the keys has sealed. It must notice if it was changed.
	Open(sealed []byte) (plain []byte, err error)
}

// envelope is what a database has instead of a document.
type envelope struct {
	Sealed []byte `json:"$sealed"`
}

var mark = []byte(`"$sealed"`)

// coder applies a codec to documents.
type coder struct {
	codec Codec
}

// close returns a document sealed. One that is missing stays missing.
func (c coder) close(document json.RawMessage) (json.RawMessage, error) {
	return c.closeAs("", document)
}

// closeAs is close under a label.
func (c coder) closeAs(label string, document json.RawMessage) (json.RawMessage, error) {
	if document == nil {
		return nil, nil
	}
	sealed, err := c.codec.Seal(document, label)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return json.Marshal(envelope{sealed})
}

// open returns a document as it was before it was sealed. One that never was is returned
// as it is; one that cannot be opened as well, with the error.
func (c coder) open(document json.RawMessage) (json.RawMessage, error) {
	if head := document[:min(len(document), 2*len(mark))]; !bytes.Contains(head, mark) {
		return document, nil
	}
	var found envelope
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&found); err != nil {
		return document, nil //nolint:nilerr // it only looks like one
	}
	plain, err := c.codec.Open(found.Sealed)
	if err != nil {
		return document, fmt.Errorf("it is sealed and cannot be opened: %w", err)
	}
	return plain, nil
}

// closeAll seals documents in their places.
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

// openAll opens documents in their places, as far as they can be opened, and returns the
// first error.
func (c coder) openAll(documents ...*json.RawMessage) (first error) {
	for _, document := range documents {
		plain, err := c.open(*document)
		if *document = plain; err != nil && first == nil {
			first = err
		}
	}
	return first
}
