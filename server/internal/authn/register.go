package authn

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server/internal/joint"
)

const (
	// registerPause is the minimum interval between two queries for all tokens.
	registerPause = 200 * time.Millisecond
	// longestRegisterPause is the interval if the database is slow.
	longestRegisterPause = 2 * time.Second
	// registerPatience is the timeout of such a query.
	registerPatience = 3 * time.Second
)

// register looks up tokens for many callers at once: there are few tokens, so one query for
// all of them serves every waiting caller. With any number of callers, it queries the
// database at most five times a second. Each caller gets the tokens stored after its
// request arrived, so a new token is valid immediately on every server.
type register struct {
	all joint.Call[map[[32]byte]access.Token]
}

func newRegister(registrar access.Store) *register {
	r := &register{}
	r.all.Patience, r.all.Pause, r.all.LongestPause = registerPatience, registerPause, longestRegisterPause
	r.all.Ask = func(ctx context.Context) (map[[32]byte]access.Token, error) {
		tokens, err := registrar.Tokens(ctx)
		byHash := make(map[[32]byte]access.Token, len(tokens))
		for _, token := range tokens {
			byHash[token.Hash] = token
		}
		return byHash, err
	}
	return r
}

// find returns the token with this hash, expired or not, or ErrNotFound.
func (r *register) find(ctx context.Context, hash [32]byte) (access.Token, error) {
	tokens, err := r.all.Do(ctx)
	if err != nil {
		return access.Token{}, err
	}
	token, found := tokens[hash]
	if !found {
		return access.Token{}, fairlead.ErrNotFound
	}
	return token, nil
}
