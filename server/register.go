package server

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/joint"
)

const (
	// registerPause is how far apart questions for all tokens are at least.
	registerPause = 200 * time.Millisecond
	// longestRegisterPause is how far apart they are if the database is slow.
	longestRegisterPause = 2 * time.Second
	// registerPatience bounds one such question.
	registerPatience = 3 * time.Second
)

// register looks up tokens for many callers at once: tokens are few, so one question
// for all of them answers every caller that waits. However many callers there are,
// the database is asked five times a second at most, and each caller gets what was
// stored after it came: a new token counts at once, on every server.
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
