package workers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// ownerBytes is the size of the proof in a token. The token of a worker has at most 64
// characters.
const ownerBytes = 16

// ownedToken returns the token of a worker for a session that only its owner may use: the
// caller who opened it, by name. Older servers treat it like any other token.
func ownedToken(key []byte, secret, owner string) string {
	return secret + tokenMark + ownerProof(key, secret, owner)
}

func ownerProof(key []byte, secret, owner string) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "owner %s %s", secret, owner)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:ownerBytes])
}

// errOtherOwner is the error for a caller that sends a session opened with another token.
var errOtherOwner = &rest.Error{Status: http.StatusForbidden, Detail: "the session was opened with a different token; join again with this token"}

// checkOwner returns an error unless the caller opened the session of a worker's token.
// Sessions opened by older servers have no owner: all callers may use them until they end.
func checkOwner(key []byte, token, owner string) error {
	secret, proof, owned := strings.Cut(token, tokenMark)
	if owned && !hmac.Equal([]byte(proof), []byte(ownerProof(key, secret, owner))) {
		return errOtherOwner
	}
	return nil
}
