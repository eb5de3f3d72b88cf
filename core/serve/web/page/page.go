package page

// SelectOption is one entry of a select.
type SelectOption struct {
	Value, Word string
	Chosen      bool
}

// Anchor is a link to a page of ours: an a element of HTML.
type Anchor struct{ Text, To string }
