package tag

// dateDigits returns the length of a number that begins with a date: 8 for 20240115,
// 10, 12 or 14 with hours, minutes and seconds; else 0.
func dateDigits(number string) int {
	switch n := len(number); n {
	case 8, 10, 12, 14:
		if isDate(number) {
			return n
		}
	}
	return 0
}

func isDate(s string) bool {
	return len(s) >= 8 && isYear(s[:4]) && between(s[4:6], "01", "12") && between(s[6:8], "01", "31")
}

func isDashedDate(s string) bool {
	const n = len("2024-01-15")
	return len(s) >= n && isYear(s[:4]) && s[4] == '-' && between(s[5:7], "01", "12") &&
		s[7] == '-' && between(s[8:n], "01", "31") && (len(s) == n || !isDigit(s[n]))
}

func isYear(s string) bool { return len(s) == 4 && between(s, "1900", "2199") }

// dashedDate is the date kind of 2024-01-15.
const dashedDate = 1

const (
	noMonth     month = iota
	likeMonth         // 23.10: perhaps, since plain versions look like it, too
	paddedMonth       // 22.04, 20.04.1: only months have a leading zero
)
