package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/fairlead-io/fairlead/internal/rest"
)

// ownerBytes is how many bytes of a proof a token has. A token of a worker has at most 64
// characters.
const ownerBytes = 16

// ownedToken returns the token of a worker whose session only its owner, the name of the
// caller who opened it, may use. Servers older than owners take it for any other token.
func ownedToken(key []byte, secret, owner string) string {
	return secret + tokenMark + ownerProof(key, secret, owner)
}

func ownerProof(key []byte, secret, owner string) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "owner %s %s", secret, owner)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:ownerBytes])
}

// errOtherOwner is the answer to a caller that sends a session of another token.
var errOtherOwner = &rest.Error{Status: http.StatusForbidden, Detail: "another token opened the session; join with this one"}

// checkOwner fails unless the caller opened the session of a worker's token. Whose session it
// is that an older server has opened is not known: it is everyone's until it ends.
func checkOwner(key []byte, token, owner string) error {
	secret, proof, owned := strings.Cut(token, tokenMark)
	if owned && !hmac.Equal([]byte(proof), []byte(ownerProof(key, secret, owner))) {
		return errOtherOwner
	}
	return nil
}
