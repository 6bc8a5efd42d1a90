/** Texts that show nothing: of white space, and of signs that are invisible by design, such as U+200B or U+3164. */

/** U+2800, the empty Braille cell, shows nothing, though Unicode does not count it as white space. */
const SEEN = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u

export const isBlank = (text: string): boolean => !SEEN.test(text)
