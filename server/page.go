package server

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/fairlead-io/fairlead/internal/paged"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// pageSize returns the number of rows in a page for the requested number; zero means the
// default of 100.
func pageSize(asked int32) int {
	if asked == 0 {
		return 100
	}
	return int(asked)
}

// pageToken returns the token of the page that begins after an ID, or an empty string for
// zero. The token is opaque to callers.
func pageToken(id int64) string {
	if id == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(id)))
}

// pageBelow decodes a token from pageToken.
func pageBelow(token string) (int64, error) {
	if token == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != 8 {
		return 0, rest.InvalidField("page_token", "is not a valid page token; omit it to get the first page")
	}
	return int64(binary.BigEndian.Uint64(raw)), nil
}

// page cuts rows to the size of a page. The caller must read one row more, which shows
// whether there is a next page: if so, next is the key of the last row of this page, and
// otherwise zero.
func page[Row any, Key int64 | string](rows []Row, size int, key func(Row) Key) (cut []Row, next Key) {
	return boundedPage(nil, rows, size, key)
}

// boundedPage cuts rows like page. The rows were read with a size limit, which may have cut
// them off.
func boundedPage[Row any, Key int64 | string](bound *paged.Bound, rows []Row, size int, key func(Row) Key) (cut []Row, next Key) {
	if len(rows) > size {
		rows = rows[:size]
	} else if !bound.Cut() || len(rows) == 0 {
		return rows, next
	}
	return rows, key(rows[len(rows)-1])
}

// items converts rows to their API form; it returns nil if there are none.
func items[Row, Item any](rows []Row, to func(Row) Item) []Item {
	var out []Item
	for _, row := range rows {
		out = append(out, to(row))
	}
	return out
}
