package httpcall

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

// tokenGrace is for how long a token can be distinguished from a forged one after the
// job's deadline, which may also be moved. Whether an answer is in time is the
// store's to say.
const tokenGrace = 24 * time.Hour

// ErrForged means that this service did not issue the token.
var ErrForged = errors.New("the token was not issued by this service")

// Callback is the content of a callback token. The token permits its holder to answer for
// one run of a job.
type Callback struct {
	Tenant  string    // tenant of the job
	Job     int64     // ID of the job
	Fence   int64     // fence of the run
	Expires time.Time // precise to the second
}

// SecretKeeper stores the secrets that all nodes share. Stores implement it.
type SecretKeeper interface {
	Secret(ctx context.Context, name string) ([]byte, error) // Secret returns the secret with the given name.
}

// CallbackKey returns the key that signs all callback tokens.
func CallbackKey(ctx context.Context, keeper SecretKeeper) ([]byte, error) {
	return keeper.Secret(ctx, "callback")
}

// MakeToken returns a token for the callback, signed with key.
func MakeToken(key []byte, c Callback) string {
	payload := c.encode()
	return base64.RawURLEncoding.EncodeToString(append(seal(key, payload), payload...))
}

// VerifyToken returns the callback that the token contains. It returns ErrForged if this
// service did not issue the token, and fairlead.ErrExpired if the token has expired. The
// caller must compare the callback's other fields with the request.
func VerifyToken(key []byte, token string, now time.Time) (Callback, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < sha256.Size || !hmac.Equal(raw[:sha256.Size], seal(key, raw[sha256.Size:])) {
		return Callback{}, ErrForged
	}
	// Of several spellings of the same bytes only one was given out.
	if base64.RawURLEncoding.EncodeToString(raw) != token {
		return Callback{}, ErrForged
	}
	c, err := decodeCallback(raw[sha256.Size:])
	if err != nil {
		return Callback{}, err
	}
	if now.After(c.Expires) {
		return Callback{}, fmt.Errorf("the token expired at %s: %w", c.Expires.UTC().Format(time.RFC3339), fairlead.ErrExpired)
	}
	return c, nil
}

func seal(key, payload []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("fairlead callback 1\n"))
	mac.Write(payload)
	return mac.Sum(nil)
}

// encode writes the numbers at their full length and the tenant last, so that no
// two callbacks are written alike.
func (c Callback) encode() []byte {
	var out []byte
	for _, n := range []int64{c.Job, c.Fence, c.Expires.Unix()} {
		out = binary.BigEndian.AppendUint64(out, uint64(n))
	}
	return append(out, c.Tenant...)
}

func decodeCallback(raw []byte) (Callback, error) {
	const numbers = 3 * 8
	if len(raw) < numbers {
		return Callback{}, ErrForged
	}
	number := func(i int) int64 { return int64(binary.BigEndian.Uint64(raw[8*i:])) }
	return Callback{Tenant: string(raw[numbers:]), Job: number(0), Fence: number(1), Expires: time.Unix(number(2), 0)}, nil
}
