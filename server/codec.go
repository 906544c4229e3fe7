package server

import (
	"compress/gzip"
	"errors"
	"io"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/internal/rest"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// jsonCodec writes JSON as REST does.
type jsonCodec string

// Name is the content type's.
func (c jsonCodec) Name() string { return string(c) }

// Marshal writes a message.
func (c jsonCodec) Marshal(message any) ([]byte, error) { return wire.Marshal(message.(proto.Message)) }

// Unmarshal reads a message.
func (c jsonCodec) Unmarshal(data []byte, message any) error {
	return wire.Unmarshal(data, message.(proto.Message))
}

// binaryCodec writes protobuf, and reads it within the bounds that JSON has.
type binaryCodec struct{}

// Name is the content type's.
func (binaryCodec) Name() string { return "proto" }

// Marshal writes a message.
func (binaryCodec) Marshal(message any) ([]byte, error) {
	return proto.Marshal(message.(proto.Message))
}

// MarshalAppend writes a message behind what is there.
func (binaryCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(to, message.(proto.Message))
}

// Unmarshal reads a message.
func (binaryCodec) Unmarshal(data []byte, message any) error {
	return wire.UnmarshalBinary(data, message.(proto.Message))
}

// boundedGzip replaces the gzip of connect, which inflates a message that is too
// large to its end in order to say how large it is.
func boundedGzip() connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &gunzip{} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) })
}

// gunzip inflates one message. It fails behind the largest that is accepted.
type gunzip struct {
	gzip.Reader
	left int
}

// Reset begins with another message.
func (g *gunzip) Reset(from io.Reader) error {
	g.left = rest.MaxBody + 1 // one more shows that it is too large
	return g.Reader.Reset(from)
}

// Read inflates on.
func (g *gunzip) Read(p []byte) (int, error) {
	if g.left == 0 {
		return 0, errors.New("the message is too large")
	}
	n, err := g.Reader.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}
