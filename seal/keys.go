package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A Key is an AES-256 key. Its ID is stored next to every value sealed with it.
type Key struct {
	ID     string // at most 255 bytes
	Secret []byte // 32 random bytes
}

// Keys is a Codec that uses AES-256-GCM. To change the key, first configure the new key as
// the second key in all programs, then make it the first key. Remove the old key when no
// value sealed with it is left. This is the case after all jobs sealed with it have been
// removed at the end of their retention, and all schedules and sweeps have been stored
// again.
type Keys struct {
	current string                 // ID of the sealing key
	opening map[string]cipher.AEAD // by ID
	sealing cipher.AEAD            // the sealing key, for explicit nonces
	nonces  []byte                 // key for deriving the nonces of labeled values
}

var _ Codec = (*Keys)(nil)

// NewKeys returns Keys that seal values with current and open values that were sealed with
// current or one of others. It returns an error if a key is invalid or two keys have the
// same ID.
func NewKeys(current Key, others ...Key) (*Keys, error) {
	k := &Keys{current: current.ID, opening: map[string]cipher.AEAD{}}
	for _, key := range append([]Key{current}, others...) {
		switch {
		case key.ID == "" || len(key.ID) > 255:
			return nil, fmt.Errorf("a key ID has %d bytes; it must have 1 to 255", len(key.ID))
		case len(key.Secret) != 32:
			return nil, fmt.Errorf("key %q has %d bytes; AES-256 needs 32, for example from: openssl rand -base64 32", key.ID, len(key.Secret))
		case k.opening[key.ID] != nil:
			return nil, fmt.Errorf("duplicate key ID %q", key.ID)
		}
		block, err := aes.NewCipher(key.Secret)
		if err != nil {
			return nil, err
		}
		if k.opening[key.ID], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
		if k.sealing != nil {
			continue // not the first key
		}
		if k.sealing, err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
		k.nonces = digest(key.Secret, []byte("nonces of labels"))
	}
	return k, nil
}

// Seal implements Codec. The key's ID precedes the sealed value and is authenticated with
// it. Without a label, the nonce is random. With a label, the nonce is derived from the
// label and the plain text, so no two texts share a nonce.
func (k *Keys) Seal(plain []byte, label string) ([]byte, error) {
	head := append([]byte{byte(len(k.current))}, k.current...)
	if label == "" {
		return k.opening[k.current].Seal(head, nil, plain, head), nil
	}
	nonce := digest(k.nonces, []byte(label), plain)[:k.sealing.NonceSize()]
	return k.sealing.Seal(append(slices.Clone(head), nonce...), nonce, plain, head), nil
}

// digest returns an HMAC of byte strings, each preceded by its length.
func digest(key []byte, texts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, text := range texts {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		mac.Write(text)
	}
	return mac.Sum(nil)
}

// Open implements Codec.
func (k *Keys) Open(sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || len(sealed) < 1+int(sealed[0]) {
		return nil, errors.New("the sealed value is too short")
	}
	head, rest := sealed[:1+sealed[0]], sealed[1+sealed[0]:]
	id := string(head[1:])
	opener := k.opening[id]
	if opener == nil {
		return nil, fmt.Errorf("no key with the ID %q is configured", id)
	}
	plain, err := opener.Open(nil, nil, rest, head)
	if err != nil {
		return nil, fmt.Errorf("the sealed value was modified, or was sealed with a different key %q", id)
	}
	return plain, nil
}

// NewSecret returns a random Secret for a new Key.
func NewSecret() []byte {
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	return secret
}
