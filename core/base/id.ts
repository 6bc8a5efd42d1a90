/** The form of ids in API paths, file names and the index (contract 1.1). */

export const ID_PATTERN = '^[A-Za-z0-9_-]{1,128}$'
const ID = new RegExp(ID_PATTERN)

export const isId = (text: string): boolean => ID.test(text)
