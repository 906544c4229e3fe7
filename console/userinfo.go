package console

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// userinfo is the name and password in an address, as it may stand in a document, where
// slashes may be escaped.
var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*:\\?/\\?/)(?:[^/?#\s"<>\\]|\\u[0-9A-Fa-f]{4})*@`)

// withoutUserinfo takes names and passwords out of the addresses in a text.
func withoutUserinfo[T string | []byte](text T) T {
	return T(userinfo.ReplaceAll([]byte(text), []byte("$1")))
}

// hiddenUserinfo stands in a form for a name and password that are not shown.
const hiddenUserinfo = "***@"

// hideUserinfo masks names and passwords in the addresses of a document that is edited: it
// must be seen that there is one, so that it can stay.
func hideUserinfo(document []byte) []byte {
	return userinfo.ReplaceAll(document, []byte("${1}"+hiddenUserinfo))
}

// Editable is a document as it is edited: line by line, without what is not shown.
func (v *visit) Editable(document []byte) string {
	var b bytes.Buffer
	if hidden := hideUserinfo(document); json.Indent(&b, hidden, "", "  ") != nil {
		return string(hidden)
	}
	return b.String()
}

// addressed finds an address with a name and password up to the end of its host.
var addressed = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*:\\?/\\?/)((?:[^/?#\s"<>\\]|\\u[0-9A-Fa-f]{4})*)@([^/?#\s"<>\\]*)`)

// restoreUserinfo puts names and passwords back in the place of their mask, from what is
// stored, and reports whether that was possible for all. They go back only to the host that
// they were stored for, since an edit must not send them elsewhere, and only if that host has
// no others.
func restoreUserinfo(typed, stored []byte) (restored []byte, whole bool) {
	host := func(found [][]byte) string {
		return strings.ReplaceAll(string(found[1]), `\`, "") + string(found[3])
	}
	known, others := map[string]string{}, map[string]bool{}
	for _, found := range addressed.FindAllSubmatch(stored, -1) {
		at, who := host(found), string(found[2])
		others[at] = others[at] || known[at] != "" && known[at] != who
		known[at] = who
	}
	whole = true
	restored = addressed.ReplaceAllFunc(typed, func(address []byte) []byte {
		found := addressed.FindSubmatch(address)
		if string(found[2])+"@" != hiddenUserinfo {
			return address
		}
		at := host(found)
		whole = whole && known[at] != "" && !others[at]
		return []byte(string(found[1]) + known[at] + "@" + string(found[3]))
	})
	return restored, whole
}
