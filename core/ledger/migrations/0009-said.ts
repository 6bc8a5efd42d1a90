/**
 * What a run says at its end is kept with its words and values apart, where it has values; and a message that is of no
 * run says which task it is about.
 */
export const said = `
ALTER TABLE jobs ADD COLUMN said TEXT;
ALTER TABLE notifications ADD COLUMN about TEXT;
`
