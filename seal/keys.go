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

// Key is a key of AES-256. Its ID is stored beside what it has sealed.
type Key struct {
	ID     string // at most 255 bytes
	Secret []byte // 32 random bytes
}

// Keys is a Codec with AES-256-GCM. To change the key, first give all programs the new one
// as the second, then make it the first, and remove the old one when nothing is left that
// it has sealed: when retention has removed the last job, and schedules and sweeps have been
// stored anew.
type Keys struct {
	current string                 // ID of the key that seals
	opening map[string]cipher.AEAD // by ID
	sealing cipher.AEAD            // with a nonce that is given
	nonces  []byte                 // key of the nonces of what has a label
}

var _ Codec = (*Keys)(nil)

// NewKeys takes the key that seals, and others that only open.
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
			continue // it is not the first
		}
		if k.sealing, err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
		k.nonces = digest(key.Secret, []byte("nonces of labels"))
	}
	return k, nil
}

// Seal is part of Codec. The ID of the key stands before what it has sealed, and cannot be
// changed either. The nonce is random; with a label it follows from that and the text, so that none
// is used for two texts.
func (k *Keys) Seal(plain []byte, label string) ([]byte, error) {
	head := append([]byte{byte(len(k.current))}, k.current...)
	if label == "" {
		return k.opening[k.current].Seal(head, nil, plain, head), nil
	}
	nonce := digest(k.nonces, []byte(label), plain)[:k.sealing.NonceSize()]
	return k.sealing.Seal(append(slices.Clone(head), nonce...), nonce, plain, head), nil
}

// digest is an HMAC of texts, each with its length before it.
func digest(key []byte, texts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, text := range texts {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		mac.Write(text)
	}
	return mac.Sum(nil)
}

// Open is part of Codec.
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

// NewSecret makes the secret of a key.
func NewSecret() []byte {
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	return secret
}
