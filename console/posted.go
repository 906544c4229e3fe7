package console

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// maxFields limits the number of fields and files in a form.
const maxFields = 1000

var errManyFields = errors.New("the form has too many fields")

// postedFile is a file submitted with a form.
type postedFile struct{ field, name, content string }

// readPosted reads the fields and files of a form from the body of a request. This is the
// only place where the console reads a body. It reads files as they arrive, because
// net/http would write large ones to the temporary directory.
func readPosted(r *http.Request) (fields url.Values, files []postedFile, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "multipart/form-data" {
		err = r.ParseForm()
		return r.PostForm, nil, err
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, nil, err
	}
	fields = url.Values{}
	room := min(r.ContentLength, maxForm)
	for range maxFields {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return fields, files, nil
		}
		if err != nil {
			return nil, nil, err
		}
		content, err := readPart(part, room)
		if err != nil {
			return nil, nil, err
		}
		if len(content) > firstRead {
			room = 0
		}
		if name := part.FileName(); name != "" {
			files = append(files, postedFile{part.FormName(), name, content})
			continue
		}
		fields.Add(part.FormName(), content)
	}
	return nil, nil, errManyFields
}

// firstRead is the number of bytes of a part that are read before memory is allocated for
// the rest.
const firstRead = 64 << 10

// readPart reads a field or file of a form. If it is large, it first allocates room bytes,
// because a buffer that grows gradually takes several times the memory of its content. Only
// one part of a form, usually its file, has room.
func readPart(part io.Reader, room int64) (string, error) {
	var content strings.Builder
	n, err := io.CopyN(&content, part, firstRead)
	switch {
	case errors.Is(err, io.EOF):
		return content.String(), nil
	case err != nil:
		return "", err
	}
	if room > n {
		content.Grow(int(room - n))
	}
	_, err = io.Copy(&content, part)
	return content.String(), err
}

// smallForm limits the size in bytes of a form without files or documents.
const smallForm = 64 << 10

// postedFields reads a small form. It returns no fields if the form cannot be read.
func postedFields(w http.ResponseWriter, r *http.Request) url.Values {
	r.Body = http.MaxBytesReader(w, r.Body, smallForm)
	fields, _, err := readPosted(r)
	if err != nil {
		return url.Values{}
	}
	return fields
}
