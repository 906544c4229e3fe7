package sqlstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

// TouchEvery is how far apart the uses of a token are that are written down.
const TouchEvery = time.Minute

// TokenTaken is the ErrConflict of a token whose name or hash another one has.
func TokenTaken(name string) error {
	return fmt.Errorf("a token with the name %q or with the same secret exists already: %w", name, fairlead.ErrConflict)
}

// NoSuchToken is the ErrNotFound of a token's id.
func NoSuchToken(id int64) error { return fmt.Errorf("token %d: %w", id, fairlead.ErrNotFound) }

// UnknownToken is the ErrNotFound of a hash.
func UnknownToken() error { return fmt.Errorf("no token has this secret: %w", fairlead.ErrNotFound) }

// EncodeNames is a list of names as JSON; nil if there are none.
func EncodeNames(names []string) ([]byte, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return json.Marshal(names)
}

// ScanToken reads id, name, role, tenants, hash, created_at, expires_at,
// last_used and whether the token has expired.
func ScanToken(row Scanner) (t access.Token, err error) {
	var tenants, hash []byte
	var created, expires, used int64
	if err := row.Scan(&t.ID, &t.Name, &t.Role, &tenants, &hash, &created, &expires, &used, &t.Expired); err != nil {
		return t, err
	}
	if len(hash) != len(t.Hash) {
		return t, fmt.Errorf("hash of token %d has %d bytes instead of %d", t.ID, len(hash), len(t.Hash))
	}
	copy(t.Hash[:], hash)
	t.CreatedAt, t.ExpiresAt, t.LastUsed = Time(created), Time(expires), Time(used)
	if len(tenants) > 0 {
		if err := json.Unmarshal(tenants, &t.Tenants); err != nil {
			return t, fmt.Errorf("tenants of token %d: %w", t.ID, err)
		}
		if t.Tenants == nil {
			t.Tenants = []string{} // bound, and to nothing
		}
	}
	return t, nil
}
