package seal

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/envelope"
)

// WrapAccess returns a store that seals the states of objects in its audit log, as they were
// before and after each action. The actor, the action, the subject and the time stay
// readable.
func WrapAccess(store access.Store, codec Codec) access.Store {
	return accessStore{store, coder{codec}}
}

type accessStore struct {
	access.Store
	coder
}

// Audit implements access.Store.
func (s accessStore) Audit(ctx context.Context, entries []access.Entry) error {
	sealed, err := s.sealEntries(entries)
	if err != nil {
		return err
	}
	return s.Store.Audit(ctx, sealed)
}

// RecordEnsured implements fairlead.EnsureLog. It does nothing if the store keeps no audit log.
func (s *Store) RecordEnsured(ctx context.Context, action, subject, tenant string, differences []fairlead.Difference) error {
	entry, err := access.EnsureEntry(action, subject, tenant, differences)
	if err != nil {
		return err
	}
	return s.auditIn(ctx, s.Store, []access.Entry{entry})
}

// auditIn adds sealed entries to the audit log of a store or a transaction, if it has one.
func (c coder) auditIn(ctx context.Context, of any, entries []access.Entry) error {
	log, kept := of.(access.Auditor)
	if !kept {
		return nil
	}
	sealed, err := c.sealEntries(entries)
	if err != nil {
		return err
	}
	return log.Audit(ctx, sealed)
}

// sealEntries returns sealed copies of entries.
func (c coder) sealEntries(entries []access.Entry) ([]access.Entry, error) {
	sealed := slices.Clone(entries)
	for i := range sealed {
		for _, document := range []*json.RawMessage{&sealed[i].Before, &sealed[i].After} {
			closed, err := c.close(orText(*document))
			if err != nil {
				return nil, err
			}
			*document = closed
		}
	}
	return sealed, nil
}

// orText returns a document, or a JSON string of it if it is invalid or too long, as the
// stores do.
func orText(document json.RawMessage) json.RawMessage {
	if document == nil || json.Valid(document) && len(document) <= fairlead.MaxArgs {
		return document
	}
	text, _ := json.Marshal(string(document)) // encoding a string cannot fail
	return text
}

// AuditLog implements access.Store. Values that cannot be opened stay sealed.
func (s accessStore) AuditLog(ctx context.Context, filter access.Filter) ([]access.Entry, error) {
	entries, err := s.Store.AuditLog(ctx, filter)
	for i := range entries {
		e := &entries[i]
		if _, is := envelope.Take(e.After); !is {
			e.After = s.openReason(e.After)
		}
		_ = s.openAll(&e.Before, &e.After) // shown sealed if it cannot be opened
	}
	return entries, err
}

// openReason opens the reason in an entry that the store itself has written about a step of
// a bulk.
func (c coder) openReason(after json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	var reason string
	if !bytes.Contains(after, []byte(envelope.Name)) || json.Unmarshal(after, &members) != nil || json.Unmarshal(members["reason"], &reason) != nil {
		return after
	}
	if c.openText(&reason, forReasons) != nil {
		return after
	}
	members["reason"], _ = json.Marshal(reason) // encoding a string cannot fail
	opened, err := json.Marshal(members)
	if err != nil {
		return after
	}
	return opened
}
