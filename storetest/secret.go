package storetest

import (
	"bytes"
)

func (f *fixture) secret(name string) []byte {
	f.Helper()
	secret, err := f.store.Secret(f.ctx(), name)
	f.ok(err)
	return secret
}

func testSecret(c *chapter) {
	c.test("it is the same for all who ever ask", func(f *fixture) {
		secret := f.secret("callback")
		if len(secret) < 32 {
			f.Fatalf("it has %d bytes", len(secret))
		}
		f.equal("it is the same again", bytes.Equal(f.secret("callback"), secret), true)
		f.equal("it is the same elsewhere", bytes.Equal(f.elsewhere().secret("callback"), secret), true)
	})
	c.test("names that look alike have different secrets", func(f *fixture) {
		seen := map[string]bool{}
		for _, name := range alike() {
			seen[string(f.secret(name))] = true
		}
		f.equal("how many there are", len(seen), len(alike()))
	})
	c.test("a caller may change what it got", func(f *fixture) {
		secret := f.secret("mine")
		before := bytes.Clone(secret)
		clear(secret)
		f.equal("it is as it was", bytes.Equal(f.secret("mine"), before), true)
	})
	c.test("many who ask at once for a new one get the same", func(f *fixture) {
		const asking = 16
		secrets := make([][]byte, asking)
		f.ok(first(f.rivals(asking, func(i int, store Store) (err error) {
			secrets[i], err = store.Secret(f.ctx(), "contended")
			return err
		})))
		for _, secret := range secrets {
			f.equal("it is the same", bytes.Equal(secret, secrets[0]), true)
		}
		f.equal("it is what stays", bytes.Equal(f.secret("contended"), secrets[0]), true)
	})
}
