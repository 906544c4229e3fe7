package httpcall

import (
	"bytes"
	"slices"
	"strconv"
)

// pattern is a request for an item as it is written, with gaps for what differs from
// item to item. Filling it in takes a small part of what making the request takes.
type pattern struct {
	pieces []piece
	body   int // the piece with which the body begins; that of the end if there is none
}

// piece is some text of a pattern, and what comes after it.
type piece struct {
	text []byte
	then gap
}

type gap int

const (
	nothing gap = iota
	index       // of the item
	attempt     // of the item
	length      // of the body
)

// Items that requests are written for to find the gaps: nothing else has such numbers,
// and there are no longer ones. What was found is tried with another item.
var (
	sought = CallItem{Index: 8_131_579_246_803_571_928, Attempt: 1_739_164_825}
	tried  = CallItem{Index: 57, Attempt: 3}
)

// findPattern makes a pattern of how requests are written, or nil if that does not do:
// the numbers of items may be in a text that is written otherwise.
func findPattern(write func(item CallItem) ([]byte, error)) *pattern {
	long, err := write(sought)
	if err != nil {
		return nil
	}
	head, body, found := bytes.Cut(long, []byte("\r\n\r\n"))
	if !found {
		return nil
	}
	p := &pattern{}
	name := []byte("\r\nContent-Length: ")
	if at := bytes.Index(head, name); at >= 0 {
		at += len(name)
		end := at + bytes.IndexByte(append(head[at:len(head):len(head)], '\r'), '\r')
		p.cut(head[:at])
		p.pieces[len(p.pieces)-1].then = length
		head = head[end:]
	}
	p.cut(append(head[:len(head):len(head)], "\r\n\r\n"...))
	p.body = len(p.pieces)
	p.cut(body)
	if short, err := write(tried); err != nil || !slices.Equal(p.fill(nil, tried.Index, tried.Attempt), short) {
		return nil
	}
	return p
}

// cut adds a text, in pieces.
func (p *pattern) cut(text []byte) {
	one, other := strconv.AppendInt(nil, sought.Index, 10), strconv.AppendInt(nil, int64(sought.Attempt), 10)
	for {
		at, number, then := bytes.Index(text, one), one, index
		if i := bytes.Index(text, other); i >= 0 && (at < 0 || i < at) {
			at, number, then = i, other, attempt
		}
		if at < 0 {
			p.pieces = append(p.pieces, piece{text: bytes.Clone(text)})
			return
		}
		p.pieces = append(p.pieces, piece{bytes.Clone(text[:at]), then})
		text = text[at+len(number):]
	}
}

// fill appends the request for an item.
func (p *pattern) fill(to []byte, item int64, try int) []byte {
	for i := range p.pieces {
		to = append(to, p.pieces[i].text...)
		switch p.pieces[i].then {
		case index:
			to = strconv.AppendInt(to, item, 10)
		case attempt:
			to = strconv.AppendInt(to, int64(try), 10)
		case length:
			to = strconv.AppendInt(to, p.length(item, try), 10)
		}
	}
	return to
}

// length is how long the body is.
func (p *pattern) length(item int64, try int) int64 {
	long := 0
	var digits [20]byte
	for _, piece := range p.pieces[p.body:] {
		long += len(piece.text)
		switch piece.then {
		case index:
			long += len(strconv.AppendInt(digits[:0], item, 10))
		case attempt:
			long += len(strconv.AppendInt(digits[:0], int64(try), 10))
		}
	}
	return int64(long)
}
