package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server"
)

// lookups is a store that counts how often its database is asked for tokens.
type lookups struct {
	server.Store
	single, all *atomic.Int64
}

func (s lookups) FindToken(ctx context.Context, hash [32]byte) (access.Token, error) {
	s.single.Add(1)
	return s.Store.FindToken(ctx, hash)
}

func (s lookups) Tokens(ctx context.Context) ([]access.Token, error) {
	s.all.Add(1)
	return s.Store.Tokens(ctx)
}

// guess sends unknown tokens from many connections and returns how they were answered.
func (a *guardedAPI) guess(n int) map[int]int {
	a.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	statuses := map[int]int{}
	for worker := range 40 {
		all.Go(func() {
			for i := range n / 40 {
				status := a.statusAs(fmt.Sprintf("fl_guess_%d_%d", worker, i))
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return statuses
}

// statusAs returns the status of a request with a token.
func (a *guardedAPI) statusAs(secret string) int {
	a.Helper()
	request, err := http.NewRequestWithContext(a.Context(), http.MethodGet, a.url+"/api/v1/whoami", nil)
	if err != nil {
		a.Error(err)
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.Error(err)
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestAValidTokenIsNeverRefusedBecauseOthersGuess(t *testing.T) {
	var single, all atomic.Int64
	a := newGuardedAPIOn(t, func(store server.Store) server.Store { return lookups{store, &single, &all} })
	old, _ := a.addToken(access.Token{Name: "old", Role: access.RoleViewer})
	past, _ := a.addToken(access.Token{Name: "past", Role: access.RoleViewer, ExpiresAt: time.Now().Add(-time.Hour)})
	gone, id := a.addToken(access.Token{Name: "gone", Role: access.RoleViewer})
	if err := a.store.DeleteToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	statuses := a.guess(200)
	if statuses[401] < 20 || statuses[429] < 100 || statuses[401]+statuses[429] != 200 {
		t.Errorf("guesses were answered with %v", statuses)
	}
	if n := single.Load(); n > 40 {
		t.Errorf("guesses were looked up %d times one by one", n)
	}
	if n := all.Load(); n > 50 {
		t.Errorf("guesses were looked up %d times together", n)
	}
	if status := a.statusAs(old); status != 200 {
		t.Errorf("a valid token that is not remembered is answered with %d", status)
	}
	fresh, _ := a.addToken(access.Token{Name: "fresh", Role: access.RoleViewer})
	if status := a.statusAs(fresh); status != 200 {
		t.Errorf("a token that was made a moment ago is answered with %d", status)
	}
	for what, secret := range map[string]string{"expired": past, "revoked": gone} {
		if status := a.statusAs(secret); status != 429 && status != 401 {
			t.Errorf("a token that is %s is answered with %d", what, status)
		}
	}
}

func TestAValidTokenOfAnIdentityProviderIsNeverRefusedBecauseOthersGuess(t *testing.T) {
	verify := func(_ context.Context, token string) (server.Identity, error) {
		if token != "a.valid.one" {
			return server.Identity{}, errors.New("who is that?")
		}
		return server.Identity{Name: "oidc:jo", Role: access.RoleViewer}, nil
	}
	a := newGuardedAPIFor(t, server.Auth{Verify: verify}, func(store server.Store) server.Store { return store })
	a.guess(40)
	if status := a.statusAs("not.a.token"); status != 429 {
		t.Errorf("a forged token is answered with %d", status)
	}
	if status := a.statusAs("a.valid.one"); status != 200 {
		t.Errorf("a valid token is answered with %d", status)
	}
}

func TestAnIdentityThatIsBoundToNothingIsNobody(t *testing.T) {
	verify := func(_ context.Context, token string) (server.Identity, error) {
		switch token {
		case "bound.to.nothing":
			return server.Identity{Name: "oidc:jo", Role: access.RoleOperator, Tenants: []string{}}, nil
		case "it.is.over":
			return server.Identity{Name: "oidc:jo", Role: access.RoleOperator, Until: time.Now().Add(-time.Second)}, nil
		}
		return server.Identity{Name: "oidc:jo", Role: access.RoleOperator}, nil
	}
	a := newGuardedAPIFor(t, server.Auth{Verify: verify}, func(store server.Store) server.Store { return store })
	for token, want := range map[string]int{"bound.to.nothing": 401, "it.is.over": 401, "not.bound.atall": 200} {
		if status := a.statusAs(token); status != want {
			t.Errorf("%s is answered with %d, want %d", token, status, want)
		}
	}
}
