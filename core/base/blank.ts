/** Detects texts that show nothing: only white space and invisible characters such as U+200B or U+3164. */

/** U+2800, the empty Braille cell, is invisible, although Unicode does not count it as white space. */
const SEEN = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u

export const isBlank = (text: string): boolean => !SEEN.test(text)
