package console

import "regexp"

// phrase is an API text with a translation. Each group of the pattern captures a part of a
// type that parts names by a letter: "t" is a text that stays unchanged.
type phrase struct {
	pattern *regexp.Regexp
	parts   string
	english string // key for the translation, with a placeholder for each part
}

// rephrase translates a text with the first matching phrase. It returns false if there is
// none, or if a part has no translation.
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
