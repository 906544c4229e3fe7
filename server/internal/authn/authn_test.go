package authn

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// ring is a store of tokens that can fail, and that counts its lookups.
type ring struct {
	access.Store
	tokens map[[32]byte]access.Token
	lost   error // what a look-up fails with
	touch  error
	asked  int
}

func (r *ring) FindToken(_ context.Context, hash [32]byte) (access.Token, error) {
	r.asked++
	token, found := r.tokens[hash]
	if r.lost != nil {
		return access.Token{}, r.lost
	}
	if !found {
		return access.Token{}, fairlead.ErrNotFound
	}
	return token, nil
}

func (r *ring) Tokens(context.Context) (all []access.Token, err error) {
	r.asked++
	for hash, token := range r.tokens {
		token.Hash = hash
		all = append(all, token)
	}
	return all, r.lost
}

func (r *ring) TouchToken(context.Context, int64) error { return r.touch }

func newRing() *ring {
	return &ring{tokens: map[[32]byte]access.Token{HashSecret("known"): {ID: 1, Name: "ci", Role: access.RoleViewer}}}
}

func (r *ring) identifier(auth Options) *Authenticator {
	auth.Required = true
	return New(auth, r, slog.New(slog.DiscardHandler))
}

func TestATokenIsBelievedForAMomentWithoutAskingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := newRing()
		i := keys.identifier(Options{})
		identify := func() error { return errorOf(i.identify(t.Context(), "Bearer known", "a")) }
		for range 3 {
			if err := identify(); err != nil {
				t.Fatal(err)
			}
		}
		if keys.asked != 1 {
			t.Errorf("the database was asked %d times", keys.asked)
		}
		clear(keys.tokens)
		time.Sleep(tokenTrust - 1)
		if err := identify(); err != nil {
			t.Errorf("within a moment: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if err := identify(); !errors.Is(err, caller.ErrUnknownToken) {
			t.Errorf("after it was revoked: %v", err)
		}
	})
}

// A token signed by an identity provider may expire before the cached lookup does.
func TestAnIdentityIsBelievedNoLongerThanItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(time.Second)
		i := newRing().identifier(Options{Verify: func(context.Context, string) (caller.Identity, error) {
			return caller.Identity{Name: "jo", Role: access.RoleViewer, Until: until}, nil
		}})
		if found, err := i.identify(t.Context(), "Bearer a.b.c", "a"); err != nil || found.identity.Name != "jo" {
			t.Fatalf("it is %v, %v", found, err)
		}
		time.Sleep(time.Second)
		if _, err := i.identify(t.Context(), "Bearer a.b.c", "a"); !errors.Is(err, caller.ErrUnknownToken) {
			t.Errorf("at its end: %v", err)
		}
	})
}

func TestADatabaseThatIsGoneCountsAsNoGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := newRing()
		i := keys.identifier(Options{})
		keys.lost = errors.New("gone")
		for range 5 * addressBurst {
			if _, err := i.identify(t.Context(), "Bearer known", "a"); !errors.Is(err, caller.ErrNoDatabase) {
				t.Fatal(err)
			}
		}
		keys.lost = nil
		if _, err := i.identify(t.Context(), "Bearer unknown", "a"); !errors.Is(err, caller.ErrUnknownToken) {
			t.Errorf("the first guess: %v", err)
		}
		keys.touch = fairlead.ErrUnavailable // it only reads now
		if _, err := i.identify(t.Context(), "Bearer known", "a"); err != nil {
			t.Errorf("a token whose use cannot be noted: %v", err)
		}
		keys.touch = errors.New("broken")
		time.Sleep(tokenTrust)
		if _, err := i.identify(t.Context(), "Bearer known", "a"); !errors.Is(err, caller.ErrNoDatabase) {
			t.Errorf("a database that is broken: %v", err)
		}
	})
}

