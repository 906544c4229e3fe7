package authn_test

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/server/internal/authn"
)

func TestSecretsAreLongRandomAndFoundByTheirHash(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		secret, hash, err := authn.NewSecret()
		if err != nil {
			t.Fatal(err)
		}
		coded, marked := strings.CutPrefix(secret, "fl_")
		random, err := base64.RawURLEncoding.DecodeString(coded)
		if err != nil || !marked || len(random) != 32 {
			t.Fatalf("a secret has %d bytes (%v), and the prefix: %t", len(random), err, marked)
		}
		if hash != sha256.Sum256([]byte(secret)) || hash != authn.HashSecret(secret) {
			t.Fatal("the hash is not that of the secret")
		}
		if seen[secret] {
			t.Fatal("the same secret was made twice")
		}
		seen[secret] = true
	}
}
