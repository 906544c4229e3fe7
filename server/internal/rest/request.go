package rest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// MaxBody is the maximum size of a request body in bytes, before and after decompression. It
// is slightly less than 16 MiB. A growing buffer of 16 MiB is then large enough and does not
// double.
const MaxBody = 16<<20 - bufferSpare

// bufferSpare exceeds the extra space that a bytes.Buffer needs to detect the end of its
// input.
const bufferSpare = 1 << 10

// read returns the message of a request.
func (r *Route) read(w http.ResponseWriter, request *http.Request) (proto.Message, error) {
	message := r.Request()
	if r.Body {
		body, err := readBody(w, request)
		if err != nil {
			return nil, err
		}
		if len(body) > 0 {
			if err := Decode(body, message); err != nil {
				return nil, err
			}
		}
		if len(request.URL.Query()) > 0 {
			return nil, &Error{http.StatusBadRequest, "this method takes its parameters from the body, not from the query"}
		}
	} else if err := readQuery(request, message); err != nil {
		return nil, err
	}
	for _, name := range r.Params {
		if err := setParam(message, name, request.PathValue(name)); err != nil {
			return nil, err
		}
	}
	if err := readIfMatch(request, message); err != nil {
		return nil, err
	}
	return message, Check(message)
}

// Decode decodes a JSON document, which may be part of a request, into a message. It returns
// an *InvalidError if the document is invalid. The field "body" in this error refers to the
// whole document.
func Decode(body []byte, message proto.Message) error {
	if err := wire.Unmarshal(body, message); err != nil {
		return invalid(err)
	}
	return nil
}

// Unmarshal decodes and validates a complete request.
func Unmarshal(document []byte, into proto.Message) error {
	if err := Decode(document, into); err != nil {
		return err
	}
	return Check(into)
}

// Check returns an *InvalidError if a message violates its validation rules.
func Check(message proto.Message) error {
	found := wire.Check(message)
	if len(found) == 0 {
		return nil
	}
	refusal := &fairlead.InvalidError{}
	for _, f := range found {
		refusal.Fields = append(refusal.Fields, fairlead.FieldError{Field: f.Field, Message: f.Message})
	}
	return refusal
}

// invalid converts an error of package wire to an InvalidError.
func invalid(err error) error {
	var refusal *wire.FieldError
	if !errors.As(err, &refusal) {
		return err
	}
	field := refusal.Field
	if field == "" {
		field = "body" // the whole document
	}
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: field, Message: refusal.Message}}}
}

// readBody reads a body and decompresses it if necessary.
func readBody(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	kind, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(kind) {
	case "", "application/json", "application/x-www-form-urlencoded": // curl -d sends the last for any content
	default:
		return nil, &Error{http.StatusUnsupportedMediaType, fmt.Sprintf("the body is %s; send application/json", kind)}
	}
	var body io.Reader = http.MaxBytesReader(w, request.Body, MaxBody)
	length := request.ContentLength
	switch encoding := request.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(body)
		if own := (*Error)(nil); errors.As(err, &own) {
			return nil, own
		}
		if err != nil {
			return nil, &Error{http.StatusBadRequest, "the Content-Encoding is gzip, but the body is not valid gzip"}
		}
		body, length = unpacked, -1
	default:
		return nil, &Error{http.StatusUnsupportedMediaType, fmt.Sprintf("the body is encoded as %q; send it unencoded or as gzip", encoding)}
	}
	data, err := readAll(io.LimitReader(body, MaxBody+1), length)
	var tooLarge *http.MaxBytesError
	var own *Error
	switch {
	case errors.As(err, &own):
		return nil, own
	case errors.As(err, &tooLarge) || len(data) > MaxBody:
		return nil, &Error{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes; send less at once", MaxBody)}
	case err != nil:
		return nil, &Error{http.StatusBadRequest, "the body could not be read"}
	}
	return data, nil
}

// readAll reads a body of a given length, or of unknown length if it is negative. It
// allocates memory only after the first byte has arrived: until then, the body may have to
// wait for memory.
func readAll(body io.Reader, length int64) ([]byte, error) {
	buffered := bufio.NewReaderSize(body, 512)
	if _, err := buffered.Peek(1); err != nil || length < 0 || length > MaxBody {
		var data bytes.Buffer
		_, err := data.ReadFrom(buffered)
		return data.Bytes(), err
	}
	data := make([]byte, length)
	n, err := io.ReadFull(buffered, data)
	return data[:n], err
}

func readQuery(request *http.Request, message proto.Message) error {
	query := request.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if err := SetTexts(message, name, query[name]); err != nil {
			return err
		}
	}
	return nil
}

// SetTexts sets a message's field from strings in a URL. It returns an *InvalidError if the
// field is unknown or a string is invalid.
func SetTexts(message proto.Message, name string, texts []string) error {
	if err := wire.SetTexts(message, name, texts); err != nil {
		return invalid(err)
	}
	return nil
}

// setParam sets a field from the path. The body may contain the same value, but not a
// different one.
func setParam(message proto.Message, name, text string) error {
	field := message.ProtoReflect().Descriptor().Fields().ByTextName(name)
	before, given := message.ProtoReflect().Get(field), message.ProtoReflect().Has(field)
	if err := wire.SetTexts(message, name, []string{text}); err != nil {
		return invalid(err)
	}
	if given && !before.Equal(message.ProtoReflect().Get(field)) {
		return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: name, Message: "differs from the one in the path; omit it of the body"}}}
	}
	return nil
}

// versionOf returns the version field of a message, or nil if it has none.
func versionOf(message proto.Message) protoreflect.FieldDescriptor {
	field := message.ProtoReflect().Descriptor().Fields().ByName("version")
	if field == nil || field.Kind() != protoreflect.Int64Kind {
		return nil
	}
	return field
}

// readIfMatch sets the version to be changed from the If-Match header.
func readIfMatch(request *http.Request, message proto.Message) error {
	match, field := request.Header.Get("If-Match"), versionOf(message)
	if match == "" || field == nil {
		return nil
	}
	version, err := strconv.ParseInt(strings.Trim(match, `"`), 10, 64)
	if err != nil {
		return &Error{http.StatusPreconditionFailed, "If-Match is not an ETag of this resource"}
	}
	message.ProtoReflect().Set(field, protoreflect.ValueOfInt64(version))
	return nil
}
