package console

import "regexp"

// userinfo is the name and password in an address, as it may stand in a document, where
// slashes may be escaped.
var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*:\\?/\\?/)[^/?#\s"<>\\]*@`)

// withoutUserinfo takes names and passwords out of the addresses in a text.
func withoutUserinfo[T string | []byte](text T) T {
	return T(userinfo.ReplaceAll([]byte(text), []byte("$1")))
}
