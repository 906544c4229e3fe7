package console

import (
	"errors"
	"strings"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var tokenActions = []action{
	{name: "token-new", path: "/new/token", Title: "Create token", Nav: "tokens", method: "CreateToken", load: loadTokenForm, do: makeToken},
	{name: "token-delete", path: "/tokens/{id}/delete", Title: "Revoke token", Nav: "tokens", method: "DeleteToken", Grave: true, load: loadTokenAct, do: deleteToken},
}

func loadTokenForm(*visit) (any, error) { return nil, nil }

// Roles returns the roles of tokens, with their permissions.
func (v *visit) Roles() []option {
	return []option{
		{"viewer", v.T("viewer: read-only access")}, {"submitter", v.T("submitter: enqueues and manages individual jobs")},
		{"operator", v.T("operator: manages jobs in bulk, queues, limits, tenants and nodes")}, {"admin", v.T("admin: full access, including tokens and the audit log")}, {"worker", v.T("worker: runs jobs only")},
	}
}

// makeToken creates a token. The secret is only in the response itself, not in a cookie or
// a URL.
func makeToken(v *visit) (done, error) {
	f := v.fields()
	ask := &fairleadv1.CreateTokenRequest{
		Name: f.text("name"), Role: f.text("role"), ExpiresAt: f.time("expires_at"),
		Tenants: namesIn(f.text("tenants")), Kinds: namesIn(f.text("kinds")), Queues: namesIn(f.text("queues")),
	}
	if err := f.err(); err != nil {
		return done{}, err
	}
	made, err := v.tokens.CreateToken(v.ctx, ask)
	return done{Show: made, To: "/tokens"}, err
}

// namesIn returns the names in a comma-separated list.
func namesIn(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// loadTokenAct loads the token for a form.
func loadTokenAct(v *visit) (any, error) {
	tokens, err := v.tokens.ListTokens(v.ctx, &fairleadv1.ListTokensRequest{})
	if err != nil {
		return nil, err
	}
	for _, token := range tokens.GetItems() {
		if text(token.GetId()) == v.Value("id") {
			return token, nil
		}
	}
	return nil, connect.NewError(connect.CodeNotFound, errors.New(v.T("This token no longer exists.")))
}

func deleteToken(v *visit) (done, error) {
	id, _ := number(v.Value("id")) // the API rejects an invalid ID
	_, err := v.tokens.DeleteToken(v.ctx, &fairleadv1.DeleteTokenRequest{Id: id})
	return done{Notice: v.T("The token was revoked. All servers reject it within a few seconds."), To: "/tokens"}, err
}
