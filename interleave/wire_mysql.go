package interleave

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"
	"sync"
)

// mysqlWire is the protocol of MySQL and MariaDB. Each command is a round trip, including a
// text of several statements.
type mysqlWire struct{}

func (mysqlWire) session() session { return &mysqlSession{prepared: map[uint32]string{}} }

// Commands of the protocol that execute statements or prepare them.
const (
	comQuery   = 0x03
	comPrepare = 0x16
	comExecute = 0x17
)

type mysqlSession struct {
	bracket
	mu        sync.Mutex
	preparing string // text that the server is preparing
	prepared  map[uint32]string
}

// next implements session.
func (s *mysqlSession) next(from *bufio.Reader) (sent []byte, statements []string, err error) {
	for {
		header := make([]byte, 4)
		if _, err := io.ReadFull(from, header); err != nil {
			return nil, nil, err
		}
		size := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
		body := make([]byte, size)
		if _, err := io.ReadFull(from, body); err != nil {
			return nil, nil, err
		}
		sent = append(append(sent, header...), body...)
		if header[3] == 0 && size > 0 { // a command; other packets belong to signing in
			statements = append(statements, s.command(body)...)
		}
		if size < 1<<24-1 {
			return sent, statements, nil
		}
	}
}

// command returns the statement that a command executes, if any.
func (s *mysqlSession) command(body []byte) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch body[0] {
	case comQuery:
		text := strings.TrimSpace(string(body[1:]))
		s.follow(text)
		// These statements touch no row.
		if low := strings.ToLower(text); strings.HasPrefix(low, "start transaction") || strings.HasPrefix(low, "set ") && !strings.Contains(low, "select") {
			return nil
		}
		return []string{text}
	case comPrepare:
		s.preparing = string(body[1:])
	case comExecute:
		if len(body) >= 5 {
			return []string{s.prepared[binary.LittleEndian.Uint32(body[1:])]}
		}
	}
	return nil
}

// answered learns the number of a prepared statement.
func (s *mysqlSession) answered(chunk []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const prefix = 4 + 1 + 4 // header, status, number of the statement
	if s.preparing != "" && len(chunk) >= prefix && chunk[4] == 0 {
		s.prepared[binary.LittleEndian.Uint32(chunk[5:])] = s.preparing
	}
	s.preparing = ""
}
