package sqlstore

import "crypto/rand"

// secretBytes is how long secrets are: as much as a key of HMAC-SHA-256 can use.
const secretBytes = 32

// NewSecret is a secret that nobody knows.
func NewSecret() []byte {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // it never fails
	return secret
}
