package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/paged"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/overload"
)

// Tokens implements the TokenService.
type Tokens struct {
	registrar access.Store
}

// NewTokens returns a TokenService that uses registrar.
func NewTokens(registrar access.Store) *Tokens { return &Tokens{registrar: registrar} }

func tokenTo(t access.Token) *fairleadv1.Token {
	return &fairleadv1.Token{
		Id: t.ID, Name: t.Name, Role: string(t.Role), Tenants: t.Tenants, Kinds: t.Kinds, Queues: t.Queues,
		CreatedAt: message.Time(t.CreatedAt), ExpiresAt: message.Time(t.ExpiresAt), Expired: t.Expired, LastUsed: message.Time(t.LastUsed),
	}
}

// CreateToken creates a token and returns its secret.
func (s *Tokens) CreateToken(ctx context.Context, in *fairleadv1.CreateTokenRequest) (*fairleadv1.CreateTokenResponse, error) {
	secret, hash, err := NewSecret()
	if err != nil {
		return nil, err
	}
	token := access.Token{
		Name: in.GetName(), Role: access.Role(in.GetRole()), Tenants: in.GetTenants(), Kinds: in.GetKinds(), Queues: in.GetQueues(),
		Hash: hash, ExpiresAt: message.TimeOf(in.GetExpiresAt()),
	}
	if err := access.Normalize(&token); err != nil {
		return nil, err
	}
	stored, err := s.registrar.AddToken(ctx, token)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.CreateTokenResponse{Token: tokenTo(stored), Secret: secret}, nil
}

// ListTokens returns all tokens.
func (s *Tokens) ListTokens(ctx context.Context, _ *fairleadv1.ListTokensRequest) (*fairleadv1.ListTokensResponse, error) {
	tokens, err := s.registrar.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListTokensResponse{Items: items(tokens, tokenTo)}, nil
}

// DeleteToken deletes a token.
func (s *Tokens) DeleteToken(ctx context.Context, in *fairleadv1.DeleteTokenRequest) (*fairleadv1.DeleteTokenResponse, error) {
	if err := s.registrar.DeleteToken(ctx, in.GetId()); err != nil {
		return nil, err
	}
	return &fairleadv1.DeleteTokenResponse{}, nil
}

// WhoAmI returns the caller's identity.
func (s *Tokens) WhoAmI(ctx context.Context, _ *fairleadv1.WhoAmIRequest) (*fairleadv1.WhoAmIResponse, error) {
	who := caller.Of(ctx).Identity
	return &fairleadv1.WhoAmIResponse{Name: who.Name, Role: string(who.Role), Tenants: who.Tenants, Kinds: who.Kinds, Queues: who.Queues}, nil
}

// AuditLog implements the AuditService.
type AuditLog struct {
	registrar access.Store
}

// NewAuditLog returns an AuditService that reads the audit log from registrar.
func NewAuditLog(registrar access.Store) *AuditLog { return &AuditLog{registrar: registrar} }

// ListAudit returns audit log entries, newest first.
func (s *AuditLog) ListAudit(ctx context.Context, in *fairleadv1.ListAuditRequest) (*fairleadv1.ListAuditResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	size := int(in.GetPageSize())
	if size == 0 {
		size = fairlead.DefaultPage
	}
	bounded, bound := paged.Within(ctx, overload.PageBytes)
	entries, err := s.registrar.AuditLog(bounded, access.Filter{
		Actor: in.GetActor(), Action: in.GetAction(), Subject: in.GetSubject(), From: message.TimeOf(in.GetFrom()), To: message.TimeOf(in.GetTo()),
		Below: below, Limit: size + 1, // one more to detect a next page
	})
	if err != nil {
		return nil, err
	}
	entries, next := boundedPage(bound, entries, size, func(entry access.Entry) int64 { return entry.ID })
	return &fairleadv1.ListAuditResponse{Items: items(entries, entryTo), NextPageToken: pageToken(next)}, nil
}

func entryTo(e access.Entry) *fairleadv1.AuditEntry {
	return &fairleadv1.AuditEntry{
		Id: e.ID, At: message.Time(e.At), Actor: e.Actor, Role: string(e.Role), From: e.From, Action: e.Action, Subject: e.Subject,
		Tenant: e.Tenant, Before: e.Before, After: e.After, Error: e.Error,
	}
}
