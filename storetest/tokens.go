package storetest

import (
	"crypto/sha256"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

// tokenNamed returns a token with its name as the secret.
func tokenNamed(name string) access.Token {
	return access.Token{Name: name, Role: access.RoleOperator, Hash: sha256.Sum256([]byte(name))}
}

// addToken stores a token and returns it as stored.
func (f *fixture) addToken(token access.Token) access.Token {
	f.Helper()
	f.ok(access.Normalize(&token))
	stored, err := f.store.AddToken(f.ctx(), token)
	f.ok(err)
	return stored
}

func (f *fixture) tokens() []access.Token {
	f.Helper()
	tokens, err := f.store.Tokens(f.ctx())
	f.ok(err)
	return tokens
}

func (f *fixture) findToken(name string) access.Token {
	f.Helper()
	token, err := f.store.FindToken(f.ctx(), tokenNamed(name).Hash)
	f.ok(err)
	return token
}

func (f *fixture) touch(token access.Token) {
	f.Helper()
	f.ok(f.store.TouchToken(f.ctx(), token.ID))
}

func testTokens(c *chapter) {
	c.test("AddToken stores a token and returns it with its ID and CreatedAt", func(f *fixture) {
		want := tokenNamed("Ärzte ")
		want.Tenants, want.ExpiresAt = []string{"acme", "ünï x"}, f.now().Add(time.Hour)
		want.Role, want.Kinds, want.Queues = access.RoleWorker, []string{"mail", "sweep.ünï"}, []string{"slow"}
		stored := f.addToken(want)
		if stored.ID == 0 {
			f.Fatal("it has no ID")
		}
		want.ID, want.CreatedAt = stored.ID, f.now()
		f.equal("the token as stored", stored, want)
		f.equal("the token as found", f.findToken(want.Name), want)
		f.equal("the tokens as another process lists them", f.elsewhere().tokens(), []access.Token{want})
	})
	c.test("the least that a token has is a name, a role and a hash", func(f *fixture) {
		want := tokenNamed("ci")
		want.ID, want.CreatedAt = f.addToken(want).ID, f.now()
		f.equal("the token", f.findToken("ci"), want)
	})
	c.test("a name that is taken conflicts", func(f *fixture) {
		first := f.addToken(tokenNamed("ci"))
		second := tokenNamed("other")
		second.Name = "ci"
		_, err := f.store.AddToken(f.ctx(), second)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the tokens", f.tokens(), []access.Token{first})
	})
	c.test("a hash that is taken conflicts", func(f *fixture) {
		first := f.addToken(tokenNamed("ci"))
		second := tokenNamed("ci")
		second.Name = "other"
		_, err := f.store.AddToken(f.ctx(), second)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the tokens", f.tokens(), []access.Token{first})
	})
	c.test("of many who add one name at once one succeeds", func(f *fixture) {
		f.wantOneWinner(f.rivals(16, func(_ int, store Store) error {
			_, err := store.AddToken(f.ctx(), tokenNamed("ci"))
			return err
		}))
		f.equal("how many there are", len(f.tokens()), 1)
	})
	c.test("names that look alike are different tokens", func(f *fixture) {
		for _, name := range alike() {
			f.addToken(tokenNamed(name))
		}
		for _, name := range alike() {
			f.equal("the name", f.findToken(name).Name, name)
		}
	})
	c.test("FindToken of a hash that no token has gets ErrNotFound", func(f *fixture) {
		f.addToken(tokenNamed("ci"))
		_, err := f.store.FindToken(f.ctx(), tokenNamed("other").Hash)
		f.wantErr(err, fairlead.ErrNotFound)
	})
	c.test("an expired token is found, and says so from its last instant on", func(f *fixture) {
		token := tokenNamed("ci")
		token.ExpiresAt = f.now().Add(time.Hour)
		f.addToken(token)
		f.addToken(tokenNamed("forever"))
		f.Advance(time.Hour - time.Microsecond)
		f.equal("Expired before", f.findToken("ci").Expired, false)
		f.Advance(time.Microsecond)
		f.equal("Expired", f.findToken("ci").Expired, true)
		f.equal("Expired in the list", []bool{f.tokens()[0].Expired, f.tokens()[1].Expired}, []bool{true, false})
	})
	c.test("a token that is stored after its end is expired at once", func(f *fixture) {
		token := tokenNamed("ci")
		token.ExpiresAt = f.now().Add(-time.Hour)
		f.equal("Expired", f.addToken(token).Expired, true)
	})
	c.test("Tokens lists all by ID, which are never reused", func(f *fixture) {
		one, two := f.addToken(tokenNamed("b")), f.addToken(tokenNamed("a"))
		f.equal("the tokens", f.tokens(), []access.Token{one, two})
		f.ok(f.store.DeleteToken(f.ctx(), two.ID))
		if three := f.addToken(tokenNamed("a")); three.ID <= two.ID {
			f.Fatalf("token %d follows %d", three.ID, two.ID)
		}
	})
	c.test("DeleteToken removes one token, and its name and secret can be used again", func(f *fixture) {
		gone, stays := f.addToken(tokenNamed("gone")), f.addToken(tokenNamed("stays"))
		f.ok(f.store.DeleteToken(f.ctx(), gone.ID))
		_, err := f.elsewhere().store.FindToken(f.ctx(), gone.Hash)
		f.wantErr(err, fairlead.ErrNotFound)
		f.equal("the tokens", f.tokens(), []access.Token{stays})
		f.addToken(tokenNamed("gone"))
	})
	c.test("DeleteToken of an unknown token gets ErrNotFound", func(f *fixture) {
		f.wantErr(f.store.DeleteToken(f.ctx(), unknown), fairlead.ErrNotFound)
	})
	testTouch(c)
}

func testTouch(c *chapter) {
	c.test("TouchToken notes that a token was used now", func(f *fixture) {
		token, other := f.addToken(tokenNamed("ci")), f.addToken(tokenNamed("other"))
		f.Advance(time.Hour)
		f.touch(token)
		f.equal("LastUsed", f.findToken("ci").LastUsed, f.now())
		f.equal("the other", f.findToken("other"), other)
	})
	c.test("uses within a minute of the last that was noted are not", func(f *fixture) {
		token := f.addToken(tokenNamed("ci"))
		f.touch(token)
		noted := f.now()
		f.Advance(59 * time.Second)
		f.touch(token)
		f.equal("LastUsed within the minute", f.findToken("ci").LastUsed, noted)
		f.Advance(time.Second)
		f.touch(token)
		f.equal("LastUsed after it", f.findToken("ci").LastUsed, f.now())
	})
	c.test("touching a token that is gone is fine", func(f *fixture) {
		token := f.addToken(tokenNamed("ci"))
		f.ok(f.store.DeleteToken(f.ctx(), token.ID))
		f.touch(token)
		f.equal("how many there are", len(f.tokens()), 0)
	})
	c.test("many touch one token at once", func(f *fixture) {
		token := f.addToken(tokenNamed("ci"))
		f.ok(first(f.rivals(16, func(_ int, store Store) error { return store.TouchToken(f.ctx(), token.ID) })))
		f.equal("LastUsed", f.findToken("ci").LastUsed, f.now())
	})
}
