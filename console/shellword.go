package console

import (
	"strconv"
	"strings"
	"unicode"
)

// plainWord contains the characters without a special meaning in shells.
const plainWord = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@/=+,-"

// shellWord quotes a stored name for a displayed command: users may paste the command into
// a shell, and the name may be chosen by others.
func shellWord(name string) string {
	if name != "" && strings.Trim(name, plainWord) == "" && !strings.HasPrefix(name, "-") {
		return name
	}
	if strings.ContainsFunc(name, unicode.IsControl) { // a shell would take a new line for the end
		return "$" + strings.ReplaceAll(strconv.Quote(name), `"`, "'")
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
