package mask

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded is a decoded string with the position of each byte in the original string.
type decoded struct {
	text string
	at   []int32 // start of each byte, and end of the last one; nil = positions are unchanged
	size int     // length of the original string
}

// from returns the start of a byte in the original string.
func (d decoded) from(i int) int {
	if d.at == nil {
		return i
	}
	return int(d.at[i])
}

// decode resolves the escapes of a string once: those of JSON and Go strings, of URLs and
// forms, and of HTML. It returns false if there are none. It drops an escape that is cut
// off at the end of the string.
func (d decoded) decode() (decoded, bool) {
	first := strings.IndexAny(d.text, `\%&+`)
	if first < 0 {
		return d, false
	}
	out := make([]byte, first, len(d.text))
	copy(out, d.text)
	at := make([]int32, first, len(d.text)+1)
	for i := range at {
		at[i] = int32(d.from(i))
	}
	changed := false
	i := first
	for i < len(d.text) {
		begin := len(out)
		var size int
		var whole bool
		if out, size, whole = escape(out, d.text[i:]); !whole {
			changed = true
			break
		}
		changed = changed || size > 0
		if size == 0 {
			out, size = append(out, d.text[i]), 1
		}
		for range out[begin:] {
			at = append(at, int32(d.from(i)))
		}
		i += size
	}
	return decoded{text: string(out), at: append(at, int32(d.from(i))), size: d.size}, changed
}

// escape appends the meaning of the escape at the start of a string; size is zero if there
// is none. It returns false if the string ends within an escape.
func escape(out []byte, text string) (after []byte, size int, whole bool) {
	switch text[0] {
	case '+': // in queries and forms
		return append(out, ' '), 1, true
	case '%':
		return hexByte(out, text, 1)
	case '&':
		return entity(out, text)
	case '\\':
		return backslash(out, text)
	}
	return out, 0, true
}

// hexByte parses two digits.
func hexByte(out []byte, text string, from int) (after []byte, size int, whole bool) {
	code, size, whole := hexCode(text, from, 2)
	if size > 0 {
		out = append(out, byte(code))
	}
	return out, size, whole
}

// hexRune parses the digits of a character.
func hexRune(out []byte, text string, digits int) (after []byte, size int, whole bool) {
	code, size, whole := hexCode(text, 2, digits)
	if size > 0 {
		out = utf8.AppendRune(out, rune(code))
	}
	return out, size, whole
}

// hexCode parses the digits of a number. The size includes the characters before them.
func hexCode(text string, from, digits int) (code uint32, size int, whole bool) {
	given := text[min(from, len(text)):min(from+digits, len(text))]
	for _, digit := range []byte(given) {
		switch {
		case digit >= '0' && digit <= '9':
			code = code<<4 | uint32(digit-'0')
		case digit|0x20 >= 'a' && digit|0x20 <= 'f':
			code = code<<4 | uint32(digit|0x20-'a'+10)
		default:
			return 0, 0, true
		}
	}
	if len(given) < digits {
		return 0, 0, false
	}
	return code, from + digits, true
}

// Single-letter escapes of JSON and Go.
const (
	simple = `ntrbfav"\/'`
	stands = "\n\t\r\b\f\a\v\"\\/'"
)

func backslash(out []byte, text string) (after []byte, size int, whole bool) {
	if len(text) == 1 {
		return out, 0, false
	}
	if i := strings.IndexByte(simple, text[1]); i >= 0 {
		return append(out, stands[i]), 2, true
	}
	switch text[1] {
	case 'x':
		return hexByte(out, text, 2)
	case 'U':
		return hexRune(out, text, 8)
	case 'u':
		high, size, whole := hexCode(text, 2, 4)
		if size == 0 || !utf16.IsSurrogate(rune(high)) {
			return hexRune(out, text, 4)
		}
		rest := text[size:]
		low, more, whole := uint32(0), 0, !strings.HasPrefix(`\u`, rest)
		if strings.HasPrefix(rest, `\u`) {
			low, more, whole = hexCode(rest, 2, 4)
		}
		if !whole {
			return out, 0, false
		}
		return utf8.AppendRune(out, utf16.DecodeRune(rune(high), rune(low))), size + more, true
	}
	return out, 0, true
}

// entities contains the HTML entities for markup characters.
var entities = map[string]byte{"quot": '"', "amp": '&', "lt": '<', "gt": '>', "apos": '\'', "nbsp": ' '}

// longestEntity limits the search for the end of an entity.
const longestEntity = len("&#x0010FFFF;")

func entity(out []byte, text string) (after []byte, size int, whole bool) {
	given := text[1:min(longestEntity, len(text))]
	name, _, ended := strings.Cut(given, ";")
	if !ended {
		begun := strings.HasPrefix(given, "#") || given == ""
		for name := range entities {
			begun = begun || strings.HasPrefix(name, given)
		}
		return out, 0, len(text) >= longestEntity || !begun
	}
	size = len("&;") + len(name)
	if value, ok := entities[name]; ok {
		return append(out, value), size, true
	}
	number, isNumber := strings.CutPrefix(name, "#")
	base := 10
	if digits, isHex := strings.CutPrefix(strings.ToLower(number), "x"); isHex {
		number, base = digits, 16
	}
	code, err := strconv.ParseUint(number, base, 31)
	if !isNumber || err != nil {
		return out, 0, true
	}
	return utf8.AppendRune(out, rune(code)), size, true
}
