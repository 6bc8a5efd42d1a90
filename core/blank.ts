/** Texts that show nothing: of white space, and of signs that are invisible by design, such as U+200B or U+3164. */

/** The empty cell of Braille counts as seen in Unicode. */
const SEEN = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u

export const isBlank = (text: string): boolean => !SEEN.test(text)
