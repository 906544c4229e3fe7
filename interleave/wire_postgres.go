package interleave

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"
)

// postgresWire is the protocol of PostgreSQL. A round trip ends with a Sync, a Flush or a
// simple query: a pipeline is one round trip.
type postgresWire struct{}

func (postgresWire) session() session {
	return &postgresSession{prepared: map[string]string{}, portals: map[string]string{}}
}

type postgresSession struct {
	bracket
	started  bool
	prepared map[string]string // name of a prepared statement → its text
	portals  map[string]string // name of a portal → text of its statement
}

func (s *postgresSession) answered([]byte) {}

// next implements session.
func (s *postgresSession) next(from *bufio.Reader) (sent []byte, statements []string, err error) {
	for {
		kind, message, err := s.message(from)
		if err != nil {
			return nil, nil, err
		}
		sent = append(sent, message...)
		body := message[min(5, len(message)):]
		switch kind {
		case 'P':
			name, rest, _ := strings.Cut(string(body), "\x00")
			text, _, _ := strings.Cut(rest, "\x00")
			s.prepared[name] = text
		case 'B':
			portal, rest, _ := strings.Cut(string(body), "\x00")
			name, _, _ := strings.Cut(rest, "\x00")
			s.portals[portal] = s.prepared[name]
		case 'E':
			portal, _, _ := strings.Cut(string(body), "\x00")
			s.follow(s.portals[portal])
			statements = append(statements, s.portals[portal])
		case 'Q':
			text, _, _ := strings.Cut(string(body), "\x00")
			s.follow(text)
			if text = strings.TrimSpace(text); !idle(text) {
				statements = append(statements, text)
			}
			return sent, statements, nil
		case 'D', 'C':
			// describes or closes a statement
		default:
			return sent, statements, nil
		}
	}
}

// message reads one message. The first message of a connection has no type.
func (s *postgresSession) message(from *bufio.Reader) (kind byte, message []byte, err error) {
	header := 5
	if !s.started {
		header = 4
	}
	message = make([]byte, header)
	if _, err := io.ReadFull(from, message); err != nil {
		return 0, nil, err
	}
	if s.started {
		kind = message[0]
	}
	s.started = true
	size := int(binary.BigEndian.Uint32(message[header-4:])) - 4
	if size < 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	message = append(message, make([]byte, size)...)
	_, err = io.ReadFull(from, message[header:])
	return kind, message, err
}

// idle reports whether a text touches no row: it is empty, a ping, or only begins a
// transaction.
func idle(text string) bool {
	begins := strings.HasPrefix(text, "begin") && !strings.Contains(text, ";")
	return text == "" || text == ";" || text == "-- ping" || begins
}
