// Package words says things of the domain in plain sentences: events, operations, deliveries, decisions, images, counts
// and times. Its functions are pure. Pages and the command line share them, so that each sentence stands once.
package words

// Joined joins the parts that are not empty.
func Joined(separator string, parts ...string) string {
	var text string
	for _, part := range parts {
		if part != "" && text != "" {
			text += separator
		}
		text += part
	}
	return text
}
