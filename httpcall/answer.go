package httpcall

import (
	"bytes"
	"strings"
)

// plainAnswer is an answer as nearly all are: of success, and at hand as a whole.
type plainAnswer struct {
	status int
	body   []byte
	size   int // bytes of all of it
}

// readPlain reads an answer out of what has arrived. What is out of the ordinary in any
// way is left to those who know all of HTTP.
func readPlain(arrived []byte) (a plainAnswer, plain bool) {
	const begin = "HTTP/1.1 2"
	if len(arrived) < len(begin)+4 || string(arrived[:len(begin)]) != begin {
		return a, false
	}
	tens, ones, space := arrived[len(begin)]-'0', arrived[len(begin)+1]-'0', arrived[len(begin)+2]
	if tens > 9 || ones > 9 || space != ' ' {
		return a, false
	}
	a.status = 200 + 10*int(tens) + int(ones)
	length := -1
	for at, first := 0, true; ; first = false {
		end := bytes.IndexByte(arrived[at:], '\n')
		if end < 1 || arrived[at+end-1] != '\r' {
			return a, false
		}
		line := arrived[at : at+end-1]
		at += end + 1
		if len(line) == 0 {
			return a.withBody(arrived, at, length)
		}
		if first {
			continue
		}
		name, value, fine := readHeader(line)
		if !fine {
			return a, false
		}
		switch len(name) { // most names need no closer look
		case len("Content-Length"):
			if strings.EqualFold(string(name), "Content-Length") {
				if length, fine = readLength(value, length); !fine {
					return a, false
				}
			}
		case len("Connection"):
			if strings.EqualFold(string(name), "Connection") && !strings.EqualFold(string(bytes.Trim(value, " \t")), "keep-alive") {
				return a, false
			}
		case len("Transfer-Encoding"), len("Upgrade"):
			if says := string(name); strings.EqualFold(says, "Transfer-Encoding") || strings.EqualFold(says, "Upgrade") || strings.EqualFold(says, "Trailer") {
				return a, false
			}
		}
	}
}

// withBody is the answer with its body, which begins at a place.
func (a plainAnswer) withBody(arrived []byte, at, length int) (plainAnswer, bool) {
	if a.status == 204 && length < 0 {
		length = 0
	}
	if length < 0 || length > len(arrived)-at || a.status == 204 && length > 0 {
		return a, false
	}
	a.body, a.size = arrived[at:at+length], at+length
	return a, true
}

// readHeader takes a line apart.
func readHeader(line []byte) (name, value []byte, fine bool) {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 {
		return nil, nil, false
	}
	name, value = line[:colon], line[colon+1:]
	for _, c := range name {
		if !tokenTable[c] {
			return nil, nil, false
		}
	}
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return nil, nil, false
		}
	}
	return name, value, true
}

// tokenTable says which characters names of headers consist of.
var tokenTable = func() (table [256]bool) {
	for _, c := range []byte(tokenCharacters) {
		table[c] = true
	}
	return table
}()

// readLength reads how long a body is. It is to be said once.
func readLength(text []byte, before int) (length int, fine bool) {
	text = bytes.Trim(text, " \t")
	if before >= 0 || len(text) == 0 || len(text) > 9 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		length = 10*length + int(c-'0')
	}
	return length, true
}
