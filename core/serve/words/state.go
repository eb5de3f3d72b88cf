package words

// State is a state in a word, and the class of its colour.
type State struct{ Word, Class string }
