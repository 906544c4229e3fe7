// Package seal encrypts what jobs carry before a database gets it: their args, outputs, progress
// and memos; of schedules the args and the alert; of batches the parameters of tasks, the info, the
// args of the jobs that follow and the address for notices; of sweeps the data and the list of
// items; of alert rules everything that makes up a message; the reasons of bulks; and what the audit
// log has of all these before and after a change. Databases search by the rest, or people read it:
// names, kinds, queues, tenants, keys, states, times, descriptions and error texts.
//
// A program that lacks a key shows what it cannot open as it is stored, and acts upon none of it:
// other programs that have the key do.
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
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/envelope"
)

// Codec encrypts. It is used by many goroutines at once, for every job.
type Codec interface {
	// Seal encrypts with the current key. With a label, the same plain text gives the same
	// sealed text: answers for a job are told apart by their texts.
	Seal(plain []byte, label string) (sealed []byte, err error)
	// Open decrypts what any of the keys has sealed. It must notice if it was changed.
	Open(sealed []byte) (plain []byte, err error)
}

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
	return envelope.Put(sealed)
}

// open returns a document as it was before it was sealed. One that never was is returned
// as it is; one that cannot be opened as well, with the error.
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

// refuseUnopened fails with ErrInvalid if one of the documents is sealed and cannot be opened.
// Callers read, change and store what they read: what this program could not open would be
// sealed twice, and a handler would then get the inner envelope.
func (c coder) refuseUnopened(documents ...json.RawMessage) error {
	for _, document := range documents {
		if _, err := c.open(document); err != nil {
			return fmt.Errorf("seal: %w: %w", fairlead.ErrInvalid, err)
		}
	}
	return nil
}
