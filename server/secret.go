package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// secretPrefix lets people, and tools that look for leaks, know a secret of ours
// when they see one.
const secretPrefix = "fl_"

// NewSecret makes the secret of a token, and the hash that is stored instead of
// it. The caller shows the secret once and stores it nowhere.
func NewSecret() (secret string, hash [32]byte, err error) {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", hash, fmt.Errorf("generate a secret: %w", err)
	}
	secret = secretPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	return secret, HashSecret(secret), nil
}

// HashSecret is what is stored of a secret, and what it is found by.
func HashSecret(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }
