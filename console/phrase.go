package console

import "regexp"

// phrase is a text of the API that has a translation. What a group of the pattern catches
// is a part, of a kind that parts names by a letter: "t" is a text that stays as it is.
type phrase struct {
	pattern *regexp.Regexp
	parts   string
	english string // what is looked up, with a place for each part
}

// rephrase translates a text by the first of the phrases that it matches. It is not known
// if there is none, or if there is none for a part.
func (v *visit) rephrase(phrases []phrase, english string, part func(kind rune, english string) (string, bool)) (text string, known bool) {
	for _, p := range phrases {
		found := p.pattern.FindStringSubmatch(english)
		if found == nil {
			continue
		}
		values := make([]any, len(p.parts))
		for i, kind := range p.parts {
			if values[i], known = part(kind, found[i+1]); !known {
				return "", false
			}
		}
		return v.T(p.english, values...), true
	}
	return "", false
}
