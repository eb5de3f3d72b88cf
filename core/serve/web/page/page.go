package page

// SelectOption is one entry of a select.
type SelectOption struct {
	Value, Word string
	Chosen      bool
}

// Link is a link to a page of ours.
type Link struct{ Text, To string }
