package console

import (
	"strconv"
	"strings"
	"unicode"
)

// plainWord are the characters that mean nothing to a shell.
const plainWord = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@/=+,-"

// shellWord is a stored name as a command that is shown takes it: a person may paste it
// into a shell, and others have chosen the name.
func shellWord(name string) string {
	if name != "" && strings.Trim(name, plainWord) == "" && !strings.HasPrefix(name, "-") {
		return name
	}
	if strings.ContainsFunc(name, unicode.IsControl) { // a shell would take a new line for the end
		return "$" + strings.ReplaceAll(strconv.Quote(name), `"`, "'")
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
