package console

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"sync"
)

// catalogue contains the translations of the English texts of pages. The English text is
// the key, so that templates are readable.
var catalogue = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, lang := range languages[1:] {
		words, err := readWords(lang)
		if err != nil {
			panic(err) // the files are part of the program
		}
		all[lang] = words
	}
	return all
})

// readWords reads the translations for a language, which are in one file per screen.
func readWords(lang string) (map[string]string, error) {
	names, err := fs.Glob(files, path.Join("words", lang, "*.json"))
	if err != nil {
		return nil, err
	}
	words := map[string]string{}
	for _, name := range names {
		raw, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var some map[string]string
		if err := json.Unmarshal(raw, &some); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for english, other := range some {
			if before, there := words[english]; there && before != other {
				return nil, fmt.Errorf("%s: %q is already translated as %q in another file", name, english, before)
			}
			words[english] = other
		}
	}
	return words, nil
}

// T translates an English text to the viewer's language. It formats the values as
// fmt.Sprintf does.
func (v *visit) T(english string, values ...any) string {
	format := english
	if other, there := catalogue()[v.Lang][english]; there {
		format = other
	}
	if len(values) == 0 {
		return format
	}
	return fmt.Sprintf(format, values...)
}

// N translates a text with a number as %s: one for 1, many for other numbers.
func (v *visit) N(n any, one, many string) string {
	number := integer(n)
	if number == 1 {
		return v.T(one, v.Num(number))
	}
	return v.T(many, v.Num(number))
}

// Gap returns the separator between two sentences, or between a colon and the text after
// it: it is empty in languages with full-width punctuation.
func (v *visit) Gap() string {
	if v.Lang == "zh" {
		return ""
	}
	return " "
}
