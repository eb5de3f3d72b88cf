package reference

import "strings"

// isDomain reports whether s is host[:port], where host is a name, an IPv4 address or
// an IPv6 address in brackets. Names may have upper-case letters.
func isDomain(s string) bool {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		address, port, closed := strings.Cut(rest, "]")
		if !closed || address == "" || !all(address, isIPv6Byte) {
			return false
		}
		return port == "" || isPort(port)
	}
	host := s
	if colon := strings.IndexByte(s, ':'); colon >= 0 {
		if !isPort(s[colon:]) {
			return false
		}
		host = s[:colon]
	}
	for component := range strings.SplitSeq(host, ".") {
		if !isDomainComponent(component) {
			return false
		}
	}
	return true
}

// isPort reports whether s is a colon and digits.
func isPort(s string) bool {
	return len(s) > 1 && s[0] == ':' && all(s[1:], isDigit)
}

func isDomainComponent(s string) bool {
	return s != "" && s[0] != '-' && s[len(s)-1] != '-' &&
		all(s, func(c byte) bool { return isAlnum(c) || c == '-' })
}

// isPath reports whether s is a repository name. On Docker Hub a first component of
// several may have upper-case letters: WUD accepts Foo/bar, and whether it exists is
// for the registry to say.
func isPath(s string, hub bool) bool {
	if hub {
		if first, rest, found := strings.Cut(s, "/"); found && isDomainComponent(first) {
			s = rest
		}
	}
	for component := range strings.SplitSeq(s, "/") {
		if !isPathComponent(component) {
			return false
		}
	}
	return true
}

// isPathComponent reports whether s is runs of lower-case letters and digits joined by
// one dot, one or two underscores, or any number of hyphens.
func isPathComponent(s string) bool {
	start := 0 // of the separator that is being read
	inSeparator := true
	for i := range len(s) {
		if isLowerAlnum(s[i]) {
			if inSeparator && i > 0 && (start == 0 || !isSeparator(s[start:i])) {
				return false
			}
			inSeparator = false
		} else if !inSeparator {
			start, inSeparator = i, true
		}
	}
	return !inSeparator
}

func isSeparator(s string) bool {
	return s == "." || s == "_" || s == "__" || all(s, func(c byte) bool { return c == '-' })
}

// IsTag reports whether s follows the grammar of tags: a letter, digit or
// underscore, then up to 127 of those, dots and hyphens.
func IsTag(s string) bool {
	return s != "" && len(s) <= maxTagLength && s[0] != '.' && s[0] != '-' && all(s, isTagByte)
}

// IsDigest reports whether s is a whole digest of sha256, sha384 or sha512.
func IsDigest(s string) bool { return digestProblem(s) == "" }

// digestProblem returns what is wrong with a digest, or "".
func digestProblem(s string) string {
	algorithm, hex, _ := strings.Cut(s, ":")
	digits := 0
	switch algorithm {
	case "sha256":
		digits = 64
	case "sha384":
		digits = 96
	case "sha512":
		digits = 128
	default:
		return "the digest must begin with sha256:, sha384: or sha512:"
	}
	if len(hex) != digits || !isLowerHex(hex) {
		return "the digest is not complete: copy it whole, in lower case"
	}
	return ""
}

func all(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

func isLowerHex(s string) bool {
	return all(s, func(c byte) bool { return isDigit(c) || (c >= 'a' && c <= 'f') })
}

func isIPv6Byte(c byte) bool {
	return isDigit(c) || c == ':' || (c|0x20 >= 'a' && c|0x20 <= 'f')
}

func isTagByte(c byte) bool    { return isAlnum(c) || c == '_' || c == '.' || c == '-' }
func isDigit(c byte) bool      { return c >= '0' && c <= '9' }
func isLowerAlnum(c byte) bool { return isDigit(c) || (c >= 'a' && c <= 'z') }
func isAlnum(c byte) bool      { return isLowerAlnum(c) || (c >= 'A' && c <= 'Z') }
