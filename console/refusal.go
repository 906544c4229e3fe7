package console

import "regexp"

// refusals lists the API errors with a translation: those that users encounter in forms.
// Other errors are shown in English.
var refusals = []phrase{
	{regexp.MustCompile(`^cannot ([a-z ]+) job (\d+): it is (\w+)$`), "tts", "cannot %s job %s: it is %s"},
	{regexp.MustCompile(`^cannot ([a-z ]+) batch (\d+): it is (\w+)$`), "tts", "cannot %s batch %s: it is %s"},
	{regexp.MustCompile(`^cannot ([a-z ]+) sweep "(.*)": it is (\w+)$`), "tts", "cannot %s sweep %s: it is %s"},
	{regexp.MustCompile(`^(?:a )?(?:schedule|sweep|calendar|tenant)(?: with the name)? "(.*)" already exists$`), "t", "%s already exists"},
	{regexp.MustCompile(`^(?:add token: )?a token with the name "(.*)" or the same secret already exists$`), "t", "a token with the name %s already exists"},
	{regexp.MustCompile(`^(?:schedule|sweep|calendar|tenant) "(.*)" was changed by another caller$`), "t", "%s was changed by another caller"},
	{regexp.MustCompile(`^calendar "(.*)" is used by schedule "(.*)"$`), "tt", "calendar %s is used by schedule %s"},
	{regexp.MustCompile(`^tenant "(.*)" is the parent of "(.*)"$`), "tt", "tenant %s is the parent of %s"},
	{regexp.MustCompile(`^bulk action (\d+) has ended$`), "t", "bulk action %s has ended"},
	{regexp.MustCompile(`^job (\S+): not found$`), "t", "job %s: not found"},
	{regexp.MustCompile(`^batch (\S+): not found$`), "t", "batch %s: not found"},
	{regexp.MustCompile(`^sweep (\S+): not found$`), "t", "sweep %s: not found"},
	{regexp.MustCompile(`^schedule (\S+): not found$`), "t", "schedule %s: not found"},
	{regexp.MustCompile(`^calendar (\S+): not found$`), "t", "calendar %s: not found"},
	{regexp.MustCompile(`^tenant (\S+): not found$`), "t", "tenant %s: not found"},
	{regexp.MustCompile(`^([a-z_][a-z0-9_.\[\]]*): (.+)$`), "tp", "%s: %s"},
	{regexp.MustCompile(`^is required$`), "", "is required"},
	{regexp.MustCompile(`^is (\S+); it must be at least (\S+)$`), "tt", "is %s; it must be at least %s"},
	{regexp.MustCompile(`^is (\S+); it must be at most (\S+)$`), "tt", "is %s; it must be at most %s"},
	{regexp.MustCompile(`^is empty; set a name$`), "", "is empty; set a name"},
	{regexp.MustCompile(`^is "(.*)": no live node handles batches of type "(.*)" for this target type; start a node that registers the operation, or correct the type$`), "tt", "is %s: no live node handles batches of type %s for this target type"},
	{regexp.MustCompile(`^this is a worker token; sign in with a token that has a different role$`), "", "this is a worker token; sign in with a token that has a different role"},
	{regexp.MustCompile(`^is not valid JSON$`), "", "is not valid JSON"},
	{regexp.MustCompile(`^is not a valid page token; omit it to (?:get the first page|begin)$`), "", "is not a valid page token; omit it to get the first page"},
	{regexp.MustCompile(`^is not valid UTF-8$`), "", "is not valid UTF-8"},
	{regexp.MustCompile(`^has (\d+) bytes; at most (\d+) are allowed`), "tt", "has %s bytes; at most %s are allowed"},
	{regexp.MustCompile(`^is (\S+); it must be between (\S+) and ([^ ,]+)$`), "ttt", "is %s; it must be between %s and %s"},
	{regexp.MustCompile(`^is (\S+); it must be between (\S+) and ([^ ,]+), or zero for none$`), "ttt", "is %s; it must be between %s and %s, or zero for none"},
	{regexp.MustCompile(`^is (\S+); it must be between 0 \(no (?:limit|bound)\) and (\S+) (?:starts|tasks|items) per second$`), "tt", "is %s; it must be between 0 (no limit) and %s per second"},
	{regexp.MustCompile(`^is (\S+); it must be between (\S+) and ([^ ,]+), or zero for the (?:handler's|operation's)(?: own| default)?$`), "ttt", "is %s; it must be between %s and %s, or zero for the default"},
	{regexp.MustCompile(`^is (\S+); it must be between 0 \([^)]*\) and ([^ ,]+)$`), "tt", "is %s; it must be between 0 and %s"},
	{regexp.MustCompile(`^is (\S+); it must be positive, or zero if .+$`), "t", "is %s; it must be 0 or more"},
	{regexp.MustCompile(`^is "(.*)"; it must be one of (.+)$`), "tt", "is %s; it must be one of %s"},
	{regexp.MustCompile(`^requires a rate; set a rate or omit the burst$`), "", "requires a rate; set a rate or omit the burst"},
	{regexp.MustCompile(`^is not a URL; it must begin with http:// or https://$`), "", "is not a URL; it must begin with http:// or https://"},
	{regexp.MustCompile(`^is not after starts_at; swap them or omit one$`), "", "is not after starts_at; swap them or omit one"},
	{regexp.MustCompile(`^"(.*)" is not a known time zone; use one such as Europe/Paris$`), "t", "%s is not a known time zone; use one such as Europe/Paris"},
	{regexp.MustCompile(`^must be after from$`), "", "must be after from"},
	{regexp.MustCompile(`^is in the future; only past fires can be backfilled$`), "", "is in the future; only past fires can be backfilled"},
	{regexp.MustCompile(`^begins a period in which the schedule has no fires; specify a longer period$`), "", "begins a period in which the schedule has no fires; specify a longer period"},
	{regexp.MustCompile(`^is the tenant itself; specify another tenant or omit it$`), "", "is the tenant itself; specify another tenant or omit it"},
	{regexp.MustCompile(`^is (\d+), more than max_running \((\d+)\); lower it or raise the cap$`), "tt", "is %s, more than max_running (%s); lower it or raise the cap"},
}

// Refusal calls refusalWords, for templates.
func (v *visit) Refusal(english string) string { return v.refusalWords(english) }

// nextField matches the start of another field's error.
var nextField = regexp.MustCompile(`; [a-z_][a-z0-9_.\[\]]*: `)

// said matches the console's own error for a field, in the viewer's language.
var said = regexp.MustCompile(`^\p{Han}`)

// refusalWords translates an error to the viewer's language, field by field, as far as
// there are translations.
func (v *visit) refusalWords(english string) string {
	if v.Lang == languages[0] {
		return english
	}
	words, from := "", 0
	for _, at := range append(nextField.FindAllStringIndex(english, -1), []int{len(english), 0}) {
		one := english[from:at[0]]
		if text, known := v.refusalPhrase(one); known {
			one = text
		}
		if from > 0 {
			words += v.T("; ")
		}
		words, from = words+one, at[0]+len("; ")
	}
	return words
}

func (v *visit) refusalPhrase(english string) (text string, known bool) {
	return v.rephrase(refusals, english, func(kind rune, part string) (string, bool) {
		switch kind {
		case 'p':
			if said.MatchString(part) {
				return part, true
			}
			return v.refusalPhrase(part)
		case 's':
			return v.StateName(part), true
		}
		return part, true
	})
}
