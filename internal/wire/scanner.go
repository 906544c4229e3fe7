package wire

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads one JSON document. It copies the values that it returns and allocates
// nothing for values that it skips.
type scanner struct {
	data  []byte
	at    int
	depth int
	count elements
}

// syntaxError is the error of an invalid JSON document.
type syntaxError struct {
	offset int
	what   string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.what, e.offset) }

func (s *scanner) fail(format string, args ...any) error {
	return &syntaxError{offset: s.at, what: fmt.Sprintf(format, args...)}
}

// peek returns the next character other than white space, or 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// end returns an error unless the document ends here.
func (s *scanner) end() error {
	if s.peek() != 0 || s.at < len(s.data) {
		return s.fail("unexpected data after the end of the document")
	}
	return nil
}

func (s *scanner) expect(c byte) error {
	if s.peek() != c {
		return s.unexpected(strconv.QuoteRune(rune(c)))
	}
	s.at++
	return nil
}

func (s *scanner) unexpected(wanted string) error {
	if s.at >= len(s.data) {
		return s.fail("unexpected end of the document, expected %s", wanted)
	}
	return s.fail("unexpected %q, expected %s", s.data[s.at], wanted)
}

// enter reads the start of an object or array; leave reads its end.
func (s *scanner) enter(open byte) error {
	if err := s.expect(open); err != nil {
		return err
	}
	if s.depth++; s.depth > maxDepth {
		return s.fail("nesting of more than %d levels", maxDepth)
	}
	return nil
}

// list reads the items between brackets.
func (s *scanner) list(open, shut byte, item func(i int) error) error {
	if err := s.enter(open); err != nil {
		return err
	}
	more := s.peek() != shut
	for i := 0; more; i++ {
		if err := item(i); err != nil {
			return err
		}
		if more = s.peek() == ','; more {
			s.at++
		}
	}
	s.depth--
	return s.expect(shut)
}

// object reads the members of an object.
func (s *scanner) object(member func(name string) error) error {
	return s.list('{', '}', func(int) error {
		name, err := s.text()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		return member(name)
	})
}

// array reads the items of an array.
func (s *scanner) array(item func(i int) error) error { return s.list('[', ']', item) }

// word consumes null, true or false if it is next.
func (s *scanner) word(word string) bool {
	s.peek()
	if !bytes.HasPrefix(s.data[s.at:], []byte(word)) {
		return false
	}
	s.at += len(word)
	return true
}

// number reads the text of a number.
func (s *scanner) number() (string, error) {
	s.peek()
	begin := s.at
	digits := func() bool {
		from := s.at
		for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
			s.at++
		}
		return s.at > from
	}
	has := func(chars string) bool {
		if s.at < len(s.data) && bytes.IndexByte([]byte(chars), s.data[s.at]) >= 0 {
			s.at++
			return true
		}
		return false
	}
	has("-")
	leading := s.at
	if !digits() || s.data[leading] == '0' && s.at > leading+1 {
		s.at = begin
		return "", s.unexpected("a number")
	}
	if has(".") && !digits() {
		return "", s.unexpected("a digit")
	}
	if has("eE") {
		has("+-")
		if !digits() {
			return "", s.unexpected("a digit")
		}
	}
	return string(s.data[begin:s.at]), nil
}

// text reads a string.
func (s *scanner) text() (string, error) {
	raw, escaped, err := s.skipText()
	if err != nil || !escaped {
		return string(raw), err
	}
	text := make([]byte, 0, len(raw))
	for inner := (&scanner{data: raw}); inner.at < len(raw); {
		c := raw[inner.at]
		inner.at++
		if c != '\\' {
			text = append(text, c)
			continue
		}
		r, err := inner.escape()
		if err != nil {
			return "", err
		}
		text = utf8.AppendRune(text, r)
	}
	return string(text), nil
}

// skipText reads a string. It returns the bytes between the quotation marks and reports
// whether they contain escape sequences.
func (s *scanner) skipText() (raw []byte, escaped bool, err error) {
	if err := s.expect('"'); err != nil {
		return nil, false, err
	}
	begin := s.at
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '"':
			raw = s.data[begin:s.at]
			s.at++
			if !utf8.Valid(raw) {
				return nil, false, s.fail("a string is not valid UTF-8")
			}
			return raw, escaped, nil
		case c == '\\':
			s.at++
			escaped = true
			if _, err := s.escape(); err != nil {
				return nil, false, err
			}
		case c < ' ':
			return nil, false, s.fail("control character in a string")
		default:
			s.at++
		}
	}
	return nil, false, s.fail("unterminated string")
}

// escape reads an escape sequence after its backslash.
func (s *scanner) escape() (rune, error) {
	if s.at >= len(s.data) {
		return 0, s.fail("unterminated string")
	}
	c := s.data[s.at]
	s.at++
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, s.fail("unknown escape \\%c", c)
	}
	r, err := s.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !bytes.HasPrefix(s.data[s.at:], []byte(`\u`)) {
		return 0, s.fail("half of a surrogate pair is missing")
	}
	s.at += 2
	low, err := s.hex()
	if r = utf16.DecodeRune(r, low); err == nil && r == utf8.RuneError {
		err = s.fail("invalid surrogate pair")
	}
	return r, err
}

func (s *scanner) hex() (rune, error) {
	if s.at+4 > len(s.data) {
		return 0, s.fail("unterminated string")
	}
	n, err := strconv.ParseUint(string(s.data[s.at:s.at+4]), 16, 32)
	if err != nil {
		return 0, s.fail("%q are not four hexadecimal digits", s.data[s.at:s.at+4])
	}
	s.at += 4
	return rune(n), nil
}

// raw reads any value and returns a copy of its text.
func (s *scanner) raw() ([]byte, error) {
	s.peek()
	begin := s.at
	if err := s.skip(); err != nil {
		return nil, err
	}
	return bytes.Clone(s.data[begin:s.at]), nil
}

// skip reads any value.
func (s *scanner) skip() error {
	switch c := s.peek(); c {
	case '{':
		return s.list('{', '}', func(int) error {
			if _, _, err := s.skipText(); err != nil {
				return err
			}
			if err := s.expect(':'); err != nil {
				return err
			}
			return s.skip()
		})
	case '[':
		return s.array(func(int) error { return s.skip() })
	case '"':
		_, _, err := s.skipText()
		return err
	default:
		if s.word("null") || s.word("true") || s.word("false") {
			return nil
		}
		_, err := s.number()
		if err != nil {
			return s.unexpected("a value")
		}
		return nil
	}
}
