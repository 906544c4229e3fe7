package pipeline

import (
	"compress/gzip"
	"errors"
	"io"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/internal/wire"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// jsonCodec encodes JSON in the same way as REST.
type jsonCodec string

// Name returns the content type.
func (c jsonCodec) Name() string { return string(c) }

// Marshal encodes a message.
func (c jsonCodec) Marshal(message any) ([]byte, error) { return wire.Marshal(message.(proto.Message)) }

// Unmarshal reads a message.
func (c jsonCodec) Unmarshal(data []byte, message any) error {
	return wire.Unmarshal(data, message.(proto.Message))
}

// binaryCodec encodes protobuf. On decoding, it applies the same limits as for JSON.
type binaryCodec struct{}

// Name returns the content type.
func (binaryCodec) Name() string { return "proto" }

// Marshal encodes a message.
func (binaryCodec) Marshal(message any) ([]byte, error) {
	return proto.Marshal(message.(proto.Message))
}

// MarshalAppend appends an encoded message.
func (binaryCodec) MarshalAppend(to []byte, message any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(to, message.(proto.Message))
}

// Unmarshal decodes a message.
func (binaryCodec) Unmarshal(data []byte, message any) error {
	return wire.UnmarshalBinary(data, message.(proto.Message))
}

// boundedGzip replaces the gzip compression of package connect, which decompresses a
// message that is too large to its end in order to report the size.
func boundedGzip() connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &gunzip{} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) })
}

// gunzip decompresses one message. It fails once the message exceeds the maximum size.
type gunzip struct {
	gzip.Reader
	left int
}

// Reset starts another message.
func (g *gunzip) Reset(from io.Reader) error {
	g.left = rest.MaxBody + 1 // one more to detect messages that are too large
	return g.Reader.Reset(from)
}

// Read reads decompressed data.
func (g *gunzip) Read(p []byte) (int, error) {
	if g.left == 0 {
		return 0, errors.New("the message is too large")
	}
	n, err := g.Reader.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}
