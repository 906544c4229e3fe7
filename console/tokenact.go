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

// Roles are those that a token can have, each with what it may do.
func (v *visit) Roles() []option {
	return []option{
		{"viewer", v.T("viewer: read-only access")}, {"submitter", v.T("submitter: enqueues and manages individual jobs")},
		{"operator", v.T("operator: manages jobs in bulk, queues, limits, tenants and nodes")}, {"admin", v.T("admin: full access, including tokens and the audit log")}, {"worker", v.T("worker: runs jobs only")},
	}
}

// makeToken makes a token. Its secret is shown by the answer itself: it is in no cookie
// and no address.
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

// namesIn returns the names that stand in a text with commas between them.
func namesIn(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// loadTokenAct is the token that something is to be done to.
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
	id, _ := number(v.Value("id")) // the API refuses what is none
	_, err := v.tokens.DeleteToken(v.ctx, &fairleadv1.DeleteTokenRequest{Id: id})
	return done{Notice: v.T("The token was revoked. All servers reject it within a few seconds."), To: "/tokens"}, err
}