func TestACredentialCountsWhileItsTokenStandsForTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hash, gone := HashSecret("known"), errors.New("gone")
		same := caller.Identity{Name: "ci", Role: access.RoleViewer}
		for name, c := range map[string]struct {
			credential credential
			change     func(*ring)
			want       error
		}{
			"as before":       {credential{identity: same, hash: hash, kept: true}, func(*ring) {}, nil},
			"removed":         {credential{identity: same, hash: hash, kept: true}, func(r *ring) { clear(r.tokens) }, caller.ErrRevoked},
			"expired":         {credential{identity: same, hash: hash, kept: true}, func(r *ring) { r.tokens[hash] = access.Token{Name: "ci", Role: access.RoleViewer, Expired: true} }, caller.ErrRevoked},
			"of another role": {credential{identity: same, hash: hash, kept: true}, func(r *ring) { r.tokens[hash] = access.Token{Name: "ci", Role: access.RoleAdmin} }, caller.ErrRevoked},
			"of another name": {credential{identity: same, hash: hash, kept: true}, func(r *ring) { r.tokens[hash] = access.Token{Name: "cd", Role: access.RoleViewer} }, caller.ErrRevoked},
			"for a tenant": {credential{identity: same, hash: hash, kept: true}, func(r *ring) {
				r.tokens[hash] = access.Token{Name: "ci", Role: access.RoleViewer, Tenants: []string{"acme"}}
			}, caller.ErrRevoked},
			"not to be found out":              {credential{identity: same, hash: hash, kept: true}, func(r *ring) { r.lost = gone }, gone},
			"of a file that has another token": {credential{identity: same, hash: hash, admin: true}, func(*ring) {}, caller.ErrRevoked},
			"kept in no database":              {credential{identity: same}, func(r *ring) { r.lost = gone }, nil},
			"kept in none, and over":           {credential{identity: caller.Identity{Until: time.Now()}}, func(*ring) {}, caller.ErrRevoked},
			"kept in none, not yet over":       {credential{identity: caller.Identity{Until: time.Now().Add(time.Hour)}}, func(*ring) {}, nil},
		} {
			keys := newRing()
			c.change(keys)
			if err := keys.identifier(Options{}).recheck(t.Context(), c.credential); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
	})
}

// Only old lookups are repeated before a call, because the body may have taken long to
// arrive.
func TestACallerWhoseBodyCameForLongIsLookedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, answer := 0, error(nil)
		ctx := caller.With(t.Context(), caller.Caller{Since: time.Now(), Recheck: func(context.Context) error { asked++; return answer }})
		time.Sleep(tokenTrust)
		if err := CheckAgain(ctx); err != nil || asked != 0 {
			t.Errorf("asked %d times: %v", asked, err)
		}
		time.Sleep(time.Nanosecond)
		if err := CheckAgain(ctx); err != nil || asked != 1 {
			t.Errorf("asked %d times: %v", asked, err)
		}
		answer = errors.New("gone") // which refuses no caller here
		if err := CheckAgain(ctx); err != nil {
			t.Error(err)
		}
		answer = caller.ErrRevoked
		if err := CheckAgain(ctx); !errors.Is(err, caller.ErrRevoked) {
			t.Errorf("got %v", err)
		}
		if err := CheckAgain(caller.With(t.Context(), caller.Caller{})); err != nil {
			t.Error(err)
		}
	})
}

func TestSecretsThatAreTooLongAreNotLookedUp(t *testing.T) {
	keys := newRing()
	i := keys.identifier(Options{})
	for size, asks := range map[int]int{maxSecret: 1, maxSecret + 1: 0} {
		keys.asked = 0
		if _, err := i.identify(t.Context(), "Bearer "+string(make([]byte, size)), "a"); !errors.Is(err, caller.ErrUnknownToken) || keys.asked != asks {
			t.Errorf("one of %d bytes was asked for %d times: %v", size, keys.asked, err)
		}
	}
}

func TestManyTokensAreNotRememberedForGood(t *testing.T) {
	i := newRing().identifier(Options{})
	for n := range 2*tokenMemory + 1 {
		i.remember([32]byte{byte(n), byte(n >> 8), byte(n >> 16)}, credential{})
		if len(i.tokens) > tokenMemory {
			t.Fatalf("%d are remembered", len(i.tokens))
		}
	}
}

func TestTheTokenOfTheFileIsAnAdminsWithoutADatabase(t *testing.T) {
	keys, hash := newRing(), HashSecret("from the file")
	keys.lost = errors.New("gone")
	i := keys.identifier(Options{Admin: func() [32]byte { return hash }})
	if found, err := i.identify(t.Context(), "Bearer from the file", "a"); err != nil || found.identity.Role != access.RoleAdmin || found.identity.Name != "token-file" || found.kept {
		t.Errorf("it is %+v, %v", found, err)
	}
	if _, err := i.identify(t.Context(), "Bearer from another file", "a"); err == nil {
		t.Error("another token is believed")
	}
}

// errorOf returns the error of a call with another result before it.
func errorOf[T any](_ T, err error) error { return err }
