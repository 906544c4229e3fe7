package mask

import (
	"cmp"
	"slices"
	"strings"
)

// cutMark marks the place where a string was truncated.
const cutMark = "…"

// longestForm is the maximum length in bytes of a form that is compared at once. Longer
// forms are found by their pieces, so each piece is masked wherever it occurs, and the
// duration of a search is limited.
const longestForm = 256

// maxDepth limits the number of decoding passes: JSON within JSON within a quoted error
// takes three.
const maxDepth = 4

// finder searches for forms in strings: in a string as it is, and in its decoded versions.
type finder struct {
	forms map[head][]string // by their first bytes
	short []string          // forms with fewer bytes than a head
	first [1 << 12 / 64]uint64
}

// head contains the first bytes of a form.
type head uint32

const headBytes = 4

func headOf(text string) head {
	return head(text[0]) | head(text[1])<<8 | head(text[2])<<16 | head(text[3])<<24
}

// bit returns the position of a head in a set that excludes most heads that do not belong
// to forms.
func (h head) bit() (word int, bit uint64) {
	hash := uint32(h) * 2654435761 >> 20
	return int(hash / 64), 1 << (hash % 64)
}

// add adds a form to search for.
func (f *finder) add(form string) {
	for ; len(form) > longestForm; form = form[min(longestForm, len(form)-longestForm):] {
		f.addPiece(form[:longestForm])
	}
	f.addPiece(form)
}

func (f *finder) addPiece(form string) {
	if len(form) < headBytes {
		if form != "" && !slices.Contains(f.short, form) {
			f.short = append(f.short, form)
		}
		return
	}
	if f.forms == nil {
		f.forms = map[head][]string{}
	}
	at := headOf(form)
	if slices.Contains(f.forms[at], form) {
		return
	}
	f.forms[at] = append(f.forms[at], form)
	word, bit := at.bit()
	f.first[word] |= bit
}

// span is a part of a string.
type span struct{ from, to int }

// mask replaces the forms in a string. It masks the beginning of a form at the end of the
// string if that is at least half of the form, or, at the end of a truncated string, any
// beginning.
//
// A string with a truncation mark is searched twice: as a whole, because a form may contain
// that character, and in its pieces.
func (f *finder) mask(text string, cut bool) string {
	found := f.search(nil, text, 0, cut)
	for from := 0; ; {
		size := strings.Index(text[from:], cutMark)
		if size < 0 {
			if from > 0 {
				found = f.search(found, text[from:], from, cut)
			}
			break
		}
		found = f.search(found, strings.TrimRight(text[from:from+size], " "), from, true)
		from += size + len(cutMark)
	}
	if len(found) == 0 {
		return text
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	end := 0 // end of the part that was copied or masked
	for i, s := range found {
		if i == 0 || s.from > end {
			out.WriteString(text[end:s.from])
			out.WriteString(Masked)
		}
		end = max(end, s.to)
	}
	out.WriteString(text[end:])
	return out.String()
}

// search adds the spans of forms in a piece of a string, and in its decoded versions.
func (f *finder) search(found []span, piece string, from int, cut bool) []span {
	begin := len(found)
	level := decoded{text: piece, size: len(piece)}
	for depth := 0; ; depth++ {
		found = f.find(level, cut, found)
		next, changed := level.decode()
		if !changed || depth == maxDepth {
			break
		}
		level = next
	}
	for i := begin; i < len(found); i++ {
		found[i].from, found[i].to = found[i].from+from, found[i].to+from
	}
	return found
}

// find adds the spans of forms in a string.
func (f *finder) find(in decoded, cut bool, found []span) []span {
	text := in.text
	if len(f.forms) > 0 {
		for i := 0; i+headBytes <= len(text); i++ {
			at := headOf(text[i:])
			if word, bit := at.bit(); f.first[word]&bit == 0 {
				continue
			}
			for _, form := range f.forms[at] {
				switch rest := text[i:]; {
				case strings.HasPrefix(rest, form):
					found = append(found, span{in.from(i), in.from(i + len(form))})
				case strings.HasPrefix(form, rest) && (cut || 2*len(rest) >= len(form)):
					found = append(found, span{in.from(i), in.size})
				}
			}
		}
	}
	for _, form := range f.short {
		for i := 0; ; i += len(form) {
			next := strings.Index(text[i:], form)
			if next < 0 {
				break
			}
			i += next
			found = append(found, span{in.from(i), in.from(i + len(form))})
		}
	}
	if n := f.beginning(text); cut && n > 0 {
		found = append(found, span{in.from(len(text) - n), in.size})
	}
	return found
}

// beginning returns the number of bytes at the end of a string that begin a form, if that
// is less than a head.
func (f *finder) beginning(text string) int {
	for n := min(headBytes-1, len(text)); n > 0; n-- {
		end := text[len(text)-n:]
		for _, form := range f.short {
			if strings.HasPrefix(form, end) {
				return n
			}
		}
		for _, forms := range f.forms {
			if strings.HasPrefix(forms[0], end) {
				return n
			}
		}
	}
	return 0
}
