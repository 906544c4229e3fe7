package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server"
)

// tokenTimeout limits the time for storing a token, including the schema upgrade before it.
const tokenTimeout = 2 * time.Minute

// addToken stores a token directly in a database. Callers with write access to the database
// are not restricted anyway; the audit log records the addition.
func addToken(ctx context.Context, db string, token access.Token) (_ access.Token, secret string, err error) {
	if err := access.Normalize(&token); err != nil {
		return token, "", err
	}
	if secret, token.Hash, err = server.NewSecret(); err != nil {
		return token, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	store, err := openStore(ctx, db)
	if err != nil {
		return token, "", err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if token, err = store.AddToken(ctx, token); err != nil {
		return token, "", err
	}
	after, err := json.Marshal(map[string]any{"name": token.Name, "role": token.Role, "tenants": token.Tenants})
	if err != nil {
		return token, "", err
	}
	entry := access.Entry{Actor: "local", Role: access.RoleAdmin, Action: "CreateToken", Subject: "token:" + token.Name, After: after}
	return token, secret, store.Audit(ctx, []access.Entry{entry})
}
