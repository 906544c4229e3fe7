package authn

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// secretPrefix identifies the secrets of Fairlead to people and to tools that search for
// leaks.
const secretPrefix = "fl_"

// NewSecret generates a token's secret, and the hash that is stored in place of the secret.
// The caller shows the secret once and must not store it.
func NewSecret() (secret string, hash [32]byte, err error) {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", hash, fmt.Errorf("generate a secret: %w", err)
	}
	secret = secretPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	return secret, HashSecret(secret), nil
}

// HashSecret returns the hash of a secret. Tokens are stored with this hash and looked up by
// it.
func HashSecret(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }
