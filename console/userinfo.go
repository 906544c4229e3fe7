package console

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// userinfo matches the user info of a URL in a document, where slashes may be escaped.
var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*:\\?/\\?/)(?:[^/?#\s"<>\\]|\\u[0-9A-Fa-f]{4})*@`)

// withoutUserinfo removes user info from the URLs in a text.
func withoutUserinfo[T string | []byte](text T) T {
	return T(userinfo.ReplaceAll([]byte(text), []byte("$1")))
}

// hiddenUserinfo replaces user info in a form.
const hiddenUserinfo = "***@"

// hideUserinfo masks user info in the URLs of an edited document: users must see that it
// exists, so that they can leave it in place.
func hideUserinfo(document []byte) []byte {
	return userinfo.ReplaceAll(document, []byte("${1}"+hiddenUserinfo))
}

// Editable formats a document for editing: indented, with hidden parts masked.
func (v *visit) Editable(document []byte) string {
	var b bytes.Buffer
	if hidden := hideUserinfo(document); json.Indent(&b, hidden, "", "  ") != nil {
		return string(hidden)
	}
	return b.String()
}

// addressed matches a URL with user info up to the end of its host.
var addressed = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*:\\?/\\?/)((?:[^/?#\s"<>\\]|\\u[0-9A-Fa-f]{4})*)@([^/?#\s"<>\\]*)`)

// restoreUserinfo replaces masked user info by the stored values, and reports whether that
// was possible everywhere. It restores a value only for the host that it was stored for,
// since an edit must not send it elsewhere, and only if that host has no other values.
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
