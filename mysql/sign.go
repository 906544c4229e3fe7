package mysql

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"sync/atomic"
)

// signer signs messages between processes, so that only processes that can read the
// database can make nodes look for work.
type signer struct {
	store *Store

	mu  sync.Mutex
	key []byte

	forgotten atomic.Bool // the key may have changed
}

// signatureSize is how many bytes of the code are sent: a forged message only costs a
// look.
const signatureSize = 8

// load makes sure that the key is known.
func (s *signer) load(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil && !s.forgotten.Swap(false) {
		return nil
	}
	key, err := s.store.Secret(ctx, "wake")
	if err != nil {
		s.forgotten.Store(s.key != nil)
		return err
	}
	s.key = key
	return nil
}

// forget makes the next load read the key again.
func (s *signer) forget() { s.forgotten.Store(true) }

func (s *signer) code(message string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(message))
	return hex.EncodeToString(mac.Sum(nil)[:signatureSize])
}

// sign puts the code before a message.
func (s *signer) sign(message string) string { return s.code(message) + " " + message }

// verify returns a message without its code, unless the code is wrong.
func (s *signer) verify(sealed string) (message string, ok bool) {
	code, message, _ := strings.Cut(sealed, " ")
	return message, hmac.Equal([]byte(code), []byte(s.code(message)))
}
